// Cuts a convolution into single-threaded calls, each of which adds the products of some kernel
// taps to a block of the output.
//
// Two reasons. The library, left to split the work itself, chooses its blocking, and with it the
// order of its sums, by the number of threads: here the cut depends on the shape alone, so the
// bytes do not depend on threads. And it sums all channels and taps in one chain, whose rounding
// error is five times that of shorter chains added up (measured at 96 channels, 27 taps); calls by
// tap row cost no measurable speed while the block stays in cache.
//
// Operands in bfloat16 are gathered: each call's part of a source is converted into a block of the
// worker's own. That block has no gaps, so that one call takes all taps; its chain of additions in
// float32 rounds some hundred times less than the operands were rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/conv_region.h"
#include "graph/types.h"

namespace mezzotint {

// Taps of one call: ranges along depth and height, all taps along width.
struct TapGroup {
  std::int64_t depth_begin = 0;
  std::int64_t depth_count = 1;
  std::int64_t height_begin = 0;
  std::int64_t height_count = 1;
};

// What part of the input a range of outputs reads through a range of taps, along one axis. Outputs
// that would read padding only are left out.
struct AxisSpan {
  std::int64_t dst_begin = 0;
  std::int64_t dst_count = 0;  // 0: nothing to add
  std::int64_t src_begin = 0;
  std::int64_t src_count = 0;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;

  // All but the place.
  [[nodiscard]] bool same_form(const AxisSpan& other) const {
    return dst_count == other.dst_count && src_count == other.src_count &&
           pad_before == other.pad_before && pad_after == other.pad_after;
  }
};

[[nodiscard]] AxisSpan span_of(std::int64_t dst_begin, std::int64_t dst_count,
                               std::int64_t tap_begin, std::int64_t tap_count, std::int64_t stride,
                               std::int64_t padding, std::int64_t src_extent);

// Calls of one form differ in addresses only.
struct CallForm {
  std::size_t source = 0;
  AxisSpan depth;
  AxisSpan height;
  std::int64_t depth_taps = 1;
  std::int64_t height_taps = 1;
  std::int64_t calls = 0;  // of a sample
};

// Offsets are in elements from the beginning of a sample.
struct ConvCall {
  std::size_t form = 0;
  std::size_t group = 0;
  std::int64_t src_offset = 0;
  std::int64_t dst_offset = 0;
};

// A contiguous block of the output, made by one worker.
struct ConvTask {
  std::int64_t dst_offset = 0;
  std::int64_t dst_elements = 0;
  std::size_t first_call = 0;
  std::size_t call_count = 0;
};

struct ConvSchedule {
  ConvRegion region;
  DType operands = DType::kF32;  // what calls multiply; kBF16: sources are gathered
  std::int64_t samples = 1;      // computed one by one
  Shape src;                     // of the first source; others differ in channels only
  Shape dst;
  Shape weight;
  std::vector<TapGroup> groups;
  std::vector<CallForm> forms;
  std::vector<ConvCall> calls;
  std::vector<ConvTask> tasks;

  // Of a source, as many as calls of this form read.
  [[nodiscard]] std::int64_t source_elements(const CallForm& form) const {
    return form.depth.src_count * form.height.src_count * src[4] *
           region.sources[form.source].channels;
  }
};

// `operands`: kF32 or kBF16. Of calls and tasks, as many as the output has rows for each group,
// there are none: compile asks about a convolution often before it makes one.
[[nodiscard]] ConvSchedule conv_forms(const OpView& view, const ConvRegion& region, DType operands);

// The same, complete.
[[nodiscard]] ConvSchedule schedule_conv(const OpView& view, const ConvRegion& region,
                                         DType operands);

}  // namespace mezzotint
