// A model as a job needs it: configuration, recipe, grid, and weights that can be read by name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "diffusion/schedule.h"
#include "formats/tensor_file.h"
#include "imaging/labels.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "models/med_ddpm.h"
#include "models/recipe.h"

namespace mezzotint {

struct Model {
  std::filesystem::path path;  // as given
  std::filesystem::path file;  // the checkpoint, or the index of its shards
  std::string sha256;          // of all its bytes: TensorFile::sha256()
  std::unique_ptr<TensorFile> tensors;
  std::string weights_name;  // "ema" or "model": which of the file's
  MedDdpmWeights weights;
  MedDdpmConfig config;
  const Recipe* recipe = nullptr;
  LabelSet labels;
  std::optional<std::array<std::int64_t, 3>> grid;  // x, y, z; nothing: unknown
  std::optional<std::array<double, 3>> spacing_mm;
  std::string frame;
  std::optional<int> timesteps;        // length of the schedule, if the files say
  std::optional<std::string> licence;  // as the folder states it
  std::int64_t parameters = 0;

  // Whether its file holds one set of weights, without a name to choose it by.
  [[nodiscard]] bool has_one_set() const {
    return tensors->groups() == std::vector<std::string>{""};
  }
  // "model.pt"; for messages.
  [[nodiscard]] std::string name() const { return file.filename().string(); }
  // Where the card is, or would be: beside the checkpoint. Read when the folder was named.
  [[nodiscard]] std::filesystem::path card_path() const {
    return file.parent_path() / "model.json";
  }
  // What belongs to the model and must not be written over.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> paths = tensors->files();
    paths.push_back(card_path());
    return paths;
  }
};

// The labels of a recipe with `channels` condition channels.
[[nodiscard]] LabelSet label_set(const Recipe& recipe, std::int64_t channels);

// The checkpoint that open_model(path) reads.
[[nodiscard]] Result<std::filesystem::path> checkpoint_of(const std::filesystem::path& path);

// kInvalidInput unless `weights` is "ema" or "model" and `variant` a name that variant_from_name()
// knows.
Status check_weight_words(std::string_view weights, std::string_view variant);

// `path` is a checkpoint or a folder with one checkpoint and perhaps model.json. `weights` is "ema"
// or "model", `variant` a name that variant_from_name() knows. The schedule buffers of the file
// must be the cosine schedule's. The token is read while the file is hashed.
Result<Model> open_model(const std::filesystem::path& path, const std::string& weights,
                         const CancelToken* cancel = nullptr, std::string_view variant = "auto");

// As open_model() with `weights`; nothing: "ema", or "model" where the file holds no such weights.
Result<Model> open_model_any_weights(const std::filesystem::path& path,
                                     const std::optional<std::string>& weights,
                                     const CancelToken* cancel, std::string_view variant);

// Reads parameters for kernels. A weight that is not finite is refused, by name; kCancelled when
// the token was set.
class ModelParameters final : public ParameterSource {
 public:
  explicit ModelParameters(const Model& model, const CancelToken* cancel = nullptr)
      : model_(model), cancel_(cancel) {}
  Status read(std::string_view name, std::span<float> out) override;

 private:
  const Model& model_;
  const CancelToken* cancel_;
};

}  // namespace mezzotint
