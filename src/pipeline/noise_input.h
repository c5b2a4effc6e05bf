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
  // `elements` = C z y x of the model's grid; `draws` = how many the sampler will ask for.
  static Result<NoiseFile> open(const std::filesystem::path& path, std::int64_t elements,
                                int draws);

  [[nodiscard]] const std::string& sha256() const { return sha256_; }
  // Draw 0 is x_T; draw k the k-th entry of noise.
  Status read(int draw, std::span<float> out);

 private:
  NoiseFile() = default;
  std::unique_ptr<TensorFile> file_;
  std::string sha256_;
  std::size_t initial_ = 0;
  std::vector<float> draws_;  // all of them: they are small beside a run's activations
};

}  // namespace mezzotint
