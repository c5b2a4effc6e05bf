#include <immintrin.h>

#include "backend/cpu/kernels/probes/contract.h"

namespace mezzotint::kernels {
namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kRowBytes = 64;
constexpr std::int64_t kTileBytes = kRows * kRowBytes;

// The operand of LDTILECFG, palette 1.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == 64);

// Tiles 0 to 5 are sums, 6 and 7 operands: the instructions take numbers, not variables.
void load(const std::byte* a, const std::byte* b, const std::byte* sums) {
  TileConfiguration configuration;
  for (std::int64_t tile = 0; tile < kTileSums + 2; ++tile) {
    configuration.row_bytes[tile] = kRowBytes;
    configuration.rows[tile] = kRows;
  }
  _tile_loadconfig(&configuration);
  _tile_loadd(0, sums, kRowBytes);
  _tile_loadd(1, sums + kTileBytes, kRowBytes);
  _tile_loadd(2, sums + 2 * kTileBytes, kRowBytes);
  _tile_loadd(3, sums + 3 * kTileBytes, kRowBytes);
  _tile_loadd(4, sums + 4 * kTileBytes, kRowBytes);
  _tile_loadd(5, sums + 5 * kTileBytes, kRowBytes);
  _tile_loadd(6, a, kRowBytes);
  _tile_loadd(7, b, kRowBytes);
}

void store(std::byte* sums) {
  _tile_stored(0, sums, kRowBytes);
  _tile_stored(1, sums + kTileBytes, kRowBytes);
  _tile_stored(2, sums + 2 * kTileBytes, kRowBytes);
  _tile_stored(3, sums + 3 * kTileBytes, kRowBytes);
  _tile_stored(4, sums + 4 * kTileBytes, kRowBytes);
  _tile_stored(5, sums + 5 * kTileBytes, kRowBytes);
  _tile_release();
}

void accumulate_bf16(std::int64_t rounds, const std::byte* a, const std::byte* b, std::byte* sums) {
  load(a, b, sums);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  store(sums);
}

void accumulate_int8(std::int64_t rounds, const std::byte* a, const std::byte* b, std::byte* sums) {
  load(a, b, sums);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbusd(0, 6, 7);
    _tile_dpbusd(1, 6, 7);
    _tile_dpbusd(2, 6, 7);
    _tile_dpbusd(3, 6, 7);
    _tile_dpbusd(4, 6, 7);
    _tile_dpbusd(5, 6, 7);
  }
  store(sums);
}

// 16 x 16 sums of as many products as a row has elements.
constexpr double operations(std::int64_t row_elements) {
  return 2.0 * kTileSums * 16 * 16 * static_cast<double>(row_elements);
}

constexpr TileProbes kProbes{
    {accumulate_bf16, kTileBytes, kTileSums* kTileBytes, operations(kRowBytes / 2)},
    {accumulate_int8, kTileBytes, kTileSums* kTileBytes, operations(kRowBytes)}};

}  // namespace
}  // namespace mezzotint::kernels

const mezzotint::kernels::TileProbes& mezzotint::kernels::probes_amx() {
  return kProbes;
}
