#include <algorithm>
#include <numeric>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/moments/contract.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

// Elements of a block: 128 KiB. Blocks depend on the shape alone, so the sums' tree does too.
constexpr std::int64_t kBlockElements = 32768;
// Blocks merged one after the other by one worker, before their results are merged.
constexpr std::int64_t kMergeFan = 64;

struct Moments {
  double mean;
  double m2;  // sum of squared deviations
};

// Of the union of two disjoint sets (Chan, Golub, LeVeque, 1983).
Moments merge(const Moments& a, double count_a, const Moments& b, double count_b) {
  const double total = count_a + count_b;
  const double delta = b.mean - a.mean;
  return {a.mean + delta * (count_b / total),
          a.m2 + b.m2 + delta * delta * (count_a * count_b / total)};
}

class MomentsKernel final : public Kernel {
 public:
  MomentsKernel(const Rows& rows, const Machine& machine)
      : rows_(rows),
        functions_(for_isa(machine.isa, moments_avx2(), moments_avx512())),
        columns_(std::lcm(rows.channels, MomentsKernels::kColumnUnit)),
        positions_per_column_row_(columns_ / rows.channels),
        block_positions_(std::max<std::int64_t>(1, kBlockElements / columns_) *
                         positions_per_column_row_),
        blocks_(ceil_div(rows.positions, block_positions_)),
        slots_(std::min<std::int64_t>(std::max(machine.threads, 1), rows.samples * blocks_)) {}

  // Moments of every block, then per slot the columns' sums.
  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(moments_count()) * sizeof(Moments) +
           static_cast<std::size_t>(slots_ * 2 * columns_) * sizeof(double);
  }

  void launch(const LaunchContext& context) const override {
    auto* moments = reinterpret_cast<Moments*>(context.workspace);
    auto* sums = reinterpret_cast<double*>(moments + moments_count());
    context.team.parallel_for_slots(
        rows_.samples * blocks_, slots_, [&](std::int64_t task, std::int64_t slot) {
          const std::int64_t first = task % blocks_ * block_positions_;
          const float* x = context.inputs[0].as<const float>() +
                           (task / blocks_ * rows_.positions + first) * rows_.channels;
          reduce_block(x, std::min(block_positions_, rows_.positions - first),
                       sums + slot * 2 * columns_, moments + task * rows_.channels);
        });
    const std::int64_t groups = ceil_div(blocks_, kMergeFan);
    context.team.parallel_for(rows_.samples * groups, [&](std::int64_t task) {
      Moments* sample = moments + task / groups * blocks_ * rows_.channels;
      merge_blocks(sample, task % groups * kMergeFan, 1, kMergeFan);
    });
    auto* out = context.outputs[0].as<double>();
    for (std::int64_t n = 0; n < rows_.samples; ++n) {
      Moments* sample = moments + n * blocks_ * rows_.channels;
      merge_blocks(sample, 0, kMergeFan, groups);
      for (std::int64_t c = 0; c < rows_.channels; ++c) {
        double* pair = out + 2 * (n * rows_.channels + c);
        pair[0] = sample[c].mean;
        pair[1] = sample[c].m2 / static_cast<double>(rows_.positions);
      }
    }
  }

 private:
  std::int64_t moments_count() const { return rows_.samples * blocks_ * rows_.channels; }

  void reduce_block(const float* x, std::int64_t positions, double* sums, Moments* out) const {
    const std::int64_t column_rows = positions / positions_per_column_row_;
    functions_.sum_rows(x, column_rows, columns_, sums);
    // Positions that do not fill a row of columns: fewer than 16.
    for (std::int64_t i = column_rows * columns_; i < positions * rows_.channels; ++i) {
      const double value = x[i];
      sums[i % columns_] += value;
      sums[columns_ + i % columns_] += value * value;
    }
    const auto count = static_cast<double>(positions);
    for (std::int64_t c = 0; c < rows_.channels; ++c) {
      double sum = 0;
      double square = 0;
      for (std::int64_t column = c; column < columns_; column += rows_.channels) {
        sum += sums[column];
        square += sums[columns_ + column];
      }
      const double mean = sum / count;
      out[c] = {mean, std::max(square - sum * mean, 0.0)};
    }
  }

  // Merges block `first` with the fan - 1 following at distance `step`, into block `first`. Blocks
  // at a distance of `step` stand for that many blocks each.
  void merge_blocks(Moments* sample, std::int64_t first, std::int64_t step,
                    std::int64_t fan) const {
    Moments* into = sample + first * rows_.channels;
    double count = positions_in(first, step);
    for (std::int64_t k = 1; k < fan && first + k * step < blocks_; ++k) {
      const std::int64_t block = first + k * step;
      const double more = positions_in(block, step);
      const Moments* from = sample + block * rows_.channels;
      for (std::int64_t c = 0; c < rows_.channels; ++c) {
        into[c] = merge(into[c], count, from[c], more);
      }
      count += more;
    }
  }

  double positions_in(std::int64_t block, std::int64_t count) const {
    const std::int64_t begin = block * block_positions_;
    return static_cast<double>(std::min(count * block_positions_, rows_.positions - begin));
  }

  Rows rows_;
  const MomentsKernels& functions_;
  std::int64_t columns_;
  std::int64_t positions_per_column_row_;
  std::int64_t block_positions_;
  std::int64_t blocks_;
  std::int64_t slots_;
};

}  // namespace

std::unique_ptr<Implementation> make_channel_moments() {
  return make_implementation(
      {"kernels.channel_moments",
       [](const OpView& view) { return refuse_unless_channels_innermost(view.input(0), "x"); },
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<MomentsKernel>(rows_of(view.input(0).type.shape), machine);
       }});
}

}  // namespace mezzotint::kernels
