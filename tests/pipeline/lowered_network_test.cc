// What the passes make of the published networks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "backend/cpu/cpu_backend.h"
#include "models/med_ddpm.h"
#include "pipeline/bench_subject.h"
#include "runtime/lower.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

class LoweredNetwork : public ::testing::TestWithParam<std::tuple<const char*, Precision>> {
 protected:
  void SetUp() override {
    const auto config = config_from_arch(std::get<0>(GetParam()));
    ASSERT_TRUE(config.ok()) << config.error().message;
    const auto graph = build_med_ddpm(*config, /*batch=*/1, {16, 16, 16});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    CompileOptions options;
    options.machine = testing::test_machine();
    options.plan.precision = std::get<1>(GetParam());
    auto lowered = lower(*graph, *make_cpu_backend(), options);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    graph_ = std::move(lowered->graph);
  }

  Graph graph_;
};

// By whichever op: one of its own, or the region that makes the value.
TEST_P(LoweredNetwork, computes_moments_of_each_value_once) {
  std::map<ValueId, int> times;
  for (const Op& op : graph_.ops()) {
    if (op.kind == OpKind::channel_moments) {
      ++times[op.inputs[0]];
    }
    if (op.kind == OpKind::region && op.outputs.size() > 1) {
      ++times[op.outputs[0]];
    }
  }
  EXPECT_GT(times.size(), 10u);
  for (const auto& [value, count] : times) {
    EXPECT_EQ(count, 1) << graph_.value(value).name;
  }
}

// Convolutions take joins, reorders, biases, time vectors and residuals with them. Where a network
// has more than one image, its first and last convolution are faster between reorders.
TEST_P(LoweredNetwork, leaves_no_movement_or_addition_alone) {
  const bool several_images = graph_.value(*graph_.find_value("x")).type.shape[1] > 1;
  for (const Op& op : graph_.ops()) {
    const bool movement = op.kind == OpKind::concat || op.kind == OpKind::reorder;
    const bool addition = op.kind == OpKind::add || op.kind == OpKind::add_channels;
    const Value& result = graph_.value(op.outputs[0]);
    if ((movement || addition || op.kind == OpKind::silu) && result.rate == Rate::kStep &&
        result.type.shape.rank() == 5) {
      EXPECT_TRUE(several_images && movement) << op.name;
    }
  }
}

TEST_P(LoweredNetwork, reorders_no_single_channel) {
  for (const Op& op : graph_.ops()) {
    if (op.kind == OpKind::reorder) {
      EXPECT_GT(graph_.value(op.inputs[0]).type.shape[1], 1) << op.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(arch, LoweredNetwork,
                         ::testing::Combine(::testing::Values("whole-head:32", "brats:32"),
                                            ::testing::Values(Precision::kStrict,
                                                              Precision::kFp32)),
                         [](const auto& info) {
                           const std::string arch = std::get<0>(info.param);
                           return fmt::format("{}_{}", arch.substr(0, arch.find_first_of("-:")),
                                              name_of(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace mezzotint
