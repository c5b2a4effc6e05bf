#include "pipeline/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/cancel.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/safetensors_index.h"
#include "imaging/reorient.h"
#include "pipeline/model_card.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexEnding = ".safetensors.index.json";

bool is_index_name(const fs::path& path) {
  return path.filename().string().ends_with(kIndexEnding);
}

bool is_checkpoint_name(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".pt" || extension == ".pth" || extension == ".safetensors" ||
         is_index_name(path);
}

// The checkpoints of a folder; shards that an index there names are not checkpoints themselves.
Result<std::vector<fs::path>> checkpoints_in(const fs::path& folder) {
  std::set<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_checkpoint_name(entry.path())) {
      found.insert(entry.path());
    }
  }
  if (error) {
    return invalid_input("{}: cannot list this folder: {}", folder.string(), error.message());
  }
  std::vector<fs::path> checkpoints(found.begin(), found.end());
  for (const fs::path& path : checkpoints) {
    if (!is_index_name(path)) {
      continue;
    }
    const auto index = InputFile::open(path);
    const auto weight_map = index ? read_weight_map(*index) : index.error();
    if (!weight_map) {
      return weight_map.error();
    }
    for (const auto& [tensor, shard] : *weight_map) {
      found.erase(folder / shard);
    }
  }
  return std::vector<fs::path>(found.begin(), found.end());
}

Result<fs::path> checkpoint_in(const fs::path& folder, const ModelCard& card) {
  if (card.weights) {
    const fs::path name(*card.weights);
    if (name.has_parent_path() || name == "..") {
      return invalid_input("{}: \"weights\" must be a file name in this folder, was {}",
                           (folder / "model.json").string(), in_quotes(*card.weights));
    }
    return folder / name;
  }
  auto found = checkpoints_in(folder);
  if (!found) {
    return found.error();
  }
  if (found->size() != 1) {
    return invalid_input(
        "{}: holds {} checkpoints (.pt, .pth, .safetensors and indices of shards), expected one: "
        "pass the file itself, or name it as \"weights\" in model.json",
        folder.string(), found->size());
  }
  return found->front();
}

struct Located {
  fs::path file;
  ModelCard card;
};

// What open_model(path) reads: `path` itself, or what the folder holds.
Result<Located> locate(const fs::path& path) {
  Located located{path, {}};
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return located;
  }
  const fs::path card_path = path / "model.json";
  if (fs::exists(fs::symlink_status(card_path, ignored))) {
    auto card = read_model_card(card_path);
    if (!card) {
      return card.error();
    }
    located.card = std::move(*card);
  }
  auto file = checkpoint_in(path, located.card);
  if (!file) {
    return file.error();
  }
  located.file = std::move(*file);
  return located;
}

// Of values that were computed in double and stored as float32, which is what the reference does,
// or rounded once more with the weights: to 11 bits and steps of at least 2^-24 (float16), or to 8
// bits (bfloat16).
double buffer_tolerance(DType stored, double value) {
  constexpr double kFloat32 = 1e-6;
  double rounding = 0;
  if (stored == DType::kF16) {
    rounding = std::max(std::ldexp(std::abs(value), -11), std::ldexp(1.0, -25));
  } else if (stored == DType::kBF16) {
    rounding = std::ldexp(std::abs(value), -8);
  }
  return kFloat32 * std::abs(value) + rounding;
}

