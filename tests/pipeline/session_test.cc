// A network compiled for the timesteps of a run.
#include "pipeline/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "backend/cpu/cpu_backend.h"
#include "graph/text.h"
#include "pipeline/bench_subject.h"
#include "pipeline/random_parameters.h"
#include "support/graph_runner.h"
#include "support/random_fill.h"

namespace mezzotint {
namespace {

using testing::random_floats;
using testing::test_machine;

class SessionTest : public ::testing::Test {
 protected:
  Result<Session> create(std::vector<int> timesteps, Plan plan = {}) const {
    SessionOptions options;
    options.plan = std::move(plan);
    options.machine = test_machine();
    options.grid = {kSide, kSide, kSide};
    options.timesteps = std::move(timesteps);
    return Session::create(config_, *backend_, options);
  }

  // Predictions at these steps of one session, in the order given.
  std::vector<std::vector<float>> predict(const std::vector<int>& timesteps,
                                          const std::vector<int>& steps, Plan plan = {}) {
    std::vector<std::vector<float>> predictions;
    auto session = create(timesteps, std::move(plan));
    EXPECT_TRUE(session.ok()) << session.error().message;
    EXPECT_TRUE(session->load(parameters_).ok());
    EXPECT_TRUE(session->set_condition(condition_, run_).ok());
    for (const int step : steps) {
      predictions.emplace_back(x_.size());
      EXPECT_TRUE(session->evaluate(x_, step, predictions.back(), run_).ok());
    }
    return predictions;
  }

  // The prediction of the network as its builder made it.
  std::vector<float> predict_as_built(float timestep) {
    const auto graph = build_med_ddpm(config_, 1, {kSide, kSide, kSide});
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    auto program = compile(*graph, *backend_, {test_machine(), {}, {}});
    EXPECT_TRUE(program.ok()) << program.error().message;
    EXPECT_TRUE(program->load(parameters_).ok());
    const auto arena = program->make_arena();
    EXPECT_TRUE(arena.ok());
    std::vector<float> eps(x_.size());
    const auto bind = [](std::string_view name, float* data, std::size_t count) {
      return Binding{name, reinterpret_cast<std::byte*>(data), count * sizeof(float)};
    };
    const Binding bindings[] = {
        bind("x", x_.data(), x_.size()), bind("condition", condition_.data(), condition_.size()),
        bind("t", &timestep, 1),
        bind(graph->value(graph->outputs()[0]).name, eps.data(), eps.size())};
    for (const Rate rate : {Rate::kVolume, Rate::kStep}) {
      EXPECT_TRUE(program->run(rate, bindings, *arena, run_).ok());
    }
    return eps;
  }

  static bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }

  static constexpr std::int64_t kSide = 16;
  static constexpr std::int64_t kVoxels = kSide * kSide * kSide;

  const MedDdpmConfig config_ = *config_from_arch("whole-head:32");
  RandomParameters parameters_{*med_ddpm_keys(config_), 1};
  std::unique_ptr<Backend> backend_ = make_cpu_backend();
  std::vector<float> x_ = random_floats(kVoxels, 2);
  std::vector<float> condition_ = random_floats(2 * kVoxels, 3);
  ThreadTeam team_{2};
  RunOptions run_{team_, nullptr, {}};
};

// Any step, in any order: a run that was interrupted begins in the middle.
TEST_F(SessionTest, PredictsAtEachStepWhatTheNetworkAsBuiltPredicts) {
  const auto predictions = predict({249, 100, 0}, {1, 0, 2, 1});
  EXPECT_TRUE(same_bytes(predictions[0], predict_as_built(100)));
  EXPECT_TRUE(same_bytes(predictions[1], predict_as_built(249)));
  EXPECT_TRUE(same_bytes(predictions[2], predict_as_built(0)));
  EXPECT_TRUE(same_bytes(predictions[3], predictions[0]));
  EXPECT_FALSE(same_bytes(predictions[1], predictions[0]));
}

// What a session says it is makes that session again; anything else has another hash.
TEST_F(SessionTest, IsWhatItsPlanSays) {
  Plan plan;
  const auto session = create({100});
  ASSERT_TRUE(session.ok()) << session.error().message;
  plan.entries = session->program().plan_entries();
  const auto again = create({100}, plan);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->plan_hash(), session->plan_hash());
  EXPECT_EQ(to_text(again->program().graph()), to_text(session->program().graph()));
  EXPECT_TRUE(same_bytes(predict({100}, {0}, plan)[0], predict({100}, {0})[0]));

  std::set<std::string> hashes{session->plan_hash()};
  const auto changed = std::ranges::find_if(plan.entries, [](const auto& entry) {
    return entry.second.implementation == "kernels.affine";
  });
  ASSERT_NE(changed, plan.entries.end());
  changed->second.layout = Layout::kRowMajor;  // between reorders
  for (const Plan& other :
       {Plan{Precision::kStrict}, Plan{Precision::kFp32, Layout::kRowMajor}, plan}) {
    const auto made = create({100}, other);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_TRUE(hashes.insert(made->plan_hash()).second);
  }
}

TEST_F(SessionTest, MakesNoTimeVectorInAStep) {
  const auto session = create({249, 100, 0});
  ASSERT_TRUE(session.ok()) << session.error().message;
  int linears = 0;
  for (const ProgramOp& op : session->program().ops()) {
    const bool makes_vectors = op.kind == OpKind::linear || op.kind == OpKind::silu ||
                               op.kind == OpKind::timestep_embedding;
    EXPECT_FALSE(makes_vectors && op.rate == Rate::kStep) << op.name;
    linears += op.kind == OpKind::linear ? 1 : 0;
  }
  EXPECT_EQ(linears, 19);  // 2 of the embedding, 5 + 2 + 10 of the residual blocks
}

TEST_F(SessionTest, CountsTheTablesOfAllStepsAmongItsMemory) {
  constexpr std::uint64_t kSteps = 250;
  std::vector<int> timesteps(kSteps);
  const auto one = create({0});
  const auto many = create(timesteps);
  ASSERT_TRUE(one.ok() && many.ok());
  std::uint64_t row_bytes = 0;
  for (const Op& op : many->program().graph().ops()) {
    if (op.kind == OpKind::select_rows) {
      row_bytes +=
          static_cast<std::uint64_t>(many->program().graph().value(op.outputs[0]).type.bytes());
    }
  }
  EXPECT_GT(row_bytes, 1000U);
  EXPECT_GE(many->predicted_bytes(), one->predicted_bytes() + (kSteps - 1) * row_bytes);
}

}  // namespace
}  // namespace mezzotint
