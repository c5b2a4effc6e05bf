// A profile of a small network, end to end.
#include "pipeline/profile_model.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "backend/cpu/cpu_backend.h"
#include "base/caches.h"
#include "pipeline/corrupt_backend.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::CorruptBackend;
using testing::test_machine;

Subject small_subject() {
  SubjectRequest request;
  request.arch = "whole-head:32";
  request.size = {16, 16, 32};
  auto subject = Subject::open(request);
  EXPECT_TRUE(subject) << subject.error().message;
  return std::move(*subject);
}

Result<CachedCalibration> two_threads() {
  CachedCalibration cached;
  Calibration& machine = cached.calibration;
  machine.threads = 2;
  machine.units = {{MathUnit::kFma, 50e9, 100e9, "", "float32"}};
  machine.levels = {{"L2", 1 << 20, 50e9, 100e9}, {"DRAM", 0, 10e9, 10e9}};
  machine.start_seconds = 5e-6;
  machine.task_seconds = 1e-7;
  cached.notes = {"Known from elsewhere."};
  return cached;
}

// Whatever the other processes of this machine do meanwhile.
ProfileOptions three_runs() {
  ProfileOptions options;
  options.timing = {1, 3, 3, 0, 0};
  options.force = true;
  options.words = "--arch whole-head:32 --size 16x16x32";
  return options;
}

Result<Profile> profile(const Backend& backend, const ProfileOptions& options = three_runs(),
                        const CancelToken* cancel = nullptr) {
  Subject subject = small_subject();
  return profile_model(subject, backend, test_machine(), two_threads, options, cancel);
}

TEST(ProfileModel, DescribesEveryOpOnceInTheOrderOfRunning) {
  const auto result = profile(*make_cpu_backend());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->grid, (std::array<std::int64_t, 3>{16, 16, 32}));
  EXPECT_EQ(result->timestep, 125);
  EXPECT_EQ(result->precision, "fp32");
  EXPECT_EQ(result->plan_hash.size(), 64U);
  ASSERT_FALSE(result->warnings.empty());
  EXPECT_EQ(result->warnings.front(), "Known from elsewhere.");
  // A machine that is busy now has more.
  EXPECT_EQ(result->runs % 3, 0);
  EXPECT_GE(result->runs, 3);
  EXPECT_GT(result->ops.size(), 100U);
  EXPECT_GT(result->peak_bytes, result->arena_bytes + result->packed_bytes);

  double sum = 0;
  double share = 0;
  std::uint64_t most_live = 0;
  for (const OpProfile& op : result->ops) {
    sum += op.seconds.median;
    share += op.share;
    most_live = std::max(most_live, op.live_bytes);
    EXPECT_LE(op.seconds.low, op.seconds.median) << op.op;
    EXPECT_LE(op.seconds.median, op.seconds.high) << op.op;
    EXPECT_GE(op.tasks, op.loops) << op.op;
    EXPECT_EQ(op.tasks, std::floor(op.tasks)) << op.op;
    ASSERT_EQ(op.busy_seconds.size(), 2U) << op.op;
    EXPECT_GE(op.imbalance, 0) << op.op;
    EXPECT_LE(op.imbalance, 0.5) << op.op;  // one of two threads has work
  }
  EXPECT_DOUBLE_EQ(result->sum_seconds, sum);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_LE(most_live, result->arena_bytes);
  EXPECT_GT(most_live, result->arena_bytes / 2);

  int ops = 0;
  for (const GroupProfile& group : result->groups) {
    ops += group.ops;
  }
  EXPECT_EQ(static_cast<std::size_t>(ops), result->ops.size());
  // As inspect counts a level: the finest grid is the one asked for.
  EXPECT_TRUE(std::ranges::any_of(
      result->groups, [](const GroupProfile& group) { return group.level == "16x16x32"; }));
}

TEST(ProfileModel, TracesWholeTasksOfAllOps) {
  const auto result = profile(*make_cpu_backend());
  ASSERT_TRUE(result) << result.error().message;
  std::vector<double> spans(result->ops.size());
  for (const TraceSpan& span : result->trace) {
    ASSERT_LT(span.op, spans.size());
    ++spans[span.op];
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i], std::max(result->ops[i].tasks, 1.0)) << result->ops[i].op;
  }
}

// Or why there is nothing to count with, never zeros.
TEST(ProfileModel, CountsWhatTheSystemAllows) {
  const auto result = profile(*make_cpu_backend());
  ASSERT_TRUE(result) << result.error().message;
  const bool counts = result->counters.find("not available here: ") != 0;
  EXPECT_FALSE(result->counters.empty());
  for (const OpProfile& op : result->ops) {
    EXPECT_EQ(op.counters.has_value(), counts) << op.op;
    if (counts && result->counters.find("cycles") == 0) {
      EXPECT_GT(op.counters->cycles.value_or(1), 0) << op.op;
    }
  }
}

