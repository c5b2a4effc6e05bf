// A whole tune on a small network: what it puts back, and how it judges a race and a distance.
#include "pipeline/tune_model.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "backend/cpu/cpu_backend.h"
#include "base/system.h"
#include "pipeline/error_budget.h"
#include "pipeline/plan_file.h"
#include "pipeline/tune_check.h"
#include "pipeline/tune_race.h"
#include "pipeline/tune_trial.h"
#include "support/extended_backend.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using testing::test_machine;

constexpr std::string_view kHasty = "test.hasty";

// Computes nothing, in no time.
class HastyKernel final : public Kernel {
 public:
  HastyKernel(std::vector<std::size_t> bytes, std::size_t workspace_bytes)
      : bytes_(std::move(bytes)), workspace_bytes_(workspace_bytes) {}
  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  void launch(const LaunchContext& context) const override {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      std::memset(context.outputs[i].data, 0, bytes_[i]);
    }
  }

 private:
  std::vector<std::size_t> bytes_;
  std::size_t workspace_bytes_;
};

// For convolutions with one output channel: of a whole-head network that is the last.
class HastyImplementation final : public Implementation {
 public:
  explicit HastyImplementation(std::size_t workspace_bytes) : workspace_bytes_(workspace_bytes) {}
  std::string_view name() const override { return kHasty; }
  std::optional<std::string> refusal(const OpView& view, const Target& /*target*/) const override {
    return view.output().type.shape[1] == 1 ? std::nullopt
                                            : std::optional<std::string>("several outputs");
  }
  double error_growth(const OpView& /*view*/) const override { return 1000; }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                          const Target& /*target*/) const override {
    std::vector<std::size_t> bytes;
    for (const ValueId id : view.op.outputs) {
      bytes.push_back(static_cast<std::size_t>(view.graph.value(id).type.bytes()));
    }
    return std::unique_ptr<Kernel>(
        std::make_unique<HastyKernel>(std::move(bytes), workspace_bytes_));
  }

 private:
  std::size_t workspace_bytes_;
};

class HastyBackend final : public testing::ExtendedBackend {
 public:
  explicit HastyBackend(std::size_t workspace_bytes = 0)
      : ExtendedBackend(make_cpu_backend(),
                        std::make_unique<HastyImplementation>(workspace_bytes)) {}
};

class TuneModel : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mezzotint-tune-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    request_.subject.arch = "whole-head:32";
    request_.subject.size = {16, 16, 16};
    request_.out = folder_ / "plan.json";
    request_.cache = folder_ / "cache";
    request_.force = true;
    request_.stopwatch.least_runs = 1;
    request_.stopwatch.enough_seconds = 0;
    request_.stopwatch.repetitions = 0;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
  TuneRequest request_;
};

TEST_F(TuneModel, PutsBackWhatErrsAndSaysWhich) {
  const HastyBackend backend;
  const auto tuned = tune_model(
      request_, backend, test_machine(1), [](const TuneProgress&) {}, nullptr);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  const TuneReport& report = tuned->report;
  ASSERT_FALSE(report.put_back.empty());
  EXPECT_EQ(report.put_back.front().op, "out.2");
  EXPECT_NE(report.put_back.front().from.find(kHasty), std::string::npos);
  EXPECT_NE(report.put_back.front().reason.find("relative L2"), std::string::npos);
  const auto plan = read_plan(request_.out);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan_json(*plan), plan_json(tuned->file));
  for (const auto& [op, entry] : plan->plan.entries) {
    EXPECT_NE(entry.implementation, kHasty) << op;
  }
  ASSERT_TRUE(report.check);
  if (!report.is_default) {
    EXPECT_TRUE(report.check->is_within);
    EXPECT_LE(report.check->chain->relative_l2, report.check->chain_limit.relative_l2);
    EXPECT_LE(report.check->chain->largest, report.check->chain_limit.largest);
  }
}

// A plan that takes more memory than there is: the op goes back that adds most.
TEST_F(TuneModel, PutsBackWhatDoesNotFitTheMemory) {
  auto subject = Subject::open(request_.subject);
  ASSERT_TRUE(subject.ok()) << subject.error().message;
  const auto right = make_cpu_backend();
  const Machine machine = test_machine(1);
  const auto trial = TuneTrial::create(*subject, *right, machine, nullptr);
  ASSERT_TRUE(trial.ok()) << trial.error().message;
  const auto session = trial->compile_plan({});
  ASSERT_TRUE(session.ok()) << session.error().message;
  // Room for two plans such as the default and for what measuring leaves; not for the workspace.
  const std::uint64_t room = 3 * session->predicted_bytes() + (std::uint64_t{256} << 20);
  request_.memory_limit = resident_bytes() + room;
  const HastyBackend backend(room);
  const auto tuned = tune_model(
      request_, backend, machine, [](const TuneProgress&) {}, nullptr);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  ASSERT_FALSE(tuned->report.put_back.empty());
  EXPECT_EQ(tuned->report.put_back.front().op, "out.2");
  EXPECT_NE(tuned->report.put_back.front().reason.find("memory"), std::string::npos)
      << tuned->report.put_back.front().reason;
  for (const auto& [op, entry] : tuned->file.plan.entries) {
    EXPECT_NE(entry.implementation, kHasty) << op;
  }
}

