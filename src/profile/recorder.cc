#include "profile/recorder.h"

#include "base/check.h"
#include "graph/conv_region.h"
#include "graph/op_definition.h"

#include <fmt/format.h>

namespace mezzotint {

void Recorder::begin_run() {
  next_ = 0;
  trace_.clear();
  run_began_ = Clock::now();
}

void Recorder::before_op(const ProgramOp& /*op*/) {
  if (log_ != nullptr) {
    log_->clear();
  }
  op_began_ = Clock::now();
}

double Recorder::since_begin(Clock::time_point time) const {
  return std::chrono::duration<double>(time - run_began_).count();
}

Status Recorder::on_op(const OpEvent& event) {
  const auto ended = Clock::now();
  if (next_ == ops_.size()) {
    OpRecord record;
    record.op = event.op;
    record.kind = kind_of(event.view);
    record.level = level_of(event.view);
    ops_.push_back(std::move(record));
  }
  OpRecord& record = ops_[next_];
  check(record.op.name == event.op.name, "two runs of a recorder differ in their ops");
  record.seconds.push_back(event.seconds);
  record.begin = since_begin(op_began_);
  record.end = since_begin(ended);
  if (log_ != nullptr) {
    record_team(record, event.seconds);
  }
  ++next_;
  return {};
}

void Recorder::record_team(OpRecord& record, double seconds) {
  const auto op = static_cast<std::uint32_t>(next_);
  std::vector<double> busy = log_->busy_seconds();
  if (log_->loops() == 0) {
    busy[0] = seconds;
    trace_.push_back({op, 0, record.begin, record.begin + seconds});
  }
  for (const TeamLog::Span& span : log_->spans()) {
    trace_.push_back({op, span.thread, since_begin(span.begin), since_begin(span.end)});
  }
  record.imbalance.push_back(log_->loops() == 0 ? 1 - 1.0 / log_->threads() : log_->imbalance());
  record.loops += static_cast<double>(log_->loops());
  record.tasks += static_cast<double>(log_->tasks());
  record.busy_seconds.resize(busy.size());
  for (std::size_t thread = 0; thread < busy.size(); ++thread) {
    record.busy_seconds[thread] += busy[thread];
  }
}

std::string level_of(const OpView& view) {
  const Shape* volume = volume_of(view);
  return volume == nullptr ? "vectors"
                           : fmt::format("{}x{}x{}", (*volume)[4], (*volume)[3], (*volume)[2]);
}

std::string kind_of(const OpView& view) {
  if (view.op.kind == OpKind::region && describe_conv(view)) {
    return "fused conv3d";
  }
  return std::string(name_of(view.op.kind));
}

}  // namespace mezzotint
