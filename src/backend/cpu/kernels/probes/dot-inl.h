// For ISA files only: the loop of every vector unit.
#pragma once

#include "backend/cpu/kernels/probes/contract.h"

namespace mezzotint::kernels {
namespace {

// Unit: type Sum; kSums, kBytes and kProducts of a vector; load_operand, load_sum, store and
// add_product.
template <typename Unit>
void accumulate(std::int64_t rounds, const std::byte* a, const std::byte* b, std::byte* sums) {
  const auto x = Unit::load_operand(a);
  const auto y = Unit::load_operand(b);
  typename Unit::Sum sum[Unit::kSums];
  for (std::int64_t i = 0; i < Unit::kSums; ++i) {
    sum[i] = Unit::load_sum(sums + i * Unit::kBytes);
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::int64_t i = 0; i < Unit::kSums; ++i) {
      sum[i] = Unit::add_product(sum[i], x, y);
    }
  }
  for (std::int64_t i = 0; i < Unit::kSums; ++i) {
    Unit::store(sum[i], sums + i * Unit::kBytes);
  }
}

// kProducts: multiplications per vector.
template <typename Unit>
constexpr DotLoop kDotLoop{accumulate<Unit>, Unit::kBytes, Unit::kSums* Unit::kBytes,
                           2.0 * Unit::kSums* Unit::kProducts};

}  // namespace
}  // namespace mezzotint::kernels
