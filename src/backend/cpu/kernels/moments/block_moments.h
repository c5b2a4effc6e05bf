// Channel moments from the sums of blocks of positions, merged in a tree that the shape decides, so
// that the result does not depend on threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels/implementation.h"
#include "base/thread_team.h"

namespace mezzotint::kernels {

class BlockMoments {
 public:
  // Of one channel in one block.
  struct Moments {
    double mean;
    double m2;  // sum of squared deviations
  };

  // A sample is cut into runs of `run_positions`, which divides its positions, and each run into
  // blocks of `block_positions`, of which the last may be shorter.
  BlockMoments(const Rows& rows, std::int64_t run_positions, std::int64_t block_positions);

  [[nodiscard]] std::int64_t blocks() const { return blocks_; }  // of a sample
  [[nodiscard]] std::int64_t block_begin(std::int64_t block) const;
  [[nodiscard]] std::int64_t block_positions(std::int64_t block) const {
    return block_begin(block + 1) - block_begin(block);
  }
  // Memory for the moments of all blocks.
  [[nodiscard]] std::size_t bytes() const;

  // Each channel's plain sum and sum of squares over the block.
  void set(Moments* all, std::int64_t sample, std::int64_t block, const double* sums,
           const double* squares) const;
  // When every block is set: mean and variance of each sample's channels. Overwrites `all`.
  void finish(const ThreadTeam& team, Moments* all, double* out) const;

 private:
  void merge_blocks(Moments* sample, std::int64_t first, std::int64_t step, std::int64_t fan) const;

  Rows rows_;
  std::int64_t run_positions_;
  std::int64_t block_positions_;
  std::int64_t blocks_per_run_;
  std::int64_t blocks_;
};

}  // namespace mezzotint::kernels
