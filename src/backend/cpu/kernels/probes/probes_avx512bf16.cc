#include <immintrin.h>

#include "backend/cpu/kernels/probes/dot-inl.h"

namespace mezzotint::kernels {
namespace {

struct Bf16Unit {
  using Sum = __m512;
  static constexpr std::int64_t kSums = kVectorSumsAvx512;
  static constexpr std::int64_t kBytes = 64;
  static constexpr std::int64_t kProducts = 32;

  static __m512bh load_operand(const std::byte* p) {
    return reinterpret_cast<__m512bh>(_mm512_load_si512(p));
  }
  static __m512 load_sum(const std::byte* p) { return _mm512_load_ps(p); }
  static void store(__m512 sum, std::byte* p) { _mm512_store_ps(p, sum); }
  static __m512 add_product(__m512 sum, __m512bh a, __m512bh b) {
    return _mm512_dpbf16_ps(sum, a, b);
  }
};

}  // namespace
}  // namespace mezzotint::kernels

const mezzotint::kernels::DotLoop& mezzotint::kernels::probes_avx512bf16() {
  return kDotLoop<Bf16Unit>;
}
