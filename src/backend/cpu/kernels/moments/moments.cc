#include <algorithm>
#include <numeric>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/moments/block_moments.h"
#include "backend/cpu/kernels/moments/contract.h"

namespace mezzotint::kernels {
namespace {

// Elements of a block: 128 KiB. Blocks depend on the shape alone, so the sums' tree does too.
constexpr std::int64_t kBlockElements = 32768;
class MomentsKernel final : public Kernel {
 public:
  MomentsKernel(const Rows& rows, const Machine& machine)
      : rows_(rows),
        functions_(for_isa(machine.isa, moments_avx2(), moments_avx512())),
        columns_(std::lcm(rows.channels, MomentsKernels::kColumnUnit)),
        positions_per_column_row_(columns_ / rows.channels),
        moments_(rows, rows.positions,
                 std::max<std::int64_t>(1, kBlockElements / columns_) * positions_per_column_row_),
        tasks_(rows.samples * moments_.blocks()),
        slots_(std::min<std::int64_t>(std::max(machine.threads, 1), tasks_)) {}

  // Moments of every block, then per slot the columns' sums.
  std::size_t workspace_bytes() const override {
    return moments_.bytes() + static_cast<std::size_t>(slots_ * 2 * columns_) * sizeof(double);
  }

  void launch(const LaunchContext& context) const override {
    auto* moments = reinterpret_cast<BlockMoments::Moments*>(context.workspace);
    auto* sums = reinterpret_cast<double*>(context.workspace + moments_.bytes());
    const auto* x = context.inputs[0].as<const float>();
    context.team.parallel_for_slots(tasks_, slots_, [&](std::int64_t task, std::int64_t slot) {
      const std::int64_t sample = task / moments_.blocks();
      const std::int64_t block = task % moments_.blocks();
      double* of_slot = sums + slot * 2 * columns_;
      sum_block(x + (sample * rows_.positions + moments_.block_begin(block)) * rows_.channels,
                moments_.block_positions(block), of_slot);
      moments_.set(moments, sample, block, of_slot, of_slot + columns_);
    });
    moments_.finish(context.team, moments, context.outputs[0].as<double>());
  }

 private:
  // Leaves the channels' sums at the beginning of the columns' sums, and so the squares'.
  void sum_block(const float* x, std::int64_t positions, double* sums) const {
    const std::int64_t column_rows = positions / positions_per_column_row_;
    functions_.sum_rows(x, column_rows, columns_, sums);
    // Positions that do not fill a row of columns: fewer than 16.
    for (std::int64_t i = column_rows * columns_; i < positions * rows_.channels; ++i) {
      const double value = x[i];
      sums[i % columns_] += value;
      sums[columns_ + i % columns_] += value * value;
    }
    for (std::int64_t column = rows_.channels; column < columns_; ++column) {
      sums[column % rows_.channels] += sums[column];
      sums[columns_ + column % rows_.channels] += sums[columns_ + column];
    }
  }

  Rows rows_;
  const MomentsKernels& functions_;
  std::int64_t columns_;
  std::int64_t positions_per_column_row_;
  BlockMoments moments_;
  std::int64_t tasks_;
  std::int64_t slots_;
};

}  // namespace

std::unique_ptr<Implementation> make_channel_moments() {
  return make_implementation(
      {"kernels.channel_moments",
       [](const OpView& view) { return refuse_unless_channels_and_positions(view.input(0), "x"); },
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<MomentsKernel>(rows_of(view.input(0).type), machine);
       }});
}

}  // namespace mezzotint::kernels
