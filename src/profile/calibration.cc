#include "profile/calibration.h"

#include <algorithm>

namespace mezzotint {

bool Calibration::is_good() const {
  return limited.empty() && spread && *spread <= kMostCalibrationSpread;
}

const UnitPeak* Calibration::find(MathUnit unit) const {
  const auto found = std::ranges::find(units, unit, &UnitPeak::unit);
  return found != units.end() && found->absent.empty() ? &*found : nullptr;
}

}  // namespace mezzotint
