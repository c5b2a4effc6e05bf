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

constexpr std::string_view kPrefix = "denoise_fn.";
constexpr std::string_view kBetas = "betas";

bool is_schedule_buffer(std::string_view name) {
  return std::ranges::find(schedule_buffers(), name, &ScheduleBuffer::name) !=
         schedule_buffers().end();
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

}  // namespace

Result<MedDdpmWeights> select_weights(const TensorFile& file, std::string_view group) {
  const std::vector<std::string> groups = file.groups();
  if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
    if (groups.size() != 1 || !groups.front().empty()) {
      return no_such_group(file, group, groups);
    }
    group = "";
  }
  const auto& tensors = file.tensors();
  const bool prefixed = std::any_of(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) {
    return tensor.group == group && tensor.name.starts_with(kPrefix);
  });
  if (!prefixed && file.find(group, "input_blocks.0.0.weight") && !group.empty()) {
    return unsupported(
        "{}: `{}` holds UNet keys without the prefix `{}`, as the fast-sampling network's"
        " checkpoints do, which has other strides; expected a Med-DDPM checkpoint",
        file.path().string(), group, kPrefix);
  }
  MedDdpmWeights weights;
  weights.step = training_step(file);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& tensor = tensors[i];
    if (tensor.group != group) {
      continue;
    }
    std::string_view name = tensor.name;
    if (is_schedule_buffer(name)) {
      if (name == kBetas && tensor.shape.size() == 1 && tensor.shape[0] > 0) {
        weights.timesteps = tensor.shape[0];
      }
      continue;
    }
    if (name.starts_with(kPrefix)) {
      name.remove_prefix(kPrefix.size());
    }
    if (!weights.tensors.emplace(name, i).second) {
      return invalid_input("{}: {} is there with and without the prefix `{}`", file.path().string(),
                           in_quotes(name), kPrefix);
    }
    weights.keys.push_back({std::string(name), tensor.shape});
  }
  return weights;
}

}  // namespace mezzotint
