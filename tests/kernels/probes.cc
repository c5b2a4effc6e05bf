// The loops of the probes do the arithmetic that they are counted for.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/kernels/probes/contract.h"
#include "backend/cpu/kernels/probes/probes.h"
#include "base/aligned_buffer.h"
#include "base/system.h"

namespace mezzotint::kernels {
namespace {

struct LoopTest {
  const char* name;
  bool available;
  const DotLoop& loop;
  // Products that one 32-bit sum gets in a round.
  std::int64_t group;
  bool is_tile;
};

bool is_bf16(const LoopTest& test) {
  return test.group == 2;
}

std::vector<LoopTest> loops() {
  const auto isa = detect_isa();
  const bool avx2 = isa.ok();
  const bool avx512 = avx2 && *isa >= Isa::kAvx512;
  const bool amx = avx512 && request_amx_tiles();
  return {{"fma on AVX2", avx2, probes_avx2().fma, 1, false},
          {"fma on AVX-512", avx512, probes_avx512().fma, 1, false},
          {"int8 on AVX-512", avx512, probes_avx512().int8, 4, false},
          {"bfloat16 on AVX-512", avx512 && has_avx512_bf16(), probes_avx512bf16(), 2, false},
          {"bfloat16 on AMX", amx, probes_amx().bf16, 2, true},
          {"int8 on AMX", amx, probes_amx().int8, 4, true}};
}

AlignedBuffer zeros(std::int64_t bytes) {
  auto buffer = AlignedBuffer::allocate(static_cast<std::size_t>(bytes));
  EXPECT_TRUE(buffer.ok());
  std::memset(buffer->data(), 0, buffer->size());
  return *std::move(buffer);
}

// Small integers, so that every sum is exact in float32, too: element i of an operand.
int value(std::int64_t i, int which) {
  return static_cast<int>((i * 7 + which * 3) % 11) - (which == 0 ? 0 : 5);
}

void fill(const LoopTest& test, AlignedBuffer& operand, int which) {
  const std::int64_t elements = test.loop.operand_bytes / 4 * test.group;
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto v = static_cast<float>(value(i, which));
    if (test.group == 1) {
      operand.as<float>()[i] = v;
    } else if (is_bf16(test)) {
      operand.as<std::uint16_t>()[i] =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16);
    } else {
      operand.as<std::int8_t>()[i] = static_cast<std::int8_t>(v);
    }
  }
}

// What one round adds to 32-bit sum `i` of an accumulator.
std::int64_t products(const LoopTest& test, std::int64_t i) {
  constexpr std::int64_t kTileRow = 16;
  std::int64_t sum = 0;
  if (!test.is_tile) {
    for (std::int64_t k = 0; k < test.group; ++k) {
      sum += value(i * test.group + k, 0) * value(i * test.group + k, 1);
    }
    return sum;
  }
  const std::int64_t row = i / kTileRow;
  const std::int64_t column = i % kTileRow;
  const std::int64_t row_elements = kTileRow * test.group;
  for (std::int64_t k = 0; k < row_elements; ++k) {
    const std::int64_t in_b = k / test.group * row_elements + column * test.group + k % test.group;
    sum += value(row * row_elements + k, 0) * value(in_b, 1);
  }
  return sum;
}

TEST(Probes, LoopsAddEveryProductInEveryRound) {
  constexpr std::int64_t kRounds = 37;
  for (const LoopTest& test : loops()) {
    if (!test.available) {
      continue;
    }
    auto a = zeros(test.loop.operand_bytes);
    auto b = zeros(test.loop.operand_bytes);
    auto sums = zeros(test.loop.sum_bytes);
    fill(test, a, 0);
    fill(test, b, 1);
    const std::int64_t per_accumulator =
        test.loop.operand_bytes / 4;  // sums of a vector or a tile have the size of an operand
    const std::int64_t count = test.loop.sum_bytes / 4;
    const bool is_integer = test.group == 4;
    // Each accumulator starts elsewhere, so that none stands for another.
    for (std::int64_t i = 0; i < count; ++i) {
      const auto start = static_cast<std::int32_t>(100 * (i / per_accumulator));
      is_integer ? void(sums.as<std::int32_t>()[i] = start)
                 : void(sums.as<float>()[i] = static_cast<float>(start));
    }
    test.loop.run(kRounds, a.data(), b.data(), sums.data());
    double operations = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t within = i % per_accumulator;
      const auto expected = 100 * (i / per_accumulator) + kRounds * products(test, within);
      const double found = is_integer ? sums.as<std::int32_t>()[i] : sums.as<float>()[i];
      ASSERT_EQ(found, static_cast<double>(expected)) << test.name << " " << i;
      operations += 2.0 * static_cast<double>(test.group * (test.is_tile ? 16 : 1));
    }
    EXPECT_EQ(test.loop.operations, operations) << test.name;
  }
}

