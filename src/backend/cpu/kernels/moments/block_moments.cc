#include "backend/cpu/kernels/moments/block_moments.h"

#include <algorithm>

namespace mezzotint::kernels {
namespace {

// Blocks merged one after the other by one worker, before their results are merged.
constexpr std::int64_t kMergeFan = 64;

using Moments = BlockMoments::Moments;

// Of the union of two disjoint sets (Chan, Golub, LeVeque, 1983).
Moments merge(const Moments& a, double count_a, const Moments& b, double count_b) {
  const double total = count_a + count_b;
  const double delta = b.mean - a.mean;
  return {a.mean + delta * (count_b / total),
          a.m2 + b.m2 + delta * delta * (count_a * count_b / total)};
}

}  // namespace

BlockMoments::BlockMoments(const Rows& rows, std::int64_t run_positions,
                           std::int64_t block_positions)
    : rows_(rows),
      run_positions_(run_positions),
      block_positions_(block_positions),
      blocks_per_run_(ceil_div(run_positions, block_positions)),
      blocks_(rows.positions / run_positions * blocks_per_run_) {}

std::int64_t BlockMoments::block_begin(std::int64_t block) const {
  return block / blocks_per_run_ * run_positions_ + block % blocks_per_run_ * block_positions_;
}

std::size_t BlockMoments::bytes() const {
  return static_cast<std::size_t>(rows_.samples * blocks_ * rows_.channels) * sizeof(Moments);
}

void BlockMoments::set(Moments* all, std::int64_t sample, std::int64_t block, const double* sums,
                       const double* squares) const {
  Moments* out = all + (sample * blocks_ + block) * rows_.channels;
  const auto count = static_cast<double>(block_positions(block));
  for (std::int64_t c = 0; c < rows_.channels; ++c) {
    const double mean = sums[c] / count;
    out[c] = {mean, std::max(squares[c] - sums[c] * mean, 0.0)};
  }
}

void BlockMoments::finish(const ThreadTeam& team, Moments* all, double* out) const {
  const std::int64_t groups = ceil_div(blocks_, kMergeFan);
  team.parallel_for(rows_.samples * groups, [&](std::int64_t task) {
    merge_blocks(all + task / groups * blocks_ * rows_.channels, task % groups * kMergeFan, 1,
                 kMergeFan);
  });
  for (std::int64_t n = 0; n < rows_.samples; ++n) {
    Moments* sample = all + n * blocks_ * rows_.channels;
    merge_blocks(sample, 0, kMergeFan, groups);
    for (std::int64_t c = 0; c < rows_.channels; ++c) {
      double* pair = out + 2 * (n * rows_.channels + c);
      pair[0] = sample[c].mean;
      pair[1] = sample[c].m2 / static_cast<double>(rows_.positions);
    }
  }
}

// Merges block `first` with the fan - 1 following at distance `step`, into block `first`. Blocks
// at a distance of `step` stand for that many blocks each.
void BlockMoments::merge_blocks(Moments* sample, std::int64_t first, std::int64_t step,
                                std::int64_t fan) const {
  const auto positions_in = [&](std::int64_t block) {
    const std::int64_t end = std::min(block + step, blocks_);
    return static_cast<double>(block_begin(end) - block_begin(block));
  };
  Moments* into = sample + first * rows_.channels;
  double count = positions_in(first);
  for (std::int64_t k = 1; k < fan && first + k * step < blocks_; ++k) {
    const std::int64_t block = first + k * step;
    const double more = positions_in(block);
    const Moments* from = sample + block * rows_.channels;
    for (std::int64_t c = 0; c < rows_.channels; ++c) {
      into[c] = merge(into[c], count, from[c], more);
    }
    count += more;
  }
}

}  // namespace mezzotint::kernels
