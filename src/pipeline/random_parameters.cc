#include "pipeline/random_parameters.h"

#include <cmath>

#include "base/error.h"
#include "base/noise.h"

namespace mezzotint {
namespace {

constexpr std::uint32_t kWeights = 1;  // NoiseKey::sample; inputs are sample 0
constexpr float kVectorDeviation = 0.1F;

}  // namespace

RandomParameters::RandomParameters(std::span<const NamedShape> keys, std::uint64_t seed)
    : seed_(seed) {
  for (const NamedShape& key : keys) {
    Entry entry;
    entry.stream = static_cast<std::uint32_t>(entries_.size());
    entry.elements = Shape(key.shape).elements();
    if (key.shape.size() < 2) {
      entry.scale = kVectorDeviation;
      entry.mean = key.name.ends_with(".weight") ? 1.0F : 0.0F;
    } else {
      const double reads = static_cast<double>(entry.elements) / static_cast<double>(key.shape[0]);
      entry.scale = static_cast<float>(1 / std::sqrt(reads));
    }
    entries_[key.name] = entry;
  }
}

Status RandomParameters::read(std::string_view name, std::span<float> out) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.elements != static_cast<std::int64_t>(out.size())) {
    return invalid_input("there is no random weight {} with {} values", name, out.size());
  }
  const Entry& entry = found->second;
  fill_normal({seed_, kWeights, entry.stream}, 0, out);
  for (float& value : out) {
    value = entry.mean + entry.scale * value;
  }
  return {};
}

}  // namespace mezzotint