// A float32 recurrence that rounds in each round, as fused multiply-add does: once.
TEST(Probes, FmaRoundsOnce) {
  constexpr std::int64_t kRounds = 1000;
  const float a = 1.0F + 0x1p-12F;
  const float b = 0.3F;
  float expected = 0;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    expected = std::fma(a, b, expected);
  }
  for (const LoopTest& test : loops()) {
    if (!test.available || test.group != 1) {
      continue;
    }
    auto operands = zeros(2 * 64);
    std::ranges::fill(operands.as<float>().first(16), a);
    std::ranges::fill(operands.as<float>().last(16), b);
    auto sums = zeros(test.loop.sum_bytes);
    test.loop.run(kRounds, operands.data(), operands.data() + 64, sums.data());
    for (const float sum : sums.as<float>()) {
      ASSERT_EQ(sum, expected) << test.name;
    }
  }
}

TEST(Probes, StreamsComputeWhatTheyCount) {
  const auto isa = detect_isa();
  ASSERT_TRUE(isa.ok());
  for (const auto* probes : {&probes_avx2(), &probes_avx512()}) {
    if (probes == &probes_avx512() && *isa < Isa::kAvx512) {
      continue;
    }
    for (const std::int64_t count : {1, 15, 16, 17, 1000}) {
      std::vector<float> a(count);
      std::vector<float> b(count);
      std::vector<float> y(count + 1, -1.0F);
      for (std::int64_t i = 0; i < count; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(3 * i + 1);
      }
      probes->stream(a.data(), b.data(), 0.5F, y.data(), count);
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(y[i], a[i] + 0.5F * b[i]);
      }
      EXPECT_EQ(y[count], -1.0F) << "nothing beyond the end";
    }
  }
}

Machine machine_with(Isa isa) {
  Machine machine;
  machine.isa = isa;
  machine.avx512_bf16 = has_avx512_bf16();
  return machine;
}

TEST(Probes, EveryUnitHasAProbeThatRunsOrSaysWhyNot) {
  const auto isa = detect_isa();
  ASSERT_TRUE(isa.ok());
  const auto probes = make_unit_probes();
  ASSERT_EQ(probes.size(), std::size(kAllMathUnits));
  const Machine machine = machine_with(*isa);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    EXPECT_EQ(probes[i]->unit(), kAllMathUnits[i]);
    EXPECT_FALSE(probes[i]->elements().empty());
    const auto refusal = probes[i]->refusal(machine);
    if (refusal) {
      EXPECT_FALSE(refusal->empty());
      continue;
    }
    for (const int threads : {1, 2}) {
      const double rate = probes[i]->run(machine, ThreadTeam(threads), 1e-4);
      EXPECT_TRUE(std::isfinite(rate) && rate > 0) << name_of(probes[i]->unit()) << " " << rate;
    }
  }
}

TEST(Probes, AnAvx2MachineHasOneUnit) {
  for (const auto& probe : make_unit_probes()) {
    const auto refusal = probe->refusal(machine_with(Isa::kAvx2));
    EXPECT_EQ(refusal.has_value(), probe->unit() != MathUnit::kFma) << name_of(probe->unit());
  }
}

TEST(Probes, AnAvx512MachineWithoutBf16SaysSo) {
  Machine machine = machine_with(Isa::kAvx512);
  machine.avx512_bf16 = false;
  for (const auto& probe : make_unit_probes()) {
    if (probe->unit() == MathUnit::kAvx512Bf16) {
      EXPECT_EQ(probe->refusal(machine), "no AVX-512-BF16 on this processor");
    }
    if (is_matrix_unit(probe->unit())) {
      EXPECT_EQ(probe->refusal(machine), "no AMX on this processor");
    }
  }
}

TEST(Probes, StreamsStayWithinTheirMemory) {
  const auto isa = detect_isa();
  ASSERT_TRUE(isa.ok());
  const auto probe = make_stream_probe();
  for (const int threads : {1, 2, 3}) {
    const std::size_t floats = StreamProbe::kLeastFloats * static_cast<std::size_t>(threads) + 7;
    auto memory = zeros(static_cast<std::int64_t>((floats + 16) * sizeof(float)));
    const auto all = memory.as<float>();
    std::ranges::fill(all, 1.0F);
    const double rate =
        probe->run(machine_with(*isa), ThreadTeam(threads), all.first(floats), 1e-4);
    EXPECT_TRUE(std::isfinite(rate) && rate > 0) << rate;
    // 1 + 0.5 * 1, where a sum was written: at least a quarter of the memory, and nothing behind
    // it.
    const auto written = std::ranges::count(all, 1.5F);
    EXPECT_GE(written, static_cast<std::ptrdiff_t>(floats / 4));
    EXPECT_EQ(written + std::ranges::count(all, 1.0F), static_cast<std::ptrdiff_t>(all.size()));
    EXPECT_EQ(std::ranges::count(all.last(16), 1.0F), 16);
  }
}

}  // namespace
}  // namespace mezzotint::kernels