// The buffers a trainer saved must be those this program will sample with.
Status check_schedule(const Model& model) {
  if (!model.weights.timesteps) {
    return {};
  }
  const auto schedule = cosine_schedule(static_cast<int>(
      std::min<std::int64_t>(*model.weights.timesteps, std::numeric_limits<int>::max())));
  if (!schedule) {
    return invalid_input("{}: {}", model.file.string(), schedule.error().message);
  }
  for (const std::string_view name :
       {std::string_view("betas"), std::string_view("alphas_cumprod")}) {
    const auto index = model.weights.buffers.find(name);
    const auto buffers = schedule_buffers();
    const auto buffer = std::find_if(buffers.begin(), buffers.end(),
                                     [&](const ScheduleBuffer& b) { return b.name == name; });
    if (index == model.weights.buffers.end() || buffer == buffers.end()) {
      continue;
    }
    const std::vector<double>& expected = (*schedule).*(buffer->values);
    const TensorInfo& info = model.tensors->tensors()[index->second];
    if (info.elements != static_cast<std::int64_t>(expected.size())) {
      return invalid_input("{}: {} has {} values, betas has {}", model.file.string(), name,
                           info.elements, expected.size());
    }
    std::vector<float> stored(expected.size());
    if (Status status = model.tensors->read_float(index->second, stored); !status) {
      return status.error();
    }
    for (std::size_t t = 0; t < stored.size(); ++t) {
      if (!(std::abs(stored[t] - expected[t]) <= buffer_tolerance(info.dtype, expected[t]))) {
        return unsupported(
            "{}: {}[{}] is {}, the cosine schedule has {}: trained with another noise schedule, "
            "which this version does not know",
            model.file.string(), name, t, stored[t], static_cast<float>(expected[t]));
      }
    }
  }
  return {};
}

Status check_labels(const ModelCard& card, const fs::path& card_path, std::int64_t channels) {
  for (const auto& [label, name] : card.labels) {
    if (label > channels) {
      return invalid_input("{}: names label {}, but the model has labels 1 to {}",
                           card_path.string(), label, channels);
    }
  }
  return {};
}

// The reference puts attention where the grid that it builds for is 16 on a side, so a checkpoint
// with attention in one level tells that grid; the published ones are the recipe's.
std::array<std::int64_t, 3> grid_of(const MedDdpmConfig& config, const Recipe& recipe) {
  if (recipe.kind != RecipeKind::kWholeHead || config.attention_levels.size() != 1) {
    return recipe.grid_xyz;
  }
  const std::int64_t side = std::int64_t{16} << config.attention_levels.front();
  return {side, side, side};
}

Status apply_card(Model& model, const ModelCard& card) {
  const Recipe& recipe = *model.recipe;
  const fs::path card_path = model.card_path();
  if (card.recipe && *card.recipe != recipe.name) {
    return invalid_input("{}: says recipe {}, but {} has the channels of {}", card_path.string(),
                         in_quotes(*card.recipe), model.name(), recipe.name);
  }
  if (card.timesteps && model.weights.timesteps && *card.timesteps != *model.weights.timesteps) {
    return invalid_input("{}: says {} timesteps, but {} was trained with {}", card_path.string(),
                         *card.timesteps, model.name(), *model.weights.timesteps);
  }
  if (Status status = check_labels(card, card_path, model.config.condition_channels); !status) {
    return status;
  }
  if (card.frame) {
    if (const auto frame = parse_frame(*card.frame); !frame) {
      return invalid_input("{}: {}", card_path.string(), frame.error().message);
    }
  }
  if (recipe.grid_xyz[0] != 0) {
    model.grid = grid_of(model.config, recipe);
  }
  if (card.grid) {
    model.grid = card.grid;
  }
  // The recipe's spacing is that of its own grid.
  const bool own_grid = model.grid == recipe.grid_xyz;
  if (recipe.spacing_mm[0] != 0 && own_grid) {
    model.spacing_mm = recipe.spacing_mm;
  }
  if (card.spacing_mm) {
    model.spacing_mm = card.spacing_mm;
  }
  model.licence = card.licence;
  model.frame = card.frame.value_or(std::string(recipe.frame));
  model.labels = label_set(recipe, model.config.condition_channels);
  for (LabelName& label : model.labels.labels) {
    if (const auto found = card.labels.find(label.value); found != card.labels.end()) {
      label.name = found->second;
    }
  }
  if (model.weights.timesteps) {
    model.timesteps = static_cast<int>(*model.weights.timesteps);
  } else {
    model.timesteps = card.timesteps;
  }
  return {};
}

}  // namespace

Result<fs::path> checkpoint_of(const fs::path& path) {
  auto located = locate(path);
  if (!located) {
    return located.error();
  }
  return std::move(located->file);
}

