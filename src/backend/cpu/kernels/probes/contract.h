// Loops that measure a unit or memory and compute nothing of use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mezzotint::kernels {

// Sums of products whose operands stay in registers. There are enough independent sums to hide the
// latency of each.
struct DotLoop {
  // `rounds` times: adds the products of a and b to each sum. a and b: operand_bytes each, sums:
  // sum_bytes; all aligned to 64 bytes.
  void (*run)(std::int64_t rounds, const std::byte* a, const std::byte* b, std::byte* sums);
  std::int64_t operand_bytes;
  std::int64_t sum_bytes;
  double operations;  // of one round: a multiplication and an addition are two
};

// Sums of vectors: latencies are 4 to 6 cycles and at most two start in a cycle, so 12 would do.
// With the operands they fit into AVX2's 16 registers. AVX-512 has 32, and int8 attains 4 %
// more with 16, which leave its ports a choice. More gain nothing, and compilers no longer unroll.
inline constexpr std::int64_t kVectorSumsAvx2 = 12;
inline constexpr std::int64_t kVectorSumsAvx512 = 16;
// Sums of tiles: of the 8, two hold operands. A product takes 52 cycles and one starts every 16.
inline constexpr std::int64_t kTileSums = 6;

struct VectorProbes {
  DotLoop fma;   // float32 x float32, element by element
  DotLoop int8;  // uint8 x int8, four neighbours into one int32; run is null where AVX2 has none
  // y[i] = a[i] + scale * b[i]. The arrays do not overlap.
  void (*stream)(const float* a, const float* b, float scale, float* y, std::int64_t count);
};

const VectorProbes& probes_avx2();
const VectorProbes& probes_avx512();

// bfloat16 x bfloat16, two neighbours into one float32.
const DotLoop& probes_avx512bf16();

// Products of a tile of 16 rows of 64 bytes with one whose rows hold the neighbours that are summed
// (two bfloat16 or four int8) of 16 columns. The process has the permission to use tiles.
struct TileProbes {
  DotLoop bf16;  // bfloat16 x bfloat16 into float32
  DotLoop int8;  // uint8 x int8 into int32
};
const TileProbes& probes_amx();

}  // namespace mezzotint::kernels
