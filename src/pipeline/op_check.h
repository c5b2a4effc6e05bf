// Judges the launches of a run against the law, op by op.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/ref/sample_check.h"
#include "base/thread_team.h"
#include "runtime/listener.h"

namespace mezzotint {

// One output of one op.
struct OpVerdict {
  std::string op;
  std::string implementation;
  SampleReport report;
  double bound = 0;  // of report.max_abs_error

  [[nodiscard]] bool ok() const { return report.max_abs_error <= bound; }
  // max_abs_error / bound: above 1 is wrong.
  [[nodiscard]] double severity() const;
  // "conv (cpu.x): max error 3e-2 at [0, 1, 2, 3, 4] (got 1.5, expected 1.47), bound 4e-5"
  [[nodiscard]] std::string describe() const;
};

// Largest error that this output may show against exact arithmetic on the same inputs, by
// base/rounding.h. float32: sum_bound() for the terms that one element sums and the largest truth,
// times Implementation::error_growth. float64, which moments are: moments_bound().
[[nodiscard]] double error_bound(const OpView& view, std::size_t output, const SampleReport& report,
                                 double error_growth = 1);

// Needs a program compiled without in-place results. Never stops the run: verdicts are for the
// caller to read.
class OpCheck final : public Listener {
 public:
  // `parameters` and `team` must outlive the listener.
  OpCheck(ParameterSource& parameters, const ThreadTeam& team, SampleOptions options = {})
      : parameters_(parameters), team_(team), options_(options) {}

  // Fails only when a parameter cannot be read.
  Status on_op(const OpEvent& event) override;

  [[nodiscard]] const std::vector<OpVerdict>& verdicts() const { return verdicts_; }
  // The verdict of the highest severity; there must have been an op.
  [[nodiscard]] const OpVerdict& worst() const;

 private:
  ParameterSource& parameters_;
  const ThreadTeam& team_;
  SampleOptions options_;
  std::vector<OpVerdict> verdicts_;
};

}  // namespace mezzotint