LabelSet label_set(const Recipe& recipe, std::int64_t channels) {
  LabelSet set;
  set.recipe = recipe.name;
  set.minus_one_is_background = recipe.minus_one_is_background;
  set.brain = recipe.brain_label;
  set.tumour = recipe.tumour_label;
  set.needs_brain = recipe.needs_brain;
  if (recipe.raw_label != 0) {
    set.raw = RawLabel{recipe.raw_label, recipe.raw_meaning};
  }
  for (std::int64_t label = 1; label <= channels; ++label) {
    const auto index = static_cast<std::size_t>(label - 1);
    set.labels.push_back({static_cast<int>(label), index < recipe.label_names.size()
                                                       ? std::string(recipe.label_names[index])
                                                       : fmt::format("label {}", label)});
  }
  return set;
}

Status check_weight_words(std::string_view weights, std::string_view variant) {
  if (weights != "ema" && weights != "model") {
    return invalid_input("weights: {} is not ema or model", in_quotes(weights));
  }
  if (const auto network = variant_from_name(variant); !network) {
    return network.error();
  }
  return {};
}

Result<Model> open_model(const fs::path& path, const std::string& weights,
                         const CancelToken* cancel, std::string_view variant) {
  if (Status status = check_weight_words(weights, variant); !status) {
    return status.error();
  }
  auto located = locate(path);
  if (!located) {
    return located.error();
  }
  Model model;
  model.path = path;
  model.weights_name = weights;
  model.file = std::move(located->file);
  auto tensors = open_tensor_file(model.file);
  if (!tensors) {
    return tensors.error();
  }
  model.tensors = std::move(*tensors);
  auto selected = select_weights(*model.tensors, weights, *variant_from_name(variant));
  if (!selected) {
    return selected.error();
  }
  model.weights = std::move(*selected);
  auto config = detect_med_ddpm(model.weights.keys);
  if (!config) {
    return make_error(config.error().code, "{}: {}", model.file.string(), config.error().message);
  }
  model.config = std::move(*config);
  model.recipe = &recipe_of(model.config.recipe);
  for (const NamedShape& key : model.weights.keys) {
    std::int64_t elements = 1;
    for (const std::int64_t dim : key.shape) {
      elements *= dim;
    }
    model.parameters += elements;
  }
  if (Status status = check_schedule(model); !status) {
    return status.error();
  }
  if (Status status = apply_card(model, located->card); !status) {
    return status.error();
  }
  auto hash = model.tensors->sha256(cancel);
  if (!hash) {
    return hash.error();
  }
  model.sha256 = std::move(*hash);
  return model;
}

Result<Model> open_model_any_weights(const fs::path& path,
                                     const std::optional<std::string>& weights,
                                     const CancelToken* cancel, std::string_view variant) {
  auto model = open_model(path, weights.value_or("ema"), cancel, variant);
  if (model || weights || model.error().code != ErrorCode::kNotFound) {
    return model;
  }
  auto other = open_model(path, "model", cancel, variant);
  return other || other.error().code != ErrorCode::kNotFound ? std::move(other) : std::move(model);
}

Status ModelParameters::read(std::string_view name, std::span<float> out) {
  if (stop_requested(cancel_)) {
    return stopped();
  }
  const auto found = model_.weights.tensors.find(name);
  if (found == model_.weights.tensors.end()) {
    return invalid_input("{}: has no weight {}", model_.file.string(), name);
  }
  const TensorInfo& info = model_.tensors->tensors()[found->second];
  if (info.elements != static_cast<std::int64_t>(out.size())) {
    return invalid_input("{}: weight {} has {} values, expected {}", model_.file.string(), name,
                         info.elements, out.size());
  }
  if (Status status = model_.tensors->read_float(found->second, out); !status) {
    return status.error();
  }
  const auto bad =
      std::find_if(out.begin(), out.end(), [](float value) { return !std::isfinite(value); });
  if (bad != out.end()) {
    return invalid_input(
        "{}: weight {} holds {} at element {}: the file is damaged or its training "
        "diverged",
        model_.file.string(), name, *bad, bad - out.begin());
  }
  return {};
}

}  // namespace mezzotint
