// What tune's check of errors finds, and what its limits are made of.
#include "pipeline/tune_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "pipeline/corrupt_backend.h"
#include "pipeline/error_budget.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::CorruptBackend;
using testing::Corruption;
using testing::test_machine;

constexpr std::string_view kLast = "out.2";  // the op that makes the prediction

TEST(ErrorBudget, IsTheBoundLessWhatTheStrictPlanErrs) {
  const TuneDistance strict = evaluation_budget(Precision::kStrict);
  const TuneDistance fp32 = evaluation_budget(Precision::kFp32);
  const TuneDistance fast = evaluation_budget(Precision::kFast);
  EXPECT_EQ(strict.relative_l2, 3.5e-6);
  EXPECT_DOUBLE_EQ(strict.largest, (4 - 1.6) * 9.1e-7);
  EXPECT_DOUBLE_EQ(fp32.relative_l2, 1e-5 - 3.5e-6);
  EXPECT_DOUBLE_EQ(fp32.largest, (8 - 1.6) * 9.1e-7);
  EXPECT_DOUBLE_EQ(fast.relative_l2, 1.5 * 5.0e-3 - 3.5e-6);
  EXPECT_TRUE(std::isinf(fast.largest));
}

// A trial of a small network, and sessions of a backend that errs.
class TuneCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SubjectRequest request;
    request.arch = "whole-head:32";
    request.size = {16, 16, 16};
    auto subject = Subject::open(request);
    ASSERT_TRUE(subject.ok()) << subject.error().message;
    subject_.emplace(std::move(*subject));
    condition_.assign(static_cast<std::size_t>(subject_->elements(2)), -1.0F);
    trial_.emplace(make_trial(*right_));
    ASSERT_TRUE(trial_->run_reference([](int, int) { return true; }).ok());
    auto standard = trial_->open({});
    ASSERT_TRUE(standard.ok()) << standard.error().message;
    auto check = begin_check(*trial_, *standard, Precision::kFp32, go_on_);
    ASSERT_TRUE(check.ok()) << check.error().message;
    check_ = std::move(*check);
  }

  TuneTrial make_trial(const Backend& backend) {
    auto trial = TuneTrial::create(*subject_, backend, machine_, nullptr);
    EXPECT_TRUE(trial.ok()) << trial.error().message;
    trial->set_condition(condition_);
    return std::move(*trial);
  }

  // With a default plan whose predictions are NaN after so many.
  Result<TuneCheck> check_of_default_spoiled_after(int evaluations) {
    int launches = 0;
    const CorruptBackend wrong(make_cpu_backend(), std::string(kLast),
                               [&](const ValueType& type, const Buffer& output) {
                                 if (++launches > evaluations) {
                                   spoil(type, output);
                                 }
                               });
    TuneTrial trial = make_trial(wrong);
    auto session = trial.open({});
    if (!session) {
      return session.error();
    }
    return begin_check(*trial_, *session, Precision::kFp32, go_on_);
  }

  // The reason, with the prediction changed so.
  std::string reason_with(Corruption corruption) {
    const CorruptBackend wrong(make_cpu_backend(), std::string(kLast), std::move(corruption));
    TuneTrial trial = make_trial(wrong);
    auto session = trial.open({});
    EXPECT_TRUE(session.ok()) << session.error().message;
    const auto reason = check_errors(*trial_, *session, check_, go_on_);
    EXPECT_TRUE(reason.ok()) << reason.error().message;
    EXPECT_EQ(check_.is_within, reason->empty());
    return *reason;
  }

  static std::span<float> values(const ValueType& type, const Buffer& output) {
    return {output.as<float>(), static_cast<std::size_t>(type.shape.elements())};
  }

  static void spoil(const ValueType& type, const Buffer& output) {
    values(type, output)[7] = std::numeric_limits<float>::quiet_NaN();
  }

  const OnChecking go_on_ = [](const char*, int, int) { return true; };
  std::unique_ptr<Backend> right_ = make_cpu_backend();
  Machine machine_ = test_machine(1);
  std::optional<Subject> subject_;
  std::vector<float> condition_;
  std::optional<TuneTrial> trial_;
  TuneCheck check_;
};

