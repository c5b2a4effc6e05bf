// Plain data about a machine, as compile and the cost model need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/system.h"
#include "graph/math_unit.h"

namespace mezzotint {

struct Machine {
  Isa isa = Isa::kAvx2;
  int threads = 1;
  std::uint64_t memory_bytes = 0;  // what the process may use; 0 means unknown
  std::string processor;
  std::int64_t l2_bytes = std::int64_t{1} << 20;  // of one core; sizes blocks, changes no bytes
  bool avx512_bf16 = false;  // has_avx512_bf16(); means something from Isa::kAvx512 on
};

// What multiplies pairs of bfloat16 in hardware here, if anything does.
[[nodiscard]] inline std::optional<MathUnit> bf16_unit(const Machine& machine) {
  if (machine.isa == Isa::kAmx) {
    return MathUnit::kAmxBf16;
  }
  if (machine.isa == Isa::kAvx512 && machine.avx512_bf16) {
    return MathUnit::kAvx512Bf16;
  }
  return std::nullopt;
}

}  // namespace mezzotint
