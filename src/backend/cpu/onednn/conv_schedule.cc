#include "backend/cpu/onednn/conv_schedule.h"

#include <algorithm>

namespace mezzotint {
namespace {

// Products that one call may add to an output, where its taps can be divided: the 64 channels of
// the finest level, which are the most work, in three calls.
constexpr std::int64_t kLongestChain = 576;
// Output elements of a block that several calls add to: 256 KiB, a part of an L2 cache.
constexpr std::int64_t kBlockElements = 65536;
// Blocks that one call makes need not stay in cache: this many of them occupy a socket's threads.
constexpr std::int64_t kMostWholeBlocks = 32;

// Calls read and write blocks without gaps, so that one call takes several planes only where it
// takes all rows of each, of the source as of the result.
bool takes_all_rows(const ConvSchedule& schedule) {
  const AxisSpan rows = span_of(0, schedule.dst[3], 0, schedule.weight[3], schedule.region.stride,
                                schedule.region.padding, schedule.src[3]);
  return rows.dst_count == schedule.dst[3] && rows.src_count == schedule.src[3];
}

std::vector<TapGroup> group_taps(const Shape& weight, bool all_rows) {
  const std::int64_t row = weight[1] * weight[4];
  const std::int64_t plane = row * weight[3];
  const std::int64_t depth_count = all_rows && plane * weight[2] <= kLongestChain ? weight[2] : 1;
  const std::int64_t height_count = plane <= kLongestChain ? weight[3] : 1;
  std::vector<TapGroup> groups;
  for (std::int64_t depth = 0; depth < weight[2]; depth += depth_count) {
    for (std::int64_t height = 0; height < weight[3]; height += height_count) {
      groups.push_back({depth, depth_count, height, height_count});
    }
  }
  return groups;
}

struct Range {
  std::int64_t begin;
  std::int64_t count;
};

std::vector<Range> cut(std::int64_t extent, std::int64_t most) {
  std::vector<Range> ranges;
  for (std::int64_t begin = 0; begin < extent; begin += most) {
    ranges.push_back({begin, std::min(most, extent - begin)});
  }
  return ranges;
}

// Each range of planes with each range of rows is a block.
struct Blocks {
  std::vector<Range> planes;
  std::vector<Range> rows;
};

bool takes_whole_planes(const ConvSchedule& schedule) {
  return schedule.operands == DType::kF32 && takes_all_rows(schedule) &&
         schedule.groups.size() == 1;
}

// With several groups a block lies in one plane, since a group may leave out rows at its edge. So
// does one whose source is gathered, which keeps that source within an L2 cache.
Blocks cut_output(const ConvSchedule& schedule) {
  const Shape& dst = schedule.dst;
  if (takes_whole_planes(schedule)) {
    return {cut(dst[2], (dst[2] + kMostWholeBlocks - 1) / kMostWholeBlocks), cut(dst[3], dst[3])};
  }
  const std::int64_t row_elements = dst[4] * dst[1];
  return {cut(dst[2], 1),
          cut(dst[3], std::clamp<std::int64_t>(kBlockElements / row_elements, 1, dst[3]))};
}

AxisSpan depth_span(const ConvSchedule& schedule, const Range& planes, const TapGroup& group) {
  return span_of(planes.begin, planes.count, group.depth_begin, group.depth_count,
                 schedule.region.stride, schedule.region.padding, schedule.src[2]);
}

AxisSpan height_span(const ConvSchedule& schedule, const Range& rows, const TapGroup& group) {
  return span_of(rows.begin, rows.count, group.height_begin, group.height_count,
                 schedule.region.stride, schedule.region.padding, schedule.src[3]);
}

struct CountedSpan {
  AxisSpan span;
  std::int64_t count;
};

void count_span(const AxisSpan& span, std::vector<CountedSpan>& counted) {
  if (span.dst_count == 0) {
    return;
  }
  const auto known = std::ranges::find_if(
      counted, [&](const CountedSpan& other) { return other.span.same_form(span); });
  if (known == counted.end()) {
    counted.push_back({span, 1});
  } else {
    ++known->count;
  }
}

std::vector<CallForm>::iterator find_form(std::vector<CallForm>& forms, const CallForm& form) {
  return std::ranges::find_if(forms, [&](const CallForm& other) {
    return other.source == form.source && other.depth.same_form(form.depth) &&
           other.height.same_form(form.height) && other.depth_taps == form.depth_taps &&
           other.height_taps == form.height_taps;
  });
}

// Along each axis all blocks but those at the edges are alike.
void add_forms(ConvSchedule& schedule, const Blocks& blocks, const TapGroup& group) {
  std::vector<CountedSpan> depths;
  for (const Range& planes : blocks.planes) {
    count_span(depth_span(schedule, planes, group), depths);
  }
  std::vector<CountedSpan> heights;
  for (const Range& rows : blocks.rows) {
    count_span(height_span(schedule, rows, group), heights);
  }
  for (std::size_t source = 0; source < schedule.region.sources.size(); ++source) {
    for (const CountedSpan& depth : depths) {
      for (const CountedSpan& height : heights) {
        const CallForm form{source,
                            depth.span,
                            height.span,
                            group.depth_count,
                            group.height_count,
                            depth.count * height.count};
        const auto known = find_form(schedule.forms, form);
        if (known == schedule.forms.end()) {
          schedule.forms.push_back(form);
        } else {
          known->calls += form.calls;
        }
      }
    }
  }
}

void add_calls(ConvSchedule& schedule, const Range& planes, const Range& rows, std::size_t source) {
  const Shape& src = schedule.src;
  const Shape& dst = schedule.dst;
  const std::int64_t src_row = src[4] * schedule.region.sources[source].channels;
  const std::int64_t dst_row = dst[4] * dst[1];
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const TapGroup& group = schedule.groups[g];
    const AxisSpan depth = depth_span(schedule, planes, group);
    const AxisSpan height = height_span(schedule, rows, group);
    if (depth.dst_count == 0 || height.dst_count == 0) {
      continue;
    }
    const auto form = find_form(schedule.forms,
                                {source, depth, height, group.depth_count, group.height_count, 0});
    schedule.calls.push_back({static_cast<std::size_t>(form - schedule.forms.begin()), g,
                              (depth.src_begin * src[3] + height.src_begin) * src_row,
                              (depth.dst_begin * dst[3] + height.dst_begin) * dst_row});
  }
}

}  // namespace