TEST_F(TuneCheckTest, TheDefaultPlanIsWithin) {
  EXPECT_EQ(reason_with([](const ValueType&, const Buffer&) {}), "");
  EXPECT_EQ(check_.tuned.size(), check_.timesteps.size());
  ASSERT_TRUE(check_.chain);
  EXPECT_LE(check_.chain->largest, check_.chain_limit.largest);
  EXPECT_GE(check_.limit.relative_l2, evaluation_budget(Precision::kFp32).relative_l2);
  EXPECT_GE(check_.limit.largest, evaluation_budget(Precision::kFp32).largest);
}

// One wrong voxel of 4096 is 1/64 in relative L2: only the largest error sees it.
TEST_F(TuneCheckTest, OneWrongVoxelIsFoundByTheLargestError) {
  const std::string reason = reason_with([this](const ValueType& type, const Buffer& output) {
    double squares = 0;
    for (const float value : values(type, output)) {
      squares += static_cast<double>(value) * value;
    }
    values(type, output)[5] +=
        static_cast<float>(0.5 * check_.limit.relative_l2 * std::sqrt(squares));
  });
  EXPECT_NE(reason.find("one evaluation is off by"), std::string::npos) << reason;
  EXPECT_NE(reason.find("in one place"), std::string::npos) << reason;
  EXPECT_LE(worst(check_.tuned).relative_l2, check_.limit.relative_l2);
}

TEST_F(TuneCheckTest, EverywhereALittleIsFoundByRelativeL2) {
  const std::string reason = reason_with([this](const ValueType& type, const Buffer& output) {
    for (float& value : values(type, output)) {
      value *= static_cast<float>(1 + 3 * check_.limit.relative_l2);
    }
  });
  EXPECT_NE(reason.find("one evaluation is off by a relative L2"), std::string::npos) << reason;
}

TEST_F(TuneCheckTest, WhatIsNotFiniteExceedsEveryLimit) {
  check_.limit = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  EXPECT_NE(reason_with(spoil).find("one evaluation is off by a relative L2 of inf"),
            std::string::npos);
  // Only after the points: in the chain.
  int launches = 0;
  const std::string reason = reason_with([&](const ValueType& type, const Buffer& output) {
    if (++launches > TuneTrial::kPoints + 3) {
      spoil(type, output);
    }
  });
  EXPECT_NE(reason.find("a chain of 25 steps is off by a relative L2 of inf"), std::string::npos)
      << reason;
}

TEST_F(TuneCheckTest, ANaNIsTheWorst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(worst({{1, 1}, {nan, 1}, {2, 2}}).relative_l2));
  EXPECT_TRUE(std::isinf(worst({{1, nan}, {1, 2}}).largest));
}

// Whatever is finite is as good as a default plan that is not; so it is where only the disturbed
// chain is not finite.
TEST_F(TuneCheckTest, ADefaultThatIsNotFiniteLeavesNoLimit) {
  for (const int evaluations : {0, TuneTrial::kPoints + 3, TuneTrial::kPoints + 25 + 3}) {
    auto check = check_of_default_spoiled_after(evaluations);
    ASSERT_TRUE(check.ok()) << evaluations << ": " << check.error().message;
    EXPECT_TRUE(std::isinf(check->chain_limit.relative_l2)) << evaluations;
    EXPECT_TRUE(std::isinf(check->chain_limit.largest)) << evaluations;
    EXPECT_EQ(std::isinf(check->limit.relative_l2), evaluations == 0);
    check_ = std::move(*check);
    EXPECT_EQ(reason_with([](const ValueType&, const Buffer&) {}), "") << evaluations;
    EXPECT_NE(reason_with(&TuneCheckTest::spoil), "") << evaluations;
  }
}

}  // namespace
}  // namespace mezzotint
