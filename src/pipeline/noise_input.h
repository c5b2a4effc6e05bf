// Where a chain's noise comes from: the seed, or a file made by another implementation.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/thread_team.h"
#include "diffusion/sampler.h"
#include "formats/tensor_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// A safetensors file with x_T [1, C, z, y, x] (the batch may be left out) and perhaps
// noise [draws, 1, C, z, y, x], all finite.
class NoiseFile {
 public:
  // `elements` = C z y x of the model's grid; `draws` = how many the sampler will ask for. Holds no
  // values yet.
  static Result<NoiseFile> open(const std::filesystem::path& path, std::int64_t elements,
                                int draws);

  // What load() holds: x_T and every entry of noise, of which the file may have more than are used.
  [[nodiscard]] std::int64_t floats() const;
  Status load();

  [[nodiscard]] const std::string& sha256() const { return sha256_; }
  // After load(): draw 0 is x_T; draw k the k-th entry of noise.
  Status read(int draw, std::span<float> out);

 private:
  NoiseFile() = default;
  std::unique_ptr<TensorFile> file_;
  std::string sha256_;
  std::size_t initial_ = 0;
  std::optional<std::size_t> noise_;  // when draws are asked for
  std::vector<float> draws_;
};

}  // namespace mezzotint