// All the time goes by while the first op is timed: choosing does not go on after it.
TEST_F(TuneModel, AChoiceEndsAtTheDeadline) {
  request_.max_seconds = 10;
  const Deadline deadline(request_.max_seconds);
  const HastyBackend backend;
  const auto tuned = tune_model(
      request_, backend, test_machine(1),
      [&](const TuneProgress& progress) {
        if (progress.stage == "measuring") {
          std::this_thread::sleep_for(std::chrono::duration<double>(deadline.left() + 0.1));
        }
      },
      nullptr);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  EXPECT_TRUE(tuned->report.is_default);
  EXPECT_EQ(tuned->report.verdict,
            "the time was used up before a plan was chosen: the default plan was written");
  EXPECT_FALSE(tuned->report.check);
  EXPECT_TRUE(fs::exists(request_.out));
}

TEST_F(TuneModel, WritesNoFileThatNobodyAskedFor) {
  request_.out.clear();
  const auto tuned = tune_model(
      request_, *make_cpu_backend(), test_machine(1), [](const TuneProgress&) {}, nullptr);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  EXPECT_FALSE(tuned->file.plan.entries.empty());
  EXPECT_FALSE(fs::exists(folder_ / "plan.json"));
}

TEST_F(TuneModel, ACancelledTuneLeavesNoPlan) {
  CancelToken cancel;
  const auto report = tune_model(
      request_, *make_cpu_backend(), test_machine(1),
      [&](const TuneProgress& progress) {
        if (progress.stage == "measuring") {
          cancel.request();
        }
      },
      &cancel);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(fs::exists(request_.out));
}

TEST(TuneTrial, TheStrictPlanIsNoDistanceFromItself) {
  SubjectRequest request;
  request.arch = "whole-head:32";
  request.size = {16, 16, 16};
  auto subject = Subject::open(request);
  ASSERT_TRUE(subject.ok()) << subject.error().message;
  const auto backend = make_cpu_backend();
  const Machine machine = test_machine(1);
  auto trial = TuneTrial::create(*subject, *backend, machine, nullptr);
  ASSERT_TRUE(trial.ok()) << trial.error().message;
  std::vector<float> condition(static_cast<std::size_t>(subject->elements(2)), -1.0F);
  trial->set_condition(condition);
  const auto go_on = [](int, int) { return true; };
  ASSERT_TRUE(trial->run_reference(go_on).ok());
  Plan strict;
  strict.precision = Precision::kStrict;
  auto session = trial->open(strict);
  ASSERT_TRUE(session.ok()) << session.error().message;
  const auto distances = trial->distances(*session);
  ASSERT_TRUE(distances.ok());
  ASSERT_EQ(distances->size(), 5U);
  EXPECT_EQ(worst(*distances).relative_l2, 0);
  EXPECT_EQ(worst(*distances).largest, 0);
  EXPECT_EQ(trial->chain_distance(*session, go_on)->relative_l2, 0);
  // Ten times the disturbance moves the volume about ten times as far.
  const TuneDistance small = *trial->disturbed_distance(*session, 1e-5, go_on);
  const TuneDistance large = *trial->disturbed_distance(*session, 1e-4, go_on);
  EXPECT_GT(small.relative_l2, 0);
  EXPECT_GT(large.relative_l2, 3 * small.relative_l2);
  EXPECT_GT(small.largest, 0);
  EXPECT_GT(large.largest, 3 * small.largest);
}

TEST(TuneRace, IsATieWithoutAClearGain) {
  EXPECT_FALSE(is_tie({1.0, 0.9, 0.1, 0.05, 0.15, 9}));
  EXPECT_TRUE(is_tie({1.0, 0.995, 0.005, 0.004, 0.006, 9}));  // below 1 %
  EXPECT_TRUE(is_tie({1.0, 0.9, 0.1, -0.01, 0.2, 9}));        // may be slower
  EXPECT_TRUE(is_tie({1.0, 1.1, -0.1, -0.2, -0.1, 9}));
}

// Of n tosses at most k are heads with a probability of at most 0.025 up to k = 0, 1, 5, 13 for n =
// 6, 9, 20, 40 (binomial tables).
TEST(MedianInterval, LeavesOutWhatASignTestDoes) {
  const auto of = [](int count) {
    std::vector<double> samples;
    for (int i = count; i > 0; --i) {
      samples.push_back(i);
    }
    return median_interval(samples, 0.95);
  };
  const auto is = [](const Interval& interval, double low, double high) {
    return interval.low == low && interval.high == high;
  };
  EXPECT_TRUE(is(of(6), 1, 6));
  EXPECT_TRUE(is(of(9), 2, 8));
  EXPECT_TRUE(is(of(20), 6, 15));
  EXPECT_TRUE(is(of(40), 14, 27));
  // Two of 2^5 are more than 5 %.
  EXPECT_EQ(of(5).low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(of(0).high, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace mezzotint
