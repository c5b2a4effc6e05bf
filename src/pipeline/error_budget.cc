#include "pipeline/error_budget.h"

#include <algorithm>
#include <limits>

namespace mezzotint {

ErrorBounds error_bounds(Precision precision) {
  switch (precision) {
    case Precision::kStrict: return {1e-5, 4, std::nullopt};
    case Precision::kFp32: return {1e-5, 8, std::nullopt};
    case Precision::kFast: break;
  }
  return {2e-2, std::nullopt, 1.5};
}

TuneDistance evaluation_budget(Precision precision) {
  const ErrorBounds bounds = error_bounds(precision);
  TuneDistance budget{bounds.relative_l2, std::numeric_limits<double>::infinity()};
  if (bounds.pytorch_bf16_errors) {
    budget.relative_l2 =
        std::min(budget.relative_l2, *bounds.pytorch_bf16_errors * kPytorchBf16RelativeL2);
  }
  budget.relative_l2 =
      precision == Precision::kStrict ? kStrictRelativeL2 : budget.relative_l2 - kStrictRelativeL2;
  if (bounds.pytorch_errors) {
    budget.largest = (*bounds.pytorch_errors - kStrictPytorchErrors) * kPytorchLargest;
  }
  return budget;
}

}  // namespace mezzotint
