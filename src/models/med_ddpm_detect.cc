#include "models/med_ddpm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::size_t kShown = 3;

class Keys {
 public:
  explicit Keys(std::span<const NamedShape> keys) {
    for (const NamedShape& key : keys) {
      by_name_.emplace(key.name, &key.shape);
    }
  }

  const Dims* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::size_t size() const { return by_name_.size(); }
  bool any_starts_with(std::string_view prefix) const {
    const auto found = by_name_.lower_bound(prefix);
    return found != by_name_.end() && found->first.starts_with(prefix);
  }

 private:
  std::map<std::string_view, const Dims*> by_name_;
};

std::string shape_text(const Dims& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

// The shape of a 3x3x3 convolution's weight, from which channel counts are read.
Result<Dims> anchor(const Keys& keys, std::string_view name) {
  const Dims* shape = keys.find(name);
  if (shape == nullptr) {
    return invalid_input("Med-DDPM weights without {}, from which the channels are read",
                         in_quotes(name));
  }
  if (shape->size() != 5 || *std::min_element(shape->begin(), shape->end()) < 1) {
    return invalid_input("{} is {}, expected [out, in, 3, 3, 3]", in_quotes(name),
                         shape_text(*shape));
  }
  return *shape;
}

// Of the residual block at `path`: what most likely survives in a damaged checkpoint.
std::int64_t block_channels(const Keys& keys, const std::string& path) {
  for (const std::string_view key : {".in_layers.2.weight", ".out_layers.3.weight"}) {
    const Dims* shape = keys.find(path + std::string(key));
    if (shape != nullptr && !shape->empty()) {
      return shape->front();
    }
  }
  return 0;
}

// Walks the encoder: residual blocks of a level, then its downsampling. Counts that do not fit
// together show as missing or extra keys afterwards.
void read_encoder(const Keys& keys, MedDdpmConfig& config) {
  std::int64_t blocks = 0;
  for (int block = 1; keys.any_starts_with(fmt::format("input_blocks.{}.", block)); ++block) {
    const std::string path = fmt::format("input_blocks.{}", block);
    if (keys.any_starts_with(path + ".0.op.")) {
      blocks = 0;
      continue;
    }
    config.res_blocks = std::max(config.res_blocks, ++blocks);
    if (blocks > 1) {
      continue;
    }
    if (keys.any_starts_with(path + ".1.")) {
      config.attention_levels.push_back(config.levels());
    }
    config.channel_multiplier.push_back(
        std::max<std::int64_t>(1, block_channels(keys, path + ".0") / config.base_channels));
  }
}

std::string list_of(std::string_view what, const std::vector<std::string>& items) {
  const std::size_t shown = std::min(items.size(), kShown);
  return fmt::format(
      "{} {} ({}{})", items.size(), what,
      fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      items.size() > shown ? ", ..." : "");
}

Status compare_keys(std::span<const NamedShape> expected, std::span<const NamedShape> keys) {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  std::vector<std::string> wrong;
  const Keys present(keys);
  const Keys wanted(expected);
  for (const NamedShape& key : expected) {
    const Dims* shape = present.find(key.name);
    if (shape == nullptr) {
      missing.push_back(fmt::format("{} {}", in_quotes(key.name), shape_text(key.shape)));
    } else if (*shape != key.shape) {
      wrong.push_back(fmt::format("{} is {}, expected {}", in_quotes(key.name), shape_text(*shape),
                                  shape_text(key.shape)));
    }
  }
  for (const NamedShape& key : keys) {
    if (!wanted.has(key.name)) {
      extra.push_back(fmt::format("{} {}", in_quotes(key.name), shape_text(key.shape)));
    }
  }
  std::vector<std::string> parts;
  for (const auto& [what, items] : {std::pair("missing", &missing), std::pair("extra", &extra),
                                    std::pair("of the wrong shape", &wrong)}) {
    if (!items->empty()) {
      parts.push_back(list_of(what, *items));
    }
  }
  if (parts.empty()) {
    return {};
  }
  return invalid_input("the weights do not fit a Med-DDPM network, of {} keys: {}", expected.size(),
                       fmt::join(parts, "; "));
}

}  // namespace

Result<MedDdpmConfig> detect_med_ddpm(std::span<const NamedShape> keys) {
  const Keys by_name(keys);
  if (by_name.size() != keys.size()) {
    return invalid_input("a key is given twice among the {} weights", keys.size());
  }
  if (!by_name.any_starts_with("input_blocks.") || !by_name.any_starts_with("output_blocks.")) {
    return invalid_input(
        "not a Med-DDPM checkpoint: none of its {} keys begin with `input_blocks.` and"
        " `output_blocks.`{}",
        keys.size(),
        keys.empty() ? "" : fmt::format("; the first is {}", in_quotes(keys.front().name)));
  }
  const auto first = anchor(by_name, "input_blocks.0.0.weight");
  if (!first) {
    return first.error();
  }
  const auto last = anchor(by_name, "out.2.weight");
  if (!last) {
    return last.error();
  }
  MedDdpmConfig config;
  config.base_channels = (*first)[0];
  config.in_channels = (*first)[1];
  config.out_channels = (*last)[0];
  config.image_channels = config.out_channels;
  config.condition_channels = config.in_channels - config.image_channels;
  config.recipe = recipe_for_channels(config.image_channels, config.condition_channels);
  if (config.condition_channels < 1) {
    return invalid_input(
        "the network takes {} channels and predicts {}: none are left for a mask, so it is no"
        " Med-DDPM model",
        config.in_channels, config.out_channels);
  }
  read_encoder(by_name, config);
  if (config.channel_multiplier.empty()) {
    return invalid_input(
        "Med-DDPM weights without a residual block: no key begins with "
        "`input_blocks.1.0.in_layers`");
  }
  const auto expected = med_ddpm_keys(config);
  if (!expected) {
    return expected.error();
  }
  if (Status status = compare_keys(*expected, keys); !status) {
    return status.error();
  }
  return config;
}

}  // namespace mezzotint
