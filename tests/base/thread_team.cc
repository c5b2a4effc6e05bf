#include "base/thread_team.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <omp.h>

#include <atomic>
#include <vector>

namespace mezzotint {
namespace {

constexpr unsigned kFlushBits = 0x8040;  // MXCSR: flush-to-zero, denormals-are-zero

std::vector<unsigned> worker_states(int threads) {
  std::vector<unsigned> states(threads, 0xFFFF);
#pragma omp parallel num_threads(threads)
  states[omp_get_thread_num()] = _mm_getcsr();
  return states;
}

TEST(ThreadTeam, SizeIsAsAskedOrWhatIsAvailable) {
  EXPECT_EQ(ThreadTeam(3).size(), 3);
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(ThreadTeam().size(), available_processors());
  EXPECT_EQ(ThreadTeam(-1).size(), available_processors());
}

TEST(ThreadTeam, EveryIndexRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      ThreadTeam(threads).parallel_for(count, [&](std::int64_t i) { ++visits[i]; });
      for (const auto& visit : visits) {
        ASSERT_EQ(visit.load(), 1) << threads << " threads, count " << count;
      }
    }
  }
}

TEST(ComputeScope, FlushesInCallerAndWorkersAndRestoresBoth) {
  const std::vector<unsigned> before = worker_states(4);
  for (const unsigned state : before) {
    ASSERT_EQ(state & kFlushBits, 0U);
  }
  {
    const ComputeScope scope(ThreadTeam(4));
    for (const unsigned state : worker_states(4)) {
      EXPECT_EQ(state & kFlushBits, kFlushBits);
    }
    const volatile float smallest = 0x1p-126F;
    const volatile float half = smallest * 0.5F;
    EXPECT_EQ(half, 0.0F);
  }
  EXPECT_EQ(worker_states(4), before);
  const volatile float smallest = 0x1p-126F;
  const volatile float half = smallest * 0.5F;
  EXPECT_GT(half, 0.0F);
}

TEST(ComputeScope, GivesTheCallerBackItsOwnState) {
  const unsigned original = _mm_getcsr();
  const unsigned flush_only = (original & ~kFlushBits) | 0x8000;
  _mm_setcsr(flush_only);
  { const ComputeScope scope(ThreadTeam(2)); }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(original);
  EXPECT_EQ(after, flush_only);
}

TEST(ComputeScope, SetsTheThreadCountOfOtherLibraries) {
  const int before = omp_get_max_threads();
  {
    const ComputeScope scope(ThreadTeam(before + 1));
    EXPECT_EQ(omp_get_max_threads(), before + 1);
  }
  EXPECT_EQ(omp_get_max_threads(), before);
}

}  // namespace
}  // namespace mezzotint
