#include "runtime/memory_planner.h"

#include <gtest/gtest.h>

#include <random>

#include "base/aligned_buffer.h"

namespace mezzotint {
namespace {

TEST(MemoryPlanner, ReusesMemoryOfTheDead) {
  const std::vector<BufferRequest> requests{{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}};
  const BufferPlacement placement = place_buffers(requests);
  EXPECT_EQ(placement.total_bytes, 2048u);
  EXPECT_EQ(placement.offsets[0], placement.offsets[2]);
  EXPECT_NE(placement.offsets[0], placement.offsets[1]);
}

TEST(MemoryPlanner, FillsGaps) {
  // The two small ones fit beside each other into the large one's place.
  const std::vector<BufferRequest> requests{{4096, 0, 0}, {2048, 1, 2}, {2048, 1, 2}};
  EXPECT_EQ(place_buffers(requests).total_bytes, 4096u);
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  EXPECT_EQ(place_buffers({}).total_bytes, 0u);
  const std::vector<BufferRequest> empty{{0, 0, 5}};
  EXPECT_EQ(place_buffers(empty).total_bytes, 0u);
}

// Whatever the lifetimes: aligned, within the total, and disjoint while both are alive.
TEST(MemoryPlanner, BuffersAliveTogetherNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferRequest> requests;
    const std::size_t count = random() % 40 + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = random() % 30;
      requests.push_back({random() % 5000, first, first + random() % 10});
    }
    const BufferPlacement placement = place_buffers(requests);
    for (std::size_t a = 0; a < count; ++a) {
      EXPECT_EQ(placement.offsets[a] % AlignedBuffer::kAlignment, 0u);
      EXPECT_LE(placement.offsets[a] + requests[a].bytes, placement.total_bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool alive =
            requests[a].first <= requests[b].last && requests[b].first <= requests[a].last;
        const bool apart = placement.offsets[a] + requests[a].bytes <= placement.offsets[b] ||
                           placement.offsets[b] + requests[b].bytes <= placement.offsets[a];
        EXPECT_TRUE(!alive || apart || requests[a].bytes == 0 || requests[b].bytes == 0)
            << "round " << round << ": " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace mezzotint
