#include "profile/counter_recorder.h"

namespace mezzotint {

void CounterRecorder::before_op(const ProgramOp& /*op*/) {
  begin_ = counters_.read();
}

Status CounterRecorder::on_op(const OpEvent& /*event*/) {
  ops_.push_back(counters_.difference(begin_, counters_.read()));
  return {};
}

}  // namespace mezzotint
