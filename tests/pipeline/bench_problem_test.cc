// A problem is checked before it is timed, and the check can fail.
#include "pipeline/bench_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "pipeline/corrupt_backend.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::CorruptBackend;
using testing::Corruption;
using testing::test_machine;

ProblemOptions one_run() {
  ProblemOptions options;
  options.timing = {0, 1, 1, 0, 0};
  return options;
}

Result<ProblemReport> bench(const char* text, const Backend& backend) {
  return bench_problem(*parse_problem(text), backend, test_machine(), one_run());
}

class SmallProblem : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallProblem, is_right_and_timed_on_the_processor) {
  const auto report = bench(GetParam(), *make_cpu_backend());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->verdict.ok()) << report->verdict.describe();
  EXPECT_GT(report->verdict.report.samples, 0);
  EXPECT_GT(report->verdict.bound, 0);
  EXPECT_EQ(report->timing.runs, 1);
  EXPECT_GT(report->timing.median_seconds, 0);
  EXPECT_GT(report->bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Ops, SmallProblem,
    ::testing::Values("add c3 d4 h5 w7", "add_channels c17 d4 h5 w7", "affine c16 d4 h5 w7",
                      "affine_silu c5 d4 h5 w7", "attention c32 d2 h3 w4 a1",
                      "channel_moments c16 d4 h5 w7", "concat c3 k4 d4 h5 w7",
                      "conv3d c3 k4 d4 h5 w7", "conv3d c16 k32 d8 h4 w6 f3 s2 p1",
                      "conv3d c8 k8 d5 h6 w7 f1 p0", "conv3d c8 k1 d5 h6 w7", "linear n2 c33 k65",
                      "silu c3 d4 h5 w7", "upsample_trilinear c16 d4 h5 w7"));

// One wrong element in a corner, by as much as a wrong tap or a lost digit would make.
Corruption add_to_corner(float error) {
  return [error](const ValueType& type, const Buffer& output) {
    output.as<float>()[type.shape.elements() - 1] += error;
  };
}

TEST(BenchProblem, finds_one_wrong_corner_and_does_not_time_it) {
  const CorruptBackend backend(make_cpu_backend(), "conv3d", add_to_corner(1e-3F));
  const auto report = bench("conv3d c16 k16 d8 h8 w8", backend);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->verdict.ok());
  EXPECT_NEAR(report->verdict.report.max_abs_error, 1e-3, 1e-5);
  EXPECT_EQ(report->verdict.report.worst, (std::vector<std::int64_t>{0, 15, 7, 7, 7}));
  EXPECT_GT(report->verdict.severity(), 1);
  EXPECT_EQ(report->timing.runs, 0);
  const std::string text = report->verdict.describe();
  EXPECT_TRUE(text.starts_with("conv3d (" + report->implementation +
                               "): max error 0.001 at [0, 15, 7, 7, 7] (got "))
      << text;
}

TEST(BenchProblem, finds_a_value_that_is_not_finite) {
  const CorruptBackend backend(make_ref_backend(), "linear",
                               add_to_corner(std::numeric_limits<float>::infinity()));
  const auto report = bench("linear c8 k8", backend);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->verdict.ok());
}

// The bound is tight enough to tell float32 from the next format below: TF32, 10 bits of mantissa.
TEST(BenchProblem, does_not_take_tf32_for_fp32) {
  const auto round_to_tf32 = [](const ValueType& type, const Buffer& output) {
    for (std::int64_t i = 0; i < type.shape.elements(); ++i) {
      float& value = output.as<float>()[i];
      value = std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1fffU);
    }
  };
  for (const char* text : {"conv3d c256 k16 d6 h6 w6", "linear c256 k256", "silu c16 d4 h4 w4",
                           "attention c64 d8 h8 w8", "upsample_trilinear c16 d4 h4 w4"}) {
    const auto problem = parse_problem(text);
    const CorruptBackend backend(make_cpu_backend(), problem->op, round_to_tf32);
    const auto report = bench(text, backend);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->verdict.ok()) << report->verdict.describe();
  }
}

TEST(BenchProblem, takes_the_implementation_that_was_asked_for) {
  const auto backend = make_cpu_backend();
  const Problem problem = *parse_problem("conv3d c8 k1 d5 h6 w7");
  const auto explanation = explain_problem(problem, *backend, test_machine(), one_run());
  ASSERT_TRUE(explanation) << explanation.error().message;
  ASSERT_EQ(explanation->ops.size(), 1U);
  int tried = 0;
  for (const Choice& choice : explanation->ops[0].choices) {
    ProblemOptions options = one_run();
    options.implementation = choice.implementation;
    const auto report = bench_problem(problem, *backend, test_machine(), options);
    EXPECT_EQ(report.ok(), choice.refusal.empty());
    if (report) {
      EXPECT_EQ(report->implementation, choice.implementation);
      EXPECT_TRUE(report->verdict.ok()) << report->verdict.describe();
      ++tried;
    }
  }
  EXPECT_GE(tried, 1);

  ProblemOptions options = one_run();
  options.implementation = "magic";
  const auto report = bench_problem(problem, *backend, test_machine(), options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("the plan asks for `magic`"), std::string::npos)
      << report.error().message;
}

TEST(BenchProblem, explains_a_refusal) {
  const auto explanation = explain_problem(*parse_problem("conv3d c8 k32 d5 h6 w7"),
                                           *make_cpu_backend(), test_machine(), one_run());
  ASSERT_TRUE(explanation);
  const auto& choices = explanation->ops[0].choices;
  EXPECT_EQ(std::count_if(choices.begin(), choices.end(), [](const Choice& c) { return c.chosen; }),
            1);
  EXPECT_GE(std::count_if(choices.begin(), choices.end(),
                          [](const Choice& c) { return !c.refusal.empty(); }),
            1);
}

TEST(BenchProblem, refuses_a_problem_beyond_memory) {
  Machine machine = test_machine();
  machine.memory_bytes = 1'000'000;
  const auto report = bench_problem(*parse_problem("silu c64 d64 h64 w64"), *make_cpu_backend(),
                                    machine, one_run());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kResource);
}

}  // namespace
}  // namespace mezzotint
