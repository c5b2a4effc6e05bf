#include <gtest/gtest.h>
#include <immintrin.h>

#include "base/thread_team.h"

namespace mezzotint {
namespace {

constexpr unsigned kFlushToZero = 0x8000;

// Whether every worker of the team flushes denormals now.
bool all_flush(const ThreadTeam& team) {
  int flushing = 0;
#pragma omp parallel num_threads(team.size()) reduction(+ : flushing)
  flushing += (_mm_getcsr() & kFlushToZero) != 0 ? 1 : 0;
  return flushing == team.size();
}

TEST(ComputeScope, MayNest) {
  const ThreadTeam team(2);
  const ComputeScope outer(team);
  {
    const ComputeScope inner(team);
    EXPECT_TRUE(all_flush(team));
  }
  EXPECT_TRUE(all_flush(team));
}

}  // namespace
}  // namespace mezzotint
