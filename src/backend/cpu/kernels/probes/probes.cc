#include "backend/cpu/kernels/probes/probes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/probes/contract.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

using Clock = std::chrono::steady_clock;

// Calls work() on each worker until the time is up, at least once. work() returns what it did, and
// the result is how much of that all did per second. Who is late for the loop has less time in it,
// so that what is counted is what the team attains together.
template <typename Work>
double rate(const ThreadTeam& team, double seconds, const Work& work) {
  std::atomic<double> done{0};
  const auto begin = Clock::now();
  const auto end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  team.parallel_for(team.size(), [&](std::int64_t worker) { done += work(worker, end); });
  return done / std::chrono::duration<double>(Clock::now() - begin).count();
}

const VectorProbes& vector_probes(const Machine& machine) {
  return for_isa(machine.isa, probes_avx2(), probes_avx512());
}

struct UnitProbeParts {
  MathUnit unit;
  std::string_view elements;
  Refusal (*refuse)(const Machine& machine);
  const DotLoop& (*loop)(const Machine& machine);
};

class DotProbe final : public UnitProbe {
 public:
  explicit DotProbe(const UnitProbeParts& parts) : parts_(parts) {}

  MathUnit unit() const override { return parts_.unit; }
  std::string_view elements() const override { return parts_.elements; }
  Refusal refusal(const Machine& machine) const override { return parts_.refuse(machine); }

  double run(const Machine& machine, const ThreadTeam& team, double seconds) const override {
    constexpr std::int64_t kRounds =
        4096;  // 15 us of vectors, 150 us of tiles: the clock costs 30 ns
    constexpr std::size_t kMostOperandBytes = 1024;
    constexpr std::size_t kMostSumBytes = kTileSums * kMostOperandBytes;
    // As float32 or bfloat16 0.75, as int8 63: neither denormal nor 0.
    constexpr int kByte = 0x3f;
    const DotLoop& loop = parts_.loop(machine);
    return rate(team, seconds, [&](std::int64_t, Clock::time_point end) {
      alignas(AlignedBuffer::kAlignment) std::byte operand[kMostOperandBytes];
      alignas(AlignedBuffer::kAlignment) std::byte sums[kMostSumBytes];
      std::memset(operand, kByte, sizeof(operand));
      double operations = 0;
      do {
        std::memset(sums, 0, sizeof(sums));
        loop.run(kRounds, operand, operand, sums);
        operations += kRounds * loop.operations;
      } while (Clock::now() < end);
      return operations;
    });
  }

 private:
  UnitProbeParts parts_;
};

class TriadProbe final : public StreamProbe {
 public:
  double run(const Machine& machine, const ThreadTeam& team, std::span<float> memory,
             double seconds) const override {
    // Between two looks at the clock: 32 KiB of each array.
    constexpr std::int64_t kBlock = 8192;
    const auto stream = vector_probes(machine).stream;
    const auto floats = static_cast<std::int64_t>(memory.size()) / team.size();
    const std::int64_t length = array_length(floats);
    // A busy machine may take seconds for what takes milliseconds on a quiet one.
    constexpr double kMostTimes = 10;
    const auto last = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(kMostTimes * seconds));
    return rate(team, seconds, [&](std::int64_t worker, Clock::time_point end) {
      float* a = memory.data() + worker * round_up(floats - (kLine - 1), kLine);
      std::int64_t done = 0;
      do {
        const std::int64_t first = done % length;
        const std::int64_t count = std::min(kBlock, length - first);
        stream(a + first, a + length + first, 0.5F, a + 2 * length + first, count);
        done += count;
      } while (Clock::now() < (done < length ? last : end));
      return 3.0 * sizeof(float) * static_cast<double>(done);
    });
  }

 private:
  static constexpr std::int64_t kLine = 16;  // floats

  // Of three arrays in `floats`. A load waits for an earlier store whose address has the same last
  // 12 bits, so the arrays start a third of 4 KiB apart, modulo that.
  static std::int64_t array_length(std::int64_t floats) {
    constexpr std::int64_t kPage = 1024;
    constexpr std::int64_t kThird = 21 * kLine;
    return (floats / 3 - kThird) / kPage * kPage + kThird;
  }
};

Refusal refuse_before_avx512(const Machine& machine) {
  if (machine.isa < Isa::kAvx512) {
    return "no AVX-512 VNNI on this processor";
  }
  return std::nullopt;
}

Refusal refuse_without_bf16(const Machine& machine) {
  if (machine.isa < Isa::kAvx512 || !machine.avx512_bf16) {
    return "no AVX-512-BF16 on this processor";
  }
  return std::nullopt;
}

Refusal refuse_without_tiles(const Machine& machine) {
  if (machine.isa < Isa::kAmx) {
    return "no AMX on this processor";
  }
  if (!request_amx_tiles()) {
    return "the operating system does not permit AMX tiles";
  }
  return std::nullopt;
}

constexpr UnitProbeParts kUnits[] = {
    {MathUnit::kFma, "float32", [](const Machine&) -> Refusal { return std::nullopt; },
     [](const Machine& machine) -> const DotLoop& { return vector_probes(machine).fma; }},
    {MathUnit::kVnniInt8, "uint8 x int8 into int32", refuse_before_avx512,
     [](const Machine&) -> const DotLoop& { return probes_avx512().int8; }},
    {MathUnit::kAvx512Bf16, "bfloat16 into float32", refuse_without_bf16,
     [](const Machine&) -> const DotLoop& { return probes_avx512bf16(); }},
    {MathUnit::kAmxBf16, "bfloat16 into float32", refuse_without_tiles,
     [](const Machine&) -> const DotLoop& { return probes_amx().bf16; }},
    {MathUnit::kAmxInt8, "uint8 x int8 into int32", refuse_without_tiles,
     [](const Machine&) -> const DotLoop& { return probes_amx().int8; }},
};

}  // namespace

std::vector<std::unique_ptr<UnitProbe>> make_unit_probes() {
  std::vector<std::unique_ptr<UnitProbe>> probes;
  for (const UnitProbeParts& parts : kUnits) {
    probes.push_back(std::make_unique<DotProbe>(parts));
  }
  return probes;
}

std::unique_ptr<StreamProbe> make_stream_probe() {
  return std::make_unique<TriadProbe>();
}

}  // namespace mezzotint::kernels
