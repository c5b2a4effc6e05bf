// How far an inspection came when a step of it failed.
#pragma once

#include <utility>

#include "mezzotint/result.h"

namespace mezzotint {

// What was found by then, with the step's error as its `problem`. A stop on request is no finding.
template <typename Answer>
Result<Answer> with_problem(Answer answer, const Status& status) {
  if (!status) {
    if (status.error().code == ErrorCode::kCancelled) {
      return status.error();
    }
    answer.problem = status.error();
  }
  return answer;
}

}  // namespace mezzotint
