// Timing in turns: which op runs after which, and what is made of it.
#include "tune/stopwatch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "graph/text.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::parse;

constexpr std::string_view kGraph = R"(input %x step float32[1, 4, 2, 2, 2]
%y = add(%x, %x)
output %y
)";

// Writes its letter down, and takes as long as it is told.
class Scribe final : public Implementation {
 public:
  // The first time it takes `first_seconds` more.
  Scribe(char letter, std::string& notes, double seconds = 0, double first_seconds = 0)
      : letter_(letter), notes_(notes), seconds_(seconds), first_seconds_(first_seconds) {}
  std::string_view name() const override { return "test.scribe"; }
  std::optional<std::string> refusal(const OpView& /*view*/,
                                     const Target& /*target*/) const override {
    return std::nullopt;
  }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& /*view*/,
                                          const Target& /*target*/) const override {
    return std::unique_ptr<Kernel>(std::make_unique<Note>(*this));
  }

 private:
  class Note final : public Kernel {
   public:
    explicit Note(const Scribe& scribe) : scribe_(scribe) {}
    void launch(const LaunchContext& context) const override {
      EXPECT_NE(context.inputs[0].data, context.outputs[0].data);
      const auto start = std::chrono::steady_clock::now();
      const bool is_first = scribe_.notes_.find(scribe_.letter_) == std::string::npos;
      scribe_.notes_ += scribe_.letter_;
      const std::chrono::duration<double> wanted(scribe_.seconds_ +
                                                 (is_first ? scribe_.first_seconds_ : 0));
      while (std::chrono::steady_clock::now() - start < wanted) {
      }
    }

   private:
    const Scribe& scribe_;
  };

  char letter_;
  std::string& notes_;
  double seconds_;
  double first_seconds_;
};

class StopwatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto stopwatch = Stopwatch::create(target_, team_);
    ASSERT_TRUE(stopwatch.ok());
    stopwatch_.emplace(std::move(*stopwatch));
    options_.least_runs = 2;
    options_.enough_seconds = 0;
    options_.least_pairs = 4;
    options_.enough_pair_seconds = 0;
  }

  Target target_{testing::test_machine(1), Precision::kFp32};
  ThreadTeam team_{1};
  std::optional<Stopwatch> stopwatch_;
  StopwatchOptions options_;
  Graph graph_ = parse(kGraph);
  Graph other_ = parse(kGraph);
  std::string notes_;
};

TEST_F(StopwatchTest, WaysTakeTurns) {
  const Scribe a('a', notes_, 1e-4);
  const Scribe b('b', notes_, 1e-4);
  const Scribe c('c', notes_, 1e-4);
  const TimedWay ways[] = {{&graph_, &a}, {&graph_, &b}, {&other_, &c}};
  options_.matters_seconds = 1;  // none is measured anew
  const auto timings = stopwatch_->measure(ways, options_, nullptr);
  ASSERT_TRUE(timings.ok()) << timings.error().message;
  EXPECT_EQ(timings->size(), 3U);
  // Unless it lost its first run, by other load, each comes in each round.
  if ((*timings)[0].runs == 2 && (*timings)[1].runs == 2 && (*timings)[2].runs == 2) {
    EXPECT_EQ(notes_, "abcabcabc");
  }
}

TEST_F(StopwatchTest, WhatIsFarSlowerForTheSameOpIsRunNoMoreThanTwice) {
  const Scribe fast('a', notes_);
  const Scribe slow('b', notes_, 0.05);
  const TimedWay ways[] = {{&graph_, &fast}, {&graph_, &slow}};
  options_.repetitions = 0;
  const auto timings = stopwatch_->measure(ways, options_, nullptr);
  ASSERT_TRUE(timings.ok()) << timings.error().message;
  EXPECT_EQ((*timings)[1].runs, 2);
  EXPECT_EQ(std::ranges::count(notes_, 'b'), 2);
  // Slow as it is, it has no rival.
  notes_.clear();
  const TimedWay alone[] = {{&graph_, &fast}, {&other_, &slow}};
  ASSERT_TRUE(stopwatch_->measure(alone, options_, nullptr).ok());
  EXPECT_EQ(std::ranges::count(notes_, 'b'), 3);
}

TEST_F(StopwatchTest, SidesAlternateWhichBegins) {
  const Scribe a('a', notes_);
  const Scribe b('b', notes_);
  const Scribe c('c', notes_);
  const TimedWay standard[] = {{&graph_, &a}, {&graph_, &b}};
  const TimedWay changed[] = {{&graph_, &c}};
  const auto pairs = stopwatch_->compare(standard, changed, options_, nullptr);
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_EQ(notes_,
            "abc"
            "abc"
            "cab"
            "abc"
            "cab");  // the first pair is not timed
  EXPECT_EQ(pairs->pairs, 4);
}

TEST_F(StopwatchTest, ComparesWithWhatTakesTwiceAsLong) {
  const Scribe one('a', notes_, 2e-3);
  const Scribe two('b', notes_, 4e-3);
  const TimedWay standard[] = {{&graph_, &one}};
  const TimedWay changed[] = {{&graph_, &two}};
  const auto pairs = stopwatch_->compare(standard, changed, options_, nullptr);
  ASSERT_TRUE(pairs.ok());
  EXPECT_GT(pairs->ratio, 1);
  EXPECT_GE(pairs->high_ratio, pairs->ratio);
  EXPECT_GE(pairs->standard_seconds, 2e-3);
  const auto nothing = stopwatch_->compare(standard, {}, options_, nullptr);
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->ratio, 0);
}

// Its first run is slow, as that of cold code may be.
TEST_F(StopwatchTest, OneSlowRunLosesNothing) {
  const Scribe fast('a', notes_, 1e-3);
  const Scribe cold('b', notes_, 1e-3, 0.05);
  const TimedWay ways[] = {{&graph_, &fast}, {&graph_, &cold}};
  const auto timings = stopwatch_->measure(ways, options_, nullptr);
  ASSERT_TRUE(timings.ok()) << timings.error().message;
  EXPECT_LT((*timings)[1].seconds, 0.05);
}

TEST_F(StopwatchTest, ADeadlineThatIsOverTimesNothing) {
  const Scribe a('a', notes_);
  const TimedWay ways[] = {{&graph_, &a}};
  options_.deadline = Deadline(0);
  const auto timings = stopwatch_->measure(ways, options_, nullptr);
  ASSERT_TRUE(timings.ok()) << timings.error().message;
  EXPECT_TRUE(timings->empty());
  const auto pairs = stopwatch_->compare(ways, ways, options_, nullptr);
  ASSERT_TRUE(pairs.ok()) << pairs.error().message;
  EXPECT_EQ(pairs->pairs, 0);
}

TEST_F(StopwatchTest, StopsOnRequest) {
  CancelToken cancel;
  cancel.request();
  const Scribe a('a', notes_);
  const TimedWay ways[] = {{&graph_, &a}};
  const auto timings = stopwatch_->measure(ways, options_, &cancel);
  ASSERT_FALSE(timings.ok());
  EXPECT_EQ(timings.error().code, ErrorCode::kCancelled);
  const auto pairs = stopwatch_->compare(ways, ways, options_, &cancel);
  ASSERT_FALSE(pairs.ok());
  EXPECT_EQ(pairs.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace mezzotint
