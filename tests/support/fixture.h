// Parity cases: NAME.json (a manifest) beside NAME.safetensors (its tensors).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "formats/tensor_file.h"
#include "mezzotint/result.h"

namespace mezzotint::testing {

// The folder that MEZZOTINT_FIXTURES names, by default shared/fixtures beside the source tree.
// Nothing when it does not exist.
[[nodiscard]] std::optional<std::filesystem::path> fixture_folder();
// The few cases that are committed.
[[nodiscard]] std::filesystem::path golden_folder();
// A file or folder such as "checkpoints/tiny_whole_head", from the fixtures or else the goldens.
[[nodiscard]] std::optional<std::filesystem::path> find_fixture(const std::string& relative);
// Manifests (*.json) in a folder such as "ops" of the fixtures and of the goldens, sorted by name;
// a golden that the fixtures have too is left out.
[[nodiscard]] std::vector<std::filesystem::path> fixture_manifests(const std::string& folder);

struct FixtureTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  DType dtype = DType::kF32;
  std::string what;
  // Of tensors named *.truth: the error that PyTorch's own float32 made, and the largest magnitude.
  double reference_error = 0;
  double max_abs = 0;
};

class FixtureCase {
 public:
  // One line that names the file when the manifest or the tensors cannot be read.
  [[nodiscard]] static Result<FixtureCase> load(const std::filesystem::path& manifest);

  [[nodiscard]] const std::string& name() const { return name_; }  // "ops/conv3d"
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] const nlohmann::json& facts() const { return *facts_; }
  [[nodiscard]] const std::vector<FixtureTensor>& tensors() const { return tensors_; }
  // Null when absent.
  [[nodiscard]] const FixtureTensor* find(std::string_view name) const;

  // Row-major. A missing tensor, or one whose shape is not the manifest's, is an error.
  [[nodiscard]] Result<std::vector<float>> read(std::string_view name) const;
  [[nodiscard]] Result<std::vector<double>> read_double(std::string_view name) const;

 private:
  [[nodiscard]] Result<std::size_t> locate(std::string_view name) const;

  std::string name_;
  std::string what_;
  std::shared_ptr<const nlohmann::json> facts_;
  std::vector<FixtureTensor> tensors_;
  std::shared_ptr<TensorFile> file_;
};

}  // namespace mezzotint::testing
