#include "support/random_fill.h"

namespace mezzotint::testing {

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    std::uint64_t z = (seed += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    z ^= z >> 31U;
    const float unit = static_cast<float>(z >> 40U) * 0x1p-24F;
    value = low + (high - low) * unit;
  }
  return values;
}

}  // namespace mezzotint::testing
