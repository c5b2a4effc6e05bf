#include "base/caches.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file_test_base.h"

namespace mezzotint {
namespace {

// A folder with what a system says about its caches.
class CachesTest : public FileTest {
 protected:
  void add(int processor, int index, std::string_view level, std::string_view type,
           std::string_view size, std::string_view shared) const {
    const auto folder = in("sys/devices/system/cpu/cpu" + std::to_string(processor) +
                           "/cache/index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    put(folder / "level", std::string(level) + "\n");
    put(folder / "type", std::string(type) + "\n");
    put(folder / "size", std::string(size) + "\n");
    put(folder / "shared_cpu_list", std::string(shared) + "\n");
  }
  [[nodiscard]] CacheLevel find(int level, const std::vector<int>& processors) const {
    return cache_level(level, processors, in(""));
  }
};

// Eight processors: two share a core with its L2, four an L3.
TEST_F(CachesTest, CountsDifferentCachesAmongTheProcessorsAskedFor) {
  for (int processor = 0; processor < 8; ++processor) {
    const int first = processor / 2 * 2;
    const std::string core = std::to_string(first) + "-" + std::to_string(first + 1);
    add(processor, 0, "1", "Data", "32K", core);
    add(processor, 1, "2", "Instruction", "64K", core);
    add(processor, 2, "2", "Unified", "1024K", core);
    add(processor, 3, "3", "Unified", "32768K", processor < 4 ? "0-3" : "4-7");
  }
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(find(2, all).bytes, 1 << 20);
  EXPECT_EQ(find(2, all).count, 4);
  EXPECT_EQ(find(3, all).bytes, 32 << 20);
  EXPECT_EQ(find(3, all).count, 2);
  EXPECT_EQ(find(2, {4, 5, 6}).count, 2);
  EXPECT_EQ(find(3, {4, 5, 6}).count, 1);
  EXPECT_EQ(find(4, all).bytes, 0);
}

TEST_F(CachesTest, WhatTheSystemDoesNotSayIsZero) {
  EXPECT_EQ(find(2, {0}).bytes, 0);
  EXPECT_EQ(find(2, {0}).count, 0);
  for (const std::string_view size : {"", "K", "12", "-4K", "12M", "99999999999999999999K"}) {
    add(0, 0, "2", "Unified", size, "0");
    EXPECT_EQ(find(2, {0}).bytes, 0) << size;
    EXPECT_EQ(find(2, {0}).count, 0) << size;
  }
}

TEST(Caches, ThisProcessMayUseAProcessor) {
  const auto processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  const CacheLevel l2 = cache_level(2, processors);
  EXPECT_LE(l2.count, static_cast<int>(processors.size()));
}

}  // namespace
}  // namespace mezzotint
