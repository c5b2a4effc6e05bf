// For ISA files only: Highway in static mode, and loads and stores of whole and partial vectors.
// Everything is in an unnamed namespace, so that no ISA file shares code with another.
#pragma once

#include <hwy/highway.h>

#include <cstdint>

namespace mezzotint::kernels {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Floats>;
constexpr Floats kFloats;
constexpr std::int64_t kLanes = hn::MaxLanes(kFloats);

struct Whole {
  FloatVector load(const float* p) const { return hn::LoadU(kFloats, p); }
  void store(FloatVector v, float* p) const { hn::StoreU(v, kFloats, p); }
};

// The first `count` lanes; the others load as zero and are not stored.
struct Part {
  explicit Part(std::int64_t count) : mask(hn::FirstN(kFloats, static_cast<std::size_t>(count))) {}

  FloatVector load(const float* p) const { return hn::MaskedLoad(mask, kFloats, p); }
  void store(FloatVector v, float* p) const { hn::BlendedStore(v, mask, kFloats, p); }

  hn::Mask<Floats> mask;
};

// Calls body(i, access) for i = 0, kLanes, ... so that all of [0, count) is covered once.
template <typename Body>
HWY_INLINE void for_each_vector(std::int64_t count, const Body& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    body(i, Whole{});
  }
  if (i < count) {
    body(i, Part(count - i));
  }
}

}  // namespace
}  // namespace mezzotint::kernels