TEST(ProfileModel, SpeaksFirst) {
  const auto result = profile(*make_cpu_backend());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_FALSE(result->verdict.sentences.empty());
  // The machine may be busy, which is said first.
  EXPECT_TRUE(std::ranges::any_of(result->verdict.sentences, [](const std::string& sentence) {
    return sentence.find("bounds this network here") != std::string::npos;
  }));
  for (const Advice& advice : result->verdict.advice) {
    EXPECT_LT(advice.predicted_ratio, 1) << advice.text;
    EXPECT_GT(advice.predicted_ratio, 0) << advice.text;
  }
}

TEST(ProfileModel, AnnouncesTheMemoryThatItTakes) {
  ProfileOptions options = three_runs();
  std::uint64_t predicted = 0;
  options.announce = [&](std::uint64_t bytes) { predicted = bytes; };
  const auto result = profile(*make_cpu_backend(), options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(predicted, result->arena_bytes + result->packed_bytes);
}

TEST(ProfileModel, RefusesBeyondTheLimit) {
  ProfileOptions options = three_runs();
  options.announce = [](std::uint64_t) { ADD_FAILURE() << "there is not enough memory"; };
  options.memory_limit = 1'000'000;
  const auto result = profile(*make_cpu_backend(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kResource);
  EXPECT_NE(result.error().message.find("--memory-limit allows 1 MB"), std::string::npos)
      << result.error().message;
}

TEST(ProfileModel, StopsOnRequest) {
  CancelToken cancel;
  cancel.request();
  const auto result = profile(*make_cpu_backend(), three_runs(), &cancel);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
}

// A machine on which every other evaluation, then every third and so on, is far slower.
TEST(ProfileModel, RefusesABusyMachineUnlessForced) {
  using Clock = std::chrono::steady_clock;
  int evaluation = 0;
  Clock::time_point first;
  Clock::duration usual{};  // from the first evaluation to the second
  const CorruptBackend backend(make_cpu_backend(), "middle_block.0.in_layers.2",
                               [&](const ValueType&, const Buffer&) {
                                 const auto start = Clock::now();
                                 first = evaluation == 0 ? start : first;
                                 usual = evaluation == 1 ? start - first : usual;
                                 const auto pause = usual * (evaluation++ / 2 % 4);
                                 while (Clock::now() - start < pause) {
                                 }
                               });
  ProfileOptions options = three_runs();
  options.timing = {0, 4, 4, 0, 0};
  options.force = false;
  const auto refused = profile(backend, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResource);
  EXPECT_EQ(refused.error().message.find("machine is busy: evaluations spread by "), 0U)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("at most 25 %; wait, or --force"), std::string::npos);
  EXPECT_EQ(evaluation, 2 * 12);  // three times four pairs

  options.force = true;
  const auto forced = profile(backend, options);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_EQ(forced->runs, 12);
  EXPECT_TRUE(std::ranges::any_of(forced->warnings, [](const std::string& warning) {
    return warning.find("Evaluations spread by") != std::string::npos;
  }));
}

// Processes that take every processor, as long as this lives.
class OtherWork {
 public:
  OtherWork() {
    for (std::size_t i = 0; i < 2 * allowed_processors().size(); ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
          (void)::getppid();  // a loop without any effect may be left out
        }
      }
      children_.push_back(child);
    }
  }
  ~OtherWork() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  OtherWork(const OtherWork&) = delete;
  OtherWork& operator=(const OtherWork&) = delete;

 private:
  std::vector<pid_t> children_;
};

// Two of three, on each processor: what is left may be as steady as on a quiet machine.
TEST(ProfileModel, RefusesWhatOtherWorkLeavesLittleTo) {
  const OtherWork other_work;
  ProfileOptions options = three_runs();
  options.timing = {0, 3, 3, 1, 1};
  options.force = true;
  const auto forced = profile(*make_cpu_backend(), options);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_TRUE(std::ranges::any_of(forced->warnings, [](const std::string& warning) {
    return warning.find("Other work takes this machine's processors: it left") == 0;
  })) << ::testing::PrintToString(forced->warnings);
  EXPECT_EQ(forced->verdict.sentences.front().find("Measured on a busy machine"), 0U);

  options.force = false;
  const auto refused = profile(*make_cpu_backend(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResource);
  EXPECT_EQ(refused.error().message.find("machine is busy: "), 0U) << refused.error().message;
}

}  // namespace
}  // namespace mezzotint
