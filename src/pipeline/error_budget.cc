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
  switch (precision) {
    // Twice 1.6 errors of PyTorch are below the 4 allowed: as far again as the strict plan errs.
    case Precision::kStrict:
      return {kStrictRelativeL2, (*bounds.pytorch_errors - kStrictPytorchErrors) * kPytorchLargest};
    // Both bounds, less what the strict plan itself errs.
    case Precision::kFp32:
      return {bounds.relative_l2 - kStrictRelativeL2,
              (*bounds.pytorch_errors - kStrictPytorchErrors) * kPytorchLargest};
    // The tighter of the two bounds of the relative L2, less the same; the largest error has none.
    case Precision::kFast: break;
  }
  return {std::min(bounds.relative_l2, *bounds.pytorch_bf16_errors * kPytorchBf16RelativeL2) -
              kStrictRelativeL2,
          std::numeric_limits<double>::infinity()};
}

}  // namespace mezzotint
