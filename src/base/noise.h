// Counter-based standard normal noise: every value is a pure function of (seed, sample, stream,
// logical index), so any split over threads, and any instruction set, gives the same bytes.
//
// Bits: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC'11). The key words are the low and high half of `seed`. The counter words are the low and high
// half of the pair number (logical index / 2), then `stream`, then `sample`.
// Normals: each counter value gives two 64-bit words (a low word first), from which one Box-Muller
// pair: radius sqrt(-2 ln u) with u = (w0's upper 52 bits + 1/2) / 2^52, which is neither 0 nor 1,
// and an angle of which w1's upper 2 bits choose the quadrant and the next 52 bits the place in it.
// Even indices take the cosine, odd ones the sine. Largest possible magnitude: 8.57.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/thread_team.h"

namespace mezzotint {

struct NoiseKey {
  std::uint64_t seed = 0;
  std::uint32_t sample = 0;  // which volume of a batch
  std::uint32_t stream = 0;  // which draw of that volume: 0 is x_T, k the noise after the k-th step
};

// Standard normals for the logical indices first_index (>= 0), first_index + 1, ...
void fill_normal(const NoiseKey& key, std::int64_t first_index, std::span<float> out);
// The same bytes as fill_normal(key, 0, out), by all workers of `team`.
void fill_normal(const NoiseKey& key, std::span<float> out, const ThreadTeam& team);

// What the noise is made of, for its tests and for ports to other devices. Only + - * / and sqrt in
// double precision: no library function, whose last bit differs between machines.
std::array<std::uint32_t, 4> philox_4x32_10(std::array<std::uint32_t, 4> counter,
                                            std::array<std::uint32_t, 2> key);
// ln(u) for normal u in (0, 1]; relative error at most 1e-15.
double noise_log(double u);
struct SineCosine {
  double sine;
  double cosine;
};
// Of `turn` quarter turns (turn * pi / 2), |turn| <= 1/2; relative errors at most 1e-15.
SineCosine noise_sine_cosine(double turn);

}  // namespace mezzotint
