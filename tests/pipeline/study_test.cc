// The published experiments: their plans, what is measured, what is said.
#include "pipeline/study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/cpu_backend.h"
#include "pipeline/corrupt_backend.h"
#include "pipeline/session.h"
#include "pipeline/study_plans.h"
#include "report/study_json.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::test_machine;

const StudyVariant& variant(std::string_view name) {
  return *std::ranges::find(med_ddpm_variants(), name, &StudyVariant::name);
}

Graph network() {
  auto graph = tabulated_network(*config_from_arch("whole-head:32"), {16, 16, 32}, 1);
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

TEST(StudyPlans, NameADirectConvolutionForEveryOneAndFuseNothing) {
  const Graph graph = network();
  const auto backend = make_cpu_backend();
  for (const std::string_view name : {"channels-first", "channels-last"}) {
    const auto plan = study_plan(variant(name), graph, *backend, test_machine());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->layout, name == "channels-last" ? Layout::kChannelsLast : Layout::kRowMajor);
    for (const Op& op : graph.ops()) {
      if (op.kind == OpKind::conv3d) {
        const PlanEntry& entry = plan->entries.at(op.name);
        EXPECT_TRUE(entry.implementation.starts_with("onednn.conv")) << op.name;
        EXPECT_EQ(entry.fuse, Fusions{}) << op.name;
      }
    }
  }
}

TEST(StudyPlans, NarrowTakesTheUnitOrSaysThatThereIsNone) {
  const Graph graph = network();
  const auto backend = make_cpu_backend();
  Machine machine = test_machine();
  if (bf16_unit(machine)) {
    const auto plan = study_plan(variant("both"), graph, *backend, machine);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->precision, Precision::kFast);
    const auto narrow = std::ranges::count_if(plan->entries, [](const auto& entry) {
      return entry.second.implementation == "onednn.conv_bf16";
    });
    EXPECT_EQ(narrow, static_cast<std::ptrdiff_t>(plan->entries.size()) - 1);  // the last has 1
                                                                               // output channel
  }
  machine.isa = Isa::kAvx2;
  const auto none = study_plan(variant("narrow"), graph, *backend, machine);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no bf16 unit on this machine");
}

Result<CachedCalibration> two_threads() {
  CachedCalibration cached;
  Calibration& machine = cached.calibration;
  machine.threads = 2;
  machine.units = {{MathUnit::kFma, 50e9, 100e9, "", ""},
                   {MathUnit::kAvx512Bf16, 50e9, 1e11, "", ""}};
  machine.levels = {{"L2", 1 << 20, 50e9, 100e9}, {"DRAM", 0, 10e9, 10e9}};
  cached.notes = {"Known from elsewhere."};
  return cached;
}

// Of a small network, whatever else this machine does.
StudyRequest untuned() {
  StudyRequest request;
  request.subject.arch = "whole-head:32";
  request.subject.size = {16, 16, 16};
  request.force = true;
  request.tune = false;
  return request;
}

TEST(Study, MeasuresEveryVariantAndItsErrors) {
  StudyRequest request = untuned();
  request.rounds = 2;
  request.timing = {1, 2, 2, 0, 0};
  std::vector<std::string> told;
  const auto study = study_med_ddpm(request, *make_cpu_backend(), test_machine(), two_threads,
                                    [&](std::string_view what) { told.emplace_back(what); });
  ASSERT_TRUE(study) << study.error().message;
  ASSERT_EQ(study->rows.size(), 6U);
  for (const StudyRow& row : study->rows) {
    const bool narrow = row.name == "narrow" || row.name == "both";
    EXPECT_EQ(row.absent.empty(),
              row.name != "tuned" && (!narrow || bf16_unit(test_machine()).has_value()))
        << row.name << ": " << row.absent;
    if (!row.absent.empty()) {
      continue;
    }
    EXPECT_GT(row.seconds.median, 0) << row.name;
    ASSERT_FALSE(row.profile.warnings.empty()) << row.name;
    EXPECT_EQ(row.profile.warnings.front(), "Known from elsewhere.");
    EXPECT_GT(row.loops, 10) << row.name;
    EXPECT_GT(row.tasks, row.loops) << row.name;
    EXPECT_TRUE(row.attained) << row.name;
    EXPECT_GT(row.convolution_share, 0.1) << row.name;
    EXPECT_LE(row.convolution_share + row.conversion_share, 1 + 1e-9) << row.name;
    EXPECT_FALSE(row.ssim) << row.name;
    EXPECT_LE(row.relative_l2, narrow ? 2e-2 : 1e-5) << row.name;
    EXPECT_GT(row.relative_l2, narrow ? 1e-4 : 0) << row.name;
    const WorkShare on_vectors = row.profile.narrow_share.value_or(WorkShare());
    const WorkShare on_tiles = row.profile.matrix_share.value_or(WorkShare());
    EXPECT_EQ(on_vectors.flops + on_tiles.flops > 0.5, narrow) << row.name;
    EXPECT_EQ(on_tiles.flops > 0.5, narrow && test_machine().isa == Isa::kAmx) << row.name;
  }
  EXPECT_GT(study->rows[0].conversions, study->rows[1].conversions);
  EXPECT_EQ(study->findings.size(), bf16_unit(test_machine()) ? 4U : 3U);
  EXPECT_EQ(std::ranges::count(told, "round 2 of 2: winograd"), 1);
}

// A variant that computes nonsense errs infinitely; the study says so and goes on.
TEST(Study, WhatIsNotFiniteErrsInfinitely) {
  StudyRequest request = untuned();
  request.rounds = 1;
  request.timing = {0, 1, 1, 0, 0};
  const testing::CorruptBackend backend(
      make_cpu_backend(), "out.2", [](const ValueType& /*type*/, const Buffer& output) {
        output.as<float>()[3] = std::numeric_limits<float>::quiet_NaN();
      });
  const auto study = study_med_ddpm(request, backend, test_machine(), two_threads, {});
  ASSERT_TRUE(study) << study.error().message;
  for (const StudyRow& row : study->rows) {
    EXPECT_EQ(std::isinf(row.relative_l2), row.absent.empty()) << row.name;
  }
  EXPECT_NE(study_json(*study).find("\"relative_l2\": null"), std::string::npos);
}

TEST(Study, RefusesAMaskWithoutAModel) {
  StudyRequest request;
  request.subject.arch = "whole-head:32";
  request.subject.size = {16, 16, 16};
  request.mask = "mask.nii";
  const auto study = study_med_ddpm(request, *make_cpu_backend(), test_machine(), two_threads, {});
  ASSERT_FALSE(study);
  EXPECT_NE(study.error().message.find("mask: `mask.nii`: a volume needs a trained model"),
            std::string::npos)
      << study.error().message;
}

}  // namespace
}  // namespace mezzotint
