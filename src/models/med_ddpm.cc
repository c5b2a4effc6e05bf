#include "models/med_ddpm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/graph_builder.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kGroups = 32;
constexpr double kEps = 1e-5;
constexpr double kMaxPeriod = 1000;
constexpr int kMostLevels = 8;
constexpr std::int64_t kMostBlocks = 64;
constexpr std::int64_t kMostChannels = 1 << 16;

Status check_config(const MedDdpmConfig& config) {
  const auto counts = {config.image_channels, config.condition_channels, config.res_blocks,
                       config.base_channels, config.heads};
  const auto& multipliers = config.channel_multiplier;
  if (std::min(counts) < 1 || multipliers.empty() ||
      *std::min_element(multipliers.begin(), multipliers.end()) < 1) {
    return invalid_input(
        "a Med-DDPM network needs at least one image channel, condition channel,"
        " residual block, base channel, head and level");
  }
  if (config.levels() > kMostLevels || config.res_blocks > kMostBlocks ||
      std::max(counts) > kMostChannels ||
      *std::max_element(multipliers.begin(), multipliers.end()) >
          kMostChannels / config.base_channels) {
    return invalid_input(
        "a Med-DDPM network of more than {} levels, {} residual blocks a level or {}"
        " channels is beyond this program",
        kMostLevels, kMostBlocks, kMostChannels);
  }
  if (config.in_channels != config.image_channels + config.condition_channels ||
      config.out_channels != config.image_channels) {
    return invalid_input(
        "{} input channels must be {} image and {} condition channels, and {} output channels as"
        " many as image channels",
        config.in_channels, config.image_channels, config.condition_channels, config.out_channels);
  }
  for (const int level : config.attention_levels) {
    if (level < 0 || level >= config.levels()) {
      return invalid_input("attention at level {} of a network with levels 0 to {}", level,
                           config.levels() - 1);
    }
  }
  if (config.base_channels % kGroups != 0) {
    return invalid_input("{} base channels; GroupNorm needs a multiple of {}", config.base_channels,
                         kGroups);
  }
  return {};
}

Status check_size(const MedDdpmConfig& config, const std::array<std::int64_t, 3>& size) {
  const std::int64_t step = config.size_multiple();
  std::array<std::int64_t, 3> below{};
  std::array<std::int64_t, 3> above{};
  bool fits = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (size[axis] < 1 || size[axis] > kMostChannels) {
      return invalid_input("grid {} (D x H x W): each side must be from 1 to {}",
                           fmt::join(size, " x "), kMostChannels);
    }
    below[axis] = std::max(step, size[axis] / step * step);
    above[axis] = (size[axis] + step - 1) / step * step;
    fits = fits && size[axis] == above[axis];
  }
  if (fits) {
    return {};
  }
  const std::string smaller = fmt::format("{}", fmt::join(below, " x "));
  const std::string larger = fmt::format("{}", fmt::join(above, " x "));
  return invalid_input("grid {} (D x H x W): each side must be a multiple of {}; use {}",
                       fmt::join(size, " x "), step,
                       smaller == larger ? larger : smaller + " or " + larger);
}

// Emits the network in the order in which it runs. Ops are named by the paths of their weights.
class UnetBuilder {
 public:
  explicit UnetBuilder(const MedDdpmConfig& config) : config_(config) {}

  Result<Graph> build(std::int64_t batch, const std::array<std::int64_t, 3>& size) {
    const auto [d, h, w] = size;
    const ValueId x = volume_input("x", {batch, config_.image_channels, d, h, w}, Rate::kStep);
    const ValueId condition =
        volume_input("condition", {batch, config_.condition_channels, d, h, w}, Rate::kVolume);
    const ValueId t = volume_input("t", {batch}, Rate::kStep);

    embed_time(t);
    encode(b_.concat("input", std::array{x, condition}));
    middle();
    decode();

    current_ = normalise("out.0", "out.1", current_, "silu");
    current_ = conv("out.2", current_, config_.out_channels, 3, 1);
    b_.alias("out", current_);
    b_.alias("eps", current_);
    b_.output(current_);
    return b_.finish();
  }

 private:
  std::int64_t channels_of(ValueId value) const { return b_.ok() ? b_.type(value).shape[1] : 0; }
  std::int64_t level_channels(int level) const {
    return config_.base_channels * config_.channel_multiplier[static_cast<std::size_t>(level)];
  }
  bool has_attention(int level) const {
    const auto& levels = config_.attention_levels;
    return std::find(levels.begin(), levels.end(), level) != levels.end();
  }

  ValueId volume_input(std::string name, Shape shape, Rate rate) {
    return b_.input(std::move(name), {std::move(shape), DType::kF32, Layout::kRowMajor}, rate);
  }

  ValueId conv(const std::string& path, ValueId x, std::int64_t out_channels, std::int64_t kernel,
               std::int64_t stride) {
    const ValueId weight =
        b_.parameter(path + ".weight", {out_channels, channels_of(x), kernel, kernel, kernel});
    const ValueId bias = b_.parameter(path + ".bias", {out_channels});
    return b_.conv3d(path, x, weight, bias, stride, kernel / 2);
  }

  ValueId linear(const std::string& path, ValueId x, std::int64_t out_channels) {
    const ValueId weight = b_.parameter(path + ".weight", {out_channels, channels_of(x)});
    const ValueId bias = b_.parameter(path + ".bias", {out_channels});
    return b_.linear(path, x, weight, bias);
  }

