// What the passes make of the published networks.
#include <gtest/gtest.h>

#include <map>

#include "backend/cpu/cpu_backend.h"
#include "models/med_ddpm.h"
#include "pipeline/bench_subject.h"
#include "runtime/lower.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

class LoweredNetwork : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto config = config_from_arch(GetParam());
    ASSERT_TRUE(config.ok()) << config.error().message;
    const auto graph = build_med_ddpm(*config, /*batch=*/1, {16, 16, 16});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    auto lowered = lower(*graph, *make_cpu_backend(), {testing::test_machine(), {}, {}});
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

TEST_P(LoweredNetwork, joins_no_activations_but_its_inputs) {
  for (const Op& op : graph_.ops()) {
    if (op.kind == OpKind::concat && op.name != "input") {
      EXPECT_LT(graph_.value(op.inputs[0]).type.shape.rank(), 5u) << op.name;
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

INSTANTIATE_TEST_SUITE_P(
    arch, LoweredNetwork, ::testing::Values("whole-head:32", "brats:32"), [](const auto& info) {
      return std::string(info.param).substr(0, std::string(info.param).find_first_of("-:"));
    });

}  // namespace
}  // namespace mezzotint
