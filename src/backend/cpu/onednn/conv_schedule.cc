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

struct Block {
  std::int64_t depth_begin;
  std::int64_t depth_count;
  std::int64_t row_begin;
  std::int64_t row_count;
};

// With several groups a block lies in one plane, since a group may leave out rows at its edge. So
// does one whose source is gathered, which keeps that source within an L2 cache.
std::vector<Block> cut_output(const Shape& dst, bool whole_planes) {
  const std::int64_t row_elements = dst[4] * dst[1];
  const std::int64_t depth = whole_planes ? (dst[2] + kMostWholeBlocks - 1) / kMostWholeBlocks : 1;
  const std::int64_t rows =
      whole_planes ? dst[3] : std::clamp<std::int64_t>(kBlockElements / row_elements, 1, dst[3]);
  std::vector<Block> blocks;
  for (std::int64_t z = 0; z < dst[2]; z += depth) {
    for (std::int64_t y = 0; y < dst[3]; y += rows) {
      blocks.push_back({z, std::min(depth, dst[2] - z), y, std::min(rows, dst[3] - y)});
    }
  }
  return blocks;
}

std::size_t find_or_add(std::vector<CallForm>& forms, const CallForm& form) {
  const auto known = std::find_if(forms.begin(), forms.end(), [&](const CallForm& other) {
    return other.source == form.source && other.depth.same_form(form.depth) &&
           other.height.same_form(form.height) && other.depth_taps == form.depth_taps &&
           other.height_taps == form.height_taps;
  });
  const auto index = static_cast<std::size_t>(known - forms.begin());
  if (known == forms.end()) {
    forms.push_back(form);
  }
  return index;
}

void add_calls(ConvSchedule& schedule, const Block& block, std::size_t source) {
  const Shape& src = schedule.src;
  const Shape& dst = schedule.dst;
  const ConvRegion& region = schedule.region;
  const std::int64_t src_row = src[4] * region.sources[source].channels;
  const std::int64_t dst_row = dst[4] * dst[1];
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const TapGroup& group = schedule.groups[g];
    const AxisSpan depth = span_of(block.depth_begin, block.depth_count, group.depth_begin,
                                   group.depth_count, region.stride, region.padding, src[2]);
    const AxisSpan height = span_of(block.row_begin, block.row_count, group.height_begin,
                                    group.height_count, region.stride, region.padding, src[3]);
    if (depth.dst_count == 0 || height.dst_count == 0) {
      continue;
    }
    const std::size_t form =
        find_or_add(schedule.forms, {source, depth, height, group.depth_count, group.height_count});
    schedule.calls.push_back({form, g, (depth.src_begin * src[3] + height.src_begin) * src_row,
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

ConvSchedule schedule_conv(const OpView& view, const ConvRegion& region, DType operands) {
  ConvSchedule schedule;
  schedule.region = region;
  schedule.operands = operands;
  schedule.src = view.input(region.sources[0].input).type.shape;
  schedule.dst = view.output().type.shape;
  schedule.weight = view.input(region.weight).type.shape;
  schedule.samples = schedule.dst[0];
  const bool gathers = operands != DType::kF32;
  const bool all_rows = !gathers && takes_all_rows(schedule);
  schedule.groups = gathers ? std::vector<TapGroup>{{0, schedule.weight[2], 0, schedule.weight[3]}}
                            : group_taps(schedule.weight, all_rows);
  const std::int64_t row_elements = schedule.dst[4] * schedule.dst[1];
  const bool whole_planes = all_rows && schedule.groups.size() == 1;
  for (const Block& block : cut_output(schedule.dst, whole_planes)) {
    ConvTask task;
    task.dst_offset = (block.depth_begin * schedule.dst[3] + block.row_begin) * row_elements;
    task.dst_elements =
        (whole_planes ? block.depth_count * schedule.dst[3] : block.row_count) * row_elements;
    task.first_call = schedule.calls.size();
    for (std::size_t source = 0; source < region.sources.size(); ++source) {
      add_calls(schedule, block, source);
    }
    task.call_count = schedule.calls.size() - task.first_call;
    schedule.tasks.push_back(task);
  }
  return schedule;
}

}  // namespace mezzotint
