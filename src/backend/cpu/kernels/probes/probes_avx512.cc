#include <immintrin.h>

#include "backend/cpu/kernels/probes/probes-inl.h"

namespace mezzotint::kernels {
namespace {

struct Int8Unit {
  using Sum = __m512i;
  static constexpr std::int64_t kSums = kVectorSumsAvx512;
  static constexpr std::int64_t kBytes = 64;
  static constexpr std::int64_t kProducts = 64;

  static HWY_INLINE __m512i load_operand(const std::byte* p) { return _mm512_load_si512(p); }
  static HWY_INLINE __m512i load_sum(const std::byte* p) { return _mm512_load_si512(p); }
  static HWY_INLINE void store(__m512i sum, std::byte* p) { _mm512_store_si512(p, sum); }
  static HWY_INLINE __m512i add_product(__m512i sum, __m512i a, __m512i b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }
};

constexpr VectorProbes kProbes{kDotLoop<FmaUnit>, kDotLoop<Int8Unit>, stream};

}  // namespace
}  // namespace mezzotint::kernels

const mezzotint::kernels::VectorProbes& mezzotint::kernels::probes_avx512() {
  return kProbes;
}
