#include "base/processor_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "base/caches.h"
#include "base/file_test_base.h"

namespace mezzotint {
namespace {

class ProcessorLoad : public FileTest {
 protected:
  // What a system says in proc/stat.
  void say(const std::string& text) const {
    std::filesystem::create_directories(in("proc"));
    put(in("proc/stat"), text);
  }
  [[nodiscard]] std::optional<ProcessorTimes> times(std::vector<int> processors) const {
    return processor_times(processors, in(""));
  }
};

TEST_F(ProcessorLoad, IsThatOfTheProcessorsAskedFor) {
  say("cpu  1000 0 0 9000 0 0 0 0 0 0\n"
      "cpu0 100 20 30 400 50 6 7 80 60 0\n"
      "cpu1 200 0 0 300 0 0 0 0 0 0\n"
      "cpu11 9999 0 0 0 0 0 0 0 0 0\n"
      "intr 5\n");
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto both = times({0, 1});
  ASSERT_TRUE(both);
  // Guests (the 60) are in the first column already.
  EXPECT_DOUBLE_EQ(both->total, (693 + 500) / ticks);
  EXPECT_DOUBLE_EQ(both->busy, (100 + 20 + 30 + 6 + 7 + 80 + 200) / ticks);
  EXPECT_DOUBLE_EQ(times({1})->total, 500 / ticks);
}

TEST_F(ProcessorLoad, IsNotKnownWhereTheSystemDoesNotSay) {
  EXPECT_FALSE(times({0}));
  say("cpu0 100 20 30\n");
  EXPECT_FALSE(times({0}));
  say("cpu0 1 2 3 4 5 6 7 8\n");
  EXPECT_TRUE(times({0}));
  EXPECT_FALSE(times({0, 1}));
  EXPECT_FALSE(times({}));
}

TEST(ShareLeft, IsWhatOthersDoNotTake) {
  const ProcessorTimes before{100, 40, 10};
  // 10 s on each of 4 processors, of which this process took 15.
  EXPECT_EQ(share_left(before, {140, 55, 25}, 4, 2), 1);
  EXPECT_EQ(share_left(before, {140, 75, 25}, 4, 2), 1);     // others 2 of 4
  EXPECT_EQ(share_left(before, {140, 80, 25}, 4, 2), 0.75);  // 2.5 of 4
  EXPECT_EQ(share_left(before, {140, 75, 25}, 4, 4), 0.5);
  EXPECT_EQ(share_left(before, {140, 75, 25}, 4, 64), 0.5);          // no more than there are
  EXPECT_EQ(share_left(before, {140, 50, 25}, 4, 4), 1);             // own time is counted finer
  EXPECT_EQ(share_left(before, {101, 41, 10}, 4, 4), std::nullopt);  // a quarter of a second
}

TEST(ShareLeft, OfThisSystemDoesNotShrinkByItsOwnWork) {
  const auto processors = allowed_processors();
  const auto before = processor_times(processors);
  ASSERT_TRUE(before);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(400)) {
  }
  const auto after = processor_times(processors);
  ASSERT_TRUE(after);
  EXPECT_GT(after->own, before->own);
  // Linux may be one step late with each reading.
  EXPECT_GE(after->busy - before->busy, after->own - before->own - 0.03);
  EXPECT_LE(after->busy - before->busy, after->total - before->total);
}

}  // namespace
}  // namespace mezzotint
