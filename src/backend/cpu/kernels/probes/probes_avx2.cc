#include "backend/cpu/kernels/probes/probes-inl.h"

namespace mezzotint::kernels {
namespace {

constexpr VectorProbes kProbes{kDotLoop<FmaUnit>, {}, stream};

}  // namespace
}  // namespace mezzotint::kernels

const mezzotint::kernels::VectorProbes& mezzotint::kernels::probes_avx2() {
  return kProbes;
}
