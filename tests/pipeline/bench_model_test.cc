// One evaluation of a network: every op judged, then timed.
#include "pipeline/bench_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "pipeline/corrupt_backend.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::CorruptBackend;
using testing::test_machine;

SubjectRequest small_request() {
  SubjectRequest request;
  request.arch = "whole-head:32";
  request.size = {16, 16, 32};
  return request;
}

ModelOptions one_run() {
  ModelOptions options;
  options.timing = {0, 1, 1, 0, 0};
  return options;
}

Result<ModelReport> bench(const Backend& backend, const ModelOptions& options = one_run()) {
  auto subject = Subject::open(small_request());
  if (!subject) {
    return subject.error();
  }
  return bench_model(*subject, backend, test_machine(), options);
}

TEST(BenchModel, checks_every_op_and_times_the_whole) {
  const auto report = bench(*make_cpu_backend());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_NE(report->worst(), nullptr);
  EXPECT_TRUE(report->ok()) << report->worst()->describe();
  EXPECT_TRUE(report->same_bytes);
  ASSERT_TRUE(report->timing);
  EXPECT_EQ(report->timing->runs, 1);
  EXPECT_EQ(report->timestep, 125);
  EXPECT_GT(report->flops, 1e9);
  EXPECT_GT(report->peak_bytes, 0U);
  EXPECT_GT(report->predicted_peak_bytes, 0U);
  // The condition's conversion runs once, outside.
  EXPECT_GE(report->verdicts.size(), report->ops.size());
  EXPECT_TRUE(
      std::is_sorted(report->ops.begin(), report->ops.end(),
                     [](const OpTime& a, const OpTime& b) { return a.seconds > b.seconds; }));
}

// Random weights keep activations at a size at which errors show.
TEST(BenchModel, synthetic_activations_are_sane) {
  const auto report = bench(*make_cpu_backend());
  ASSERT_TRUE(report) << report.error().message;
  for (const OpVerdict& verdict : report->verdicts) {
    EXPECT_GT(verdict.report.rms_truth, 1e-3) << verdict.op;
    EXPECT_LT(verdict.report.rms_truth, 1e3) << verdict.op;
  }
}

TEST(BenchModel, names_the_op_that_is_wrong) {
  const std::string op = "middle_block.0.in_layers.2";
  const CorruptBackend backend(make_cpu_backend(), op, [](const ValueType&, const Buffer& output) {
    output.as<float>()[0] += 0.01F;
  });
  const auto report = bench(backend);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->ok());
  EXPECT_FALSE(report->timing);
  EXPECT_EQ(report->worst()->op, op);
  // Later ops are judged by what they were given, so they are right. (The op's own moments are of
  // what it stored before.)
  EXPECT_EQ(
      std::count_if(report->verdicts.begin(), report->verdicts.end(),
                    [&](const OpVerdict& verdict) { return !verdict.ok() && verdict.op != op; }),
      0);
}

TEST(BenchModel, only_times_when_asked_to) {
  ModelOptions options = one_run();
  options.check = false;
  const auto report = bench(*make_cpu_backend(), options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->verdicts.empty());
  EXPECT_EQ(report->worst(), nullptr);
  EXPECT_TRUE(report->timing);
}

TEST(BenchModel, refuses_beyond_the_limit) {
  ModelOptions options = one_run();
  options.memory_limit = 1'000'000;
  const auto report = bench(*make_cpu_backend(), options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kResource);
  EXPECT_NE(report.error().message.find("--memory-limit allows 1 MB"), std::string::npos)
      << report.error().message;
}

TEST(BenchModel, explains_every_op) {
  const auto subject = Subject::open(small_request());
  ASSERT_TRUE(subject);
  const auto explained = explain_model(*subject, *make_cpu_backend(), test_machine(), Plan{});
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_GT(explained->ops.size(), 100U);
  for (const Explanation& explanation : explained->ops) {
    EXPECT_EQ(std::count_if(explanation.choices.begin(), explanation.choices.end(),
                            [](const Choice& choice) { return choice.chosen; }),
              1)
        << explanation.op;
  }
}

TEST(Arch, is_the_published_network) {
  const auto config = config_from_arch("whole-head");
  ASSERT_TRUE(config) << config.error().message;
  std::int64_t parameters = 0;
  const auto keys = med_ddpm_keys(*config);
  ASSERT_TRUE(keys);
  for (const NamedShape& key : *keys) {
    parameters += Shape(key.shape).elements();
  }
  EXPECT_NEAR(parameters, 40.226e6, 1e3);
  EXPECT_EQ(*config_from_arch("whole-head:64"), *config);

  const auto brats = config_from_arch("brats:32");
  ASSERT_TRUE(brats);
  EXPECT_EQ(brats->base_channels, 32);
  EXPECT_EQ(brats->in_channels, 8);
  EXPECT_EQ(brats->res_blocks, 2);
}

TEST(Arch, says_what_it_may_be) {
  for (const char* text :
       {"head", "generic", "whole-head:", "whole-head:x", "whole-head:-32", "whole-head:32x"}) {
    const auto config = config_from_arch(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().message,
              std::string("arch: `") + text +
                  "` is neither whole-head nor brats, perhaps with base channels: whole-head:32");
  }
  const auto odd = config_from_arch("whole-head:33");
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("33 base channels; GroupNorm needs a multiple of 32"),
            std::string::npos)
      << odd.error().message;
}

TEST(BenchSubject, timestep_must_be_in_the_schedule) {
  SubjectRequest request = small_request();
  request.timestep = 250;
  const auto subject = Subject::open(request);
  ASSERT_FALSE(subject);
  EXPECT_EQ(subject.error().message, "timestep: 250 is not between 0 and 249");
}

}  // namespace
}  // namespace mezzotint
