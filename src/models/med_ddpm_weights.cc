#include "models/med_ddpm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "diffusion/schedule.h"

namespace mezzotint {
namespace {

constexpr std::string_view kTrainerPrefix = "denoise_fn.";
constexpr std::string_view kParallelPrefix = "module.";
constexpr std::string_view kBetas = "betas";

// A key as stored: the trainer's prefix and DataParallel's, each at most once, in any order.
struct StoredKey {
  std::string_view name;
  bool has_trainer_prefix = false;
};

StoredKey split(std::string_view stored) {
  StoredKey key{stored};
  bool has_parallel_prefix = false;
  while (true) {
    if (!key.has_trainer_prefix && key.name.starts_with(kTrainerPrefix)) {
      key.has_trainer_prefix = true;
      key.name.remove_prefix(kTrainerPrefix.size());
    } else if (!has_parallel_prefix && key.name.starts_with(kParallelPrefix)) {
      has_parallel_prefix = true;
      key.name.remove_prefix(kParallelPrefix.size());
    } else {
      return key;
    }
  }
}

bool is_schedule_buffer(const StoredKey& key) {
  return !key.has_trainer_prefix &&
         std::ranges::find(schedule_buffers(), key.name, &ScheduleBuffer::name) !=
             schedule_buffers().end();
}

bool is_floating(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

Error no_such_group(const TensorFile& file, std::string_view group,
                    const std::vector<std::string>& groups) {
  const std::string_view other = group == "ema" ? "model" : "ema";
  const bool has_other = std::find(groups.begin(), groups.end(), other) != groups.end();
  if (has_other) {
    return make_error(ErrorCode::kNotFound, "{}: holds no `{}` weights; pass --weights {}",
                      file.path().string(), group, other);
  }
  return make_error(ErrorCode::kNotFound,
                    "{}: not a Med-DDPM checkpoint: expected weights under `ema` or `model`, or"
                    " plain UNet keys{}",
                    file.path().string(),
                    groups.empty() ? std::string(", found no tensor")
                                   : fmt::format(", found {}", in_quotes(groups.front())));
}

std::optional<std::int64_t> training_step(const TensorFile& file) {
  const auto found = file.metadata().find("step");
  if (found == file.metadata().end()) {
    return std::nullopt;
  }
  const std::string& text = found->second;
  std::int64_t step = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (code != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return step;
}

// Takes the tensors of one group, one after the other.
class Selector {
 public:
  explicit Selector(const TensorFile& file) : file_(file) {}

  Status add(std::size_t index) {
    const TensorInfo& tensor = file_.tensors()[index];
    const StoredKey key = split(tensor.name);
    has_trainer_prefix_ = has_trainer_prefix_ || key.has_trainer_prefix;
    if (is_schedule_buffer(key)) {
      return add_buffer(key.name, index);
    }
    if (!is_floating(tensor.dtype)) {
      return unsupported("{}: weight {} is {}, expected float64, float32, float16 or bfloat16",
                         file_.path().string(), in_quotes(tensor.name), name_of(tensor.dtype));
    }
    if (!weights_.tensors.emplace(key.name, index).second) {
      return twice(key.name);
    }
    weights_.keys.push_back({std::string(key.name), tensor.shape});
    return {};
  }

  [[nodiscard]] bool has_trainer_prefix() const { return has_trainer_prefix_; }
  [[nodiscard]] MedDdpmWeights& weights() { return weights_; }

 private:
  Status add_buffer(std::string_view name, std::size_t index) {
    const std::vector<std::int64_t>& shape = file_.tensors()[index].shape;
    if (shape.size() != 1) {
      return invalid_input("{}: the schedule buffer {} has shape [{}], expected one dimension",
                           file_.path().string(), name, fmt::join(shape, ", "));
    }
    if (!weights_.buffers.emplace(name, index).second) {
      return twice(name);
    }
    if (name == kBetas) {
      weights_.timesteps = shape[0];
    }
    return {};
  }

  [[nodiscard]] Error twice(std::string_view name) const {
    return invalid_input("{}: {} is there twice, with different prefixes (`{}`, `{}` or none)",
                         file_.path().string(), in_quotes(name), kTrainerPrefix, kParallelPrefix);
  }

  const TensorFile& file_;
  MedDdpmWeights weights_;
  bool has_trainer_prefix_ = false;
};

}  // namespace

Result<NetworkVariant> variant_from_name(std::string_view name) {
  if (name == "auto") {
    return NetworkVariant::kAuto;
  }
  if (name == "med-ddpm") {
    return NetworkVariant::kMedDdpm;
  }
  if (name == "fast-sampling") {
    return unsupported(
        "variant: fast-sampling: this network, which halves two of the three axes, is not "
        "supported; expected auto or med-ddpm");
  }
  return invalid_input("variant: {} is not auto or med-ddpm", in_quotes(name));
}

Result<MedDdpmWeights> select_weights(const TensorFile& file, std::string_view group,
                                      NetworkVariant variant) {
  const std::vector<std::string> groups = file.groups();
  if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
    if (groups.size() != 1 || !groups.front().empty()) {
      return no_such_group(file, group, groups);
    }
    group = "";
  }
  Selector selector(file);
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    if (file.tensors()[i].group != group) {
      continue;
    }
    if (Status status = selector.add(i); !status) {
      return status.error();
    }
  }
  MedDdpmWeights& weights = selector.weights();
  if (variant == NetworkVariant::kAuto && !group.empty() && !selector.has_trainer_prefix() &&
      weights.tensors.contains("input_blocks.0.0.weight")) {
    return unsupported(
        "{}: `{}` holds UNet keys without the prefix `{}`, as the fast-sampling network's "
        "checkpoints do, which has other strides and is not supported; if it is a Med-DDPM "
        "network, pass --variant med-ddpm",
        file.path().string(), group, kTrainerPrefix);
  }
  weights.step = training_step(file);
  return std::move(weights);
}

}  // namespace mezzotint