AxisSpan span_of(std::int64_t dst_begin, std::int64_t dst_count, std::int64_t tap_begin,
                 std::int64_t tap_count, std::int64_t stride, std::int64_t padding,
                 std::int64_t src_extent) {
  const auto first_read = [&](std::int64_t dst) { return dst * stride - padding + tap_begin; };
  std::int64_t begin = dst_begin;
  std::int64_t end = dst_begin + dst_count;
  while (begin < end && first_read(begin) + tap_count <= 0) {
    ++begin;
  }
  while (begin < end && first_read(end - 1) >= src_extent) {
    --end;
  }
  if (begin == end) {
    return {};
  }
  const std::int64_t low = first_read(begin);
  const std::int64_t high = first_read(end - 1) + tap_count;
  AxisSpan span;
  span.dst_begin = begin;
  span.dst_count = end - begin;
  span.src_begin = std::max<std::int64_t>(low, 0);
  span.src_count = std::min(high, src_extent) - span.src_begin;
  span.pad_before = span.src_begin - low;
  span.pad_after = std::max<std::int64_t>(high - src_extent, 0);
  return span;
}

ConvSchedule conv_forms(const OpView& view, const ConvRegion& region, DType operands) {
  ConvSchedule schedule;
  schedule.region = region;
  schedule.operands = operands;
  schedule.src = view.input(region.sources[0].input).type.shape;
  schedule.dst = view.output().type.shape;
  schedule.weight = view.input(region.weight).type.shape;
  schedule.samples = schedule.dst[0];
  schedule.groups = operands != DType::kF32
                        ? std::vector<TapGroup>{{0, schedule.weight[2], 0, schedule.weight[3]}}
                        : group_taps(schedule.weight, takes_all_rows(schedule));
  const Blocks blocks = cut_output(schedule);
  for (const TapGroup& group : schedule.groups) {
    add_forms(schedule, blocks, group);
  }
  return schedule;
}

ConvSchedule schedule_conv(const OpView& view, const ConvRegion& region, DType operands) {
  ConvSchedule schedule = conv_forms(view, region, operands);
  const std::int64_t row_elements = schedule.dst[4] * schedule.dst[1];
  const Blocks blocks = cut_output(schedule);
  for (const Range& planes : blocks.planes) {
    for (const Range& rows : blocks.rows) {
      ConvTask task;
      task.dst_offset = (planes.begin * schedule.dst[3] + rows.begin) * row_elements;
      task.dst_elements = planes.count * rows.count * row_elements;
      task.first_call = schedule.calls.size();
      for (std::size_t source = 0; source < region.sources.size(); ++source) {
        add_calls(schedule, planes, rows, source);
      }
      task.call_count = schedule.calls.size() - task.first_call;
      schedule.tasks.push_back(task);
    }
  }
  return schedule;
}

}  // namespace mezzotint
