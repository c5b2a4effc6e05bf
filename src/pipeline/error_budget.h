// What a precision allows an evaluation to err, and how much of that can be held against a plan
// where PyTorch is not: docs/precision.md. The one place for these numbers.
#pragma once

#include <optional>

#include "graph/plan.h"
#include "tune/report.h"

namespace mezzotint {

// Of a prediction, against float64.
struct ErrorBounds {
  double relative_l2 = 0;
  // Its largest error in units of that of PyTorch's own float32; nothing: not bounded.
  std::optional<double> pytorch_errors;
  // Its relative L2 in units of that of PyTorch's own bfloat16; nothing: not bounded.
  std::optional<double> pytorch_bf16_errors;
};
[[nodiscard]] ErrorBounds error_bounds(Precision precision);

// Of the predictions of the parity networks, by measurement; a test compares. The strict plan's
// largest relative L2, and its largest error in units of that of PyTorch's float32.
inline constexpr double kStrictRelativeL2 = 3.5e-6;
inline constexpr double kStrictPytorchErrors = 1.6;
// PyTorch's worst evaluation of the network on which it errs least: the largest error of float32 by
// the truth's largest value, and the relative L2 of bfloat16 (autocast).
inline constexpr double kPytorchLargest = 9.1e-7;
inline constexpr double kPytorchBf16RelativeL2 = 5.0e-3;

// How far a prediction may be from the strict plan's. The bounds, for a network on which PyTorch
// errs no less than that, less the strict plan's own error: by the triangle inequality a plan keeps
// within the bounds wherever the strict plan errs as on the parity networks. `strict` has the
// strict plan's own relative L2, since twice its 1.6 errors of PyTorch's are below the 4 allowed.
[[nodiscard]] TuneDistance evaluation_budget(Precision precision);

}  // namespace mezzotint