  // GroupNorm with weights at `path`; its result, after the activation, is named `result`.
  ValueId normalise(const std::string& path, const std::string& result, ValueId x,
                    const std::string& activation) {
    const ValueId moments = b_.channel_moments(path + ".moments", x);
    const ValueId weight = b_.parameter(path + ".weight", {channels_of(x)});
    const ValueId bias = b_.parameter(path + ".bias", {channels_of(x)});
    const ValueId coefficients =
        b_.group_norm_coefficients(path, moments, weight, bias, kGroups, kEps);
    return b_.affine(result, x, coefficients, activation);
  }

  void embed_time(ValueId t) {
    const std::int64_t width = 4 * config_.base_channels;
    ValueId v = b_.timestep_embedding("timestep_embedding", t, config_.base_channels, kMaxPeriod);
    v = linear("time_embed.0", v, width);
    v = linear("time_embed.2", b_.silu("time_embed.1", v), width);
    b_.alias("time_embed", v);
    time_ = b_.silu("emb_layers.0", v);
  }

  // The skip convolution comes first: after it, nothing but the norm reads the block's input, which
  // may then be overwritten in place.
  void res_block(const std::string& path, std::int64_t out_channels) {
    const ValueId x = current_;
    const ValueId skip =
        channels_of(x) == out_channels ? x : conv(path + ".skip_connection", x, out_channels, 1, 1);
    ValueId h = normalise(path + ".in_layers.0", path + ".in_layers.1", x, "silu");
    h = conv(path + ".in_layers.2", h, out_channels, 3, 1);
    b_.alias(path + ".in_layers", h);
    const ValueId time = linear(path + ".emb_layers.1", time_, out_channels);
    b_.alias(path + ".emb_layers", time);
    h = b_.add_channels(path + ".add_time", h, time);
    h = normalise(path + ".out_layers.0", path + ".out_layers.1", h, "silu");
    h = conv(path + ".out_layers.3", h, out_channels, 3, 1);
    b_.alias(path + ".out_layers", h);
    current_ = b_.add(path, skip, h);
  }

  void attention_block(const std::string& path) {
    const ValueId x = current_;
    const std::int64_t channels = channels_of(x);
    ValueId h = normalise(path + ".norm", path + ".norm.affine", x, "none");
    h = conv(path + ".qkv", h, 3 * channels, 1, 1);
    h = b_.attention(path + ".attention", h, config_.heads);
    h = conv(path + ".proj_out", h, channels, 1, 1);
    current_ = b_.add(path, x, h);
  }

  void end_module(const std::string& path) { b_.alias(path, current_); }

  void encode(ValueId input) {
    current_ = conv("input_blocks.0.0", input, config_.base_channels, 3, 1);
    end_module("input_blocks.0");
    skips_.push_back(current_);
    int block = 1;
    for (int level = 0; level < config_.levels(); ++level) {
      for (std::int64_t i = 0; i < config_.res_blocks; ++i) {
        const std::string path = fmt::format("input_blocks.{}", block++);
        res_block(path + ".0", level_channels(level));
        if (has_attention(level)) {
          attention_block(path + ".1");
        }
        end_module(path);
        skips_.push_back(current_);
      }
      if (level + 1 < config_.levels()) {
        const std::string path = fmt::format("input_blocks.{}", block++);
        current_ = conv(path + ".0.op", current_, level_channels(level), 3, 2);
        end_module(path + ".0");
        end_module(path);
        skips_.push_back(current_);
      }
    }
  }

  void middle() {
    const std::int64_t channels = level_channels(config_.levels() - 1);
    res_block("middle_block.0", channels);
    attention_block("middle_block.1");
    res_block("middle_block.2", channels);
    end_module("middle_block");
  }

  void decode() {
    int block = 0;
    for (int level = config_.levels() - 1; level >= 0; --level) {
      for (std::int64_t i = 0; i <= config_.res_blocks; ++i) {
        const std::string path = fmt::format("output_blocks.{}", block++);
        int module = 0;
        current_ = b_.concat(path + ".concat", std::array{current_, skips_.back()});
        skips_.pop_back();
        res_block(fmt::format("{}.{}", path, module++), level_channels(level));
        if (has_attention(level)) {
          attention_block(fmt::format("{}.{}", path, module++));
        }
        if (level > 0 && i == config_.res_blocks) {
          const std::string upsample = fmt::format("{}.{}", path, module);
          current_ = b_.upsample_trilinear(upsample + ".interpolate", current_);
          current_ = conv(upsample + ".conv", current_, level_channels(level), 3, 1);
          end_module(upsample);
        }
        end_module(path);
      }
    }
  }

  const MedDdpmConfig& config_;
  GraphBuilder b_;
  ValueId current_ = 0;
  ValueId time_ = 0;  // silu of the time embedding, shared by all blocks
  std::vector<ValueId> skips_;
};

}  // namespace

Result<Graph> build_med_ddpm(const MedDdpmConfig& config, std::int64_t batch,
                             std::array<std::int64_t, 3> size_dhw) {
  if (Status status = check_config(config); !status) {
    return status.error();
  }
  if (Status status = check_size(config, size_dhw); !status) {
    return status.error();
  }
  return UnetBuilder(config).build(batch, size_dhw);
}

Result<std::vector<NamedShape>> med_ddpm_keys(const MedDdpmConfig& config) {
  if (Status status = check_config(config); !status) {
    return status.error();
  }
  const std::int64_t side = config.size_multiple();
  const auto graph = build_med_ddpm(config, 1, {side, side, side});
  if (!graph) {
    return graph.error();
  }
  std::vector<NamedShape> keys;
  for (const ValueId id : graph->parameters()) {
    const Value& value = graph->value(id);
    NamedShape key{value.name, value.type.shape.dims()};
    if (key.name.ends_with(".qkv.weight") || key.name.ends_with(".proj_out.weight")) {
      key.shape.resize(3);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace mezzotint
