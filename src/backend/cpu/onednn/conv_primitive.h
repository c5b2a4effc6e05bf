// The oneDNN primitives of one form of calls.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/cpu/onednn/conv_schedule.h"

namespace mezzotint {

// Adds to what the output holds. The library chooses the weights' layout, which may differ between
// forms. One thread must be in force, here and at execution. Throws dnnl::error.
[[nodiscard]] dnnl::convolution_forward::primitive_desc describe_conv_call(
    const ConvSchedule& schedule, const CallForm& form, const dnnl::engine& engine);

// Rounds a call's part of its source, which lies among the rest of it, to the schedule's operands
// (to nearest even), without gaps. The same conditions.
[[nodiscard]] dnnl::reorder::primitive_desc describe_gather(const ConvSchedule& schedule,
                                                            const CallForm& form,
                                                            const dnnl::engine& engine);

// The weights of one source and group, within the row-major weights of all.
struct WeightPart {
  dnnl::memory::desc desc;
  std::int64_t offset;  // elements
};
[[nodiscard]] WeightPart weight_part(const ConvSchedule& schedule, std::size_t source,
                                     const TapGroup& group);

}  // namespace mezzotint
