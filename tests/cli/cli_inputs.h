// Small models and masks for the program, right or wrong on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imaging/volume.h"
#include "models/med_ddpm.h"
#include "support/nifti_builder.h"

namespace mezzotint::testing {

// An empty folder, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Every entry below, hidden ones too, with its content (empty for what is no regular file).
  [[nodiscard]] std::map<std::string, std::string> content() const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, std::string_view text);
void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes);

// A checkpoint of random weights that keep activations near 1. May be changed before it is saved.
struct RandomModel {
  RandomModel(const MedDdpmConfig& config, int timesteps);
  void save(const std::filesystem::path& path) const;  // safetensors, plain keys and `betas`

  [[nodiscard]] std::vector<float>& at(const std::string& key);
  void remove(const std::string& key);
  void add(const std::string& key, const std::vector<std::int64_t>& shape);

  std::vector<NamedShape> keys;
  std::map<std::string, std::vector<float>> values;
};

// The smallest network of a recipe: 2 levels of 32 channels, sides a multiple of 2, a schedule of
// 50 timesteps.
struct TinyModel : RandomModel {
  static constexpr int kTimesteps = 50;

  explicit TinyModel(RecipeKind recipe = RecipeKind::kWholeHead);
};

// Labels of a lopsided head: a box of brain (1) with a tumour (2) in one corner.
[[nodiscard]] std::vector<std::uint8_t> head_labels(const Dims3& dims);

// The same head in a prepared BraTS mask: brain is 4, the tumour 1, 2 and 3.
[[nodiscard]] std::vector<std::uint8_t> brats_labels(const Dims3& dims);

// A mask of these labels at 2 mm, RAS+, sform only.
[[nodiscard]] NiftiBuilder head_mask(const Dims3& dims);

// A mask of brats_labels() at 1 mm, as the recipe has it, RAS+.
[[nodiscard]] NiftiBuilder brats_mask(const Dims3& dims);

// safetensors with x_T [1, 1, z, y, x] and, when `draws` is not 0, noise [draws, 1, 1, z, y, x], as
// `seed` makes them.
void save_seed_noise(const std::filesystem::path& path, std::uint64_t seed, const Dims3& dims,
                     int draws);

}  // namespace mezzotint::testing
