// What work does with a CancelToken, which may be null: it asks between pieces and ends with
// stopped().
#pragma once

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

[[nodiscard]] inline bool stop_requested(const CancelToken* cancel) {
  return cancel != nullptr && cancel->requested();
}

[[nodiscard]] inline Error stopped() {
  return {ErrorCode::kCancelled, "stopped on request"};
}

}  // namespace mezzotint
