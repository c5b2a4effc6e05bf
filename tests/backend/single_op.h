// One op in memory: its graph, inputs and outputs, run by any implementation and checked against
// the law.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/ref/sample_check.h"
#include "base/aligned_buffer.h"
#include "graph/graph.h"

namespace mezzotint::testing {

class SingleOp {
 public:
  // Values in memory order; uniform in [low, high) by a seed of their own. Names are "v0", "v1"...
  ValueId input(const Shape& shape, Layout layout, float low = -1.0F, float high = 1.0F);
  ValueId moments(std::int64_t samples, std::int64_t channels);  // float64, variances positive
  ValueId indices(std::span<const std::int32_t> values);         // int32, rank 1
  ValueId parameter(const Shape& shape, float low = -1.0F, float high = 1.0F);

  // The op; its inputs are all values made so far, in order. A test failure when it is refused.
  void op(OpKind kind, Attributes attributes, std::shared_ptr<const Graph> body = nullptr);

  [[nodiscard]] OpView view() const { return {graph_, graph_.op(0)}; }
  [[nodiscard]] std::span<float> input_floats(std::size_t i) { return inputs_[i].as<float>(); }
  [[nodiscard]] std::span<const std::byte> output_bytes(std::size_t i = 0) const;
  [[nodiscard]] std::span<const float> output_floats() const { return outputs_[0].as<float>(); }

  // Prepares for Precision::kFast, loads and launches. Outputs and workspace begin as NaN. `alias`:
  // output 0 shares the memory of that input, as a copy of it, and is copied back afterwards.
  Status run(const Implementation& implementation, const Machine& machine,
             std::optional<std::size_t> alias = std::nullopt);
  [[nodiscard]] SampleReport check(std::size_t output = 0) const;

 private:
  AlignedBuffer filled(std::int64_t count, float low, float high);

  Graph graph_;
  std::vector<ValueId> ids_;
  std::vector<AlignedBuffer> inputs_;
  std::vector<AlignedBuffer> outputs_;
};

// Every instruction set that this machine can run, weakest first (without AMX, which has no files
// of its own).
[[nodiscard]] std::vector<Isa> runnable_isas();
[[nodiscard]] Machine machine_with(Isa isa, int threads);

// Relative L2 error and maximum error (in units of the truth's rms) of a float32 sum of `terms`
// random terms: partial sums grow like sqrt(k), so each of `terms` roundings adds at most
// 2^-24 sqrt(k) of a term's size, together 2^-24 sqrt(terms) of the result's; and one rounding
// more at the end. The maximum of many normal errors stays within 8 deviations.
void expect_within_sum_bound(const SampleReport& report, std::int64_t terms,
                             const std::string& what);

}  // namespace mezzotint::testing
