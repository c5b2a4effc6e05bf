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

// Largest error that a float32 computation of this output may show against exact arithmetic on the
// same inputs: 4 u sqrt(K) max|truth|, with u = 2^-24 and K the number of terms that one element
// sums.
// Rounding errors of a sum of K terms of random sign add up like a random walk: their deviation is
// u sqrt(K / 6) times that of the sum when added one after the other, less in blocks (Higham, "The
// accuracy of floating point summation", SIAM J. Sci. Comput. 1993). The largest of some thousand
// samples is about 4 deviations, and the largest truth about 4 deviations of the sum, so direct
// convolution has a margin of about 8, which sums that cancel need. The worst-case bound
// K u sum|x w| is sqrt(K) times looser: it would accept bfloat16. This one accepts neither that nor
// TF32 up to K = 10^5.
[[nodiscard]] double error_bound(const OpView& view, std::size_t output,
                                 const SampleReport& report);

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
  [[nodiscard]] bool all_ok() const;
  // The verdict of the highest severity; there must have been an op.
  [[nodiscard]] const OpVerdict& worst() const;

 private:
  ParameterSource& parameters_;
  const ThreadTeam& team_;
  SampleOptions options_;
  std::vector<OpVerdict> verdicts_;
};

}  // namespace mezzotint
