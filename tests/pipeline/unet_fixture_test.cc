// The compiled network against the reference: every stored output and activation, with the default
// plan of each precision, and with each implementation forced on every op that it can compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "backend/cpu/cpu_backend.h"
#include "pipeline/error_budget.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"
#include "runtime/compile.h"
#include "runtime/explain.h"
#include "runtime/layouts.h"
#include "runtime/lower.h"
#include "support/fixture.h"
#include "support/tolerance.h"
#include "support/unet_case.h"

namespace mezzotint {
namespace {

using testing::FixtureCase;
using testing::FixtureTensor;
using testing::UnetCase;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least relative L2, over a network's evaluations, of predictions by PyTorch 2.15 in bfloat16
// (autocast on a processor).
double pytorch_bf16_error(const std::string& manifest) {
  const std::pair<std::string_view, double> measured[] = {{"tiny_whole_head", 4.0e-3},
                                                          {"whole_head_full", 1.2e-2},
                                                          {"brats_small", 1.4e-2},
                                                          {"size64_small", 2.4e-2}};
  for (const auto& [network, error] : measured) {
    if (manifest.find(network) != std::string::npos) {
      return error;
    }
  }
  ADD_FAILURE() << "nobody has measured " << manifest;
  return 0;
}

std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

Binding bind_floats(std::string_view name, std::vector<float>& data) {
  return {name, reinterpret_cast<std::byte*>(data.data()), data.size() * sizeof(float)};
}

// One stored evaluation: what goes in, and what should come out.
struct Evaluation {
  FixtureCase fixture;
  Model model;
  Graph graph;
  std::vector<float> x;
  std::vector<float> condition;
  std::vector<float> timesteps;
  std::vector<std::string> results;  // names of the graph's values that are stored
};

Result<Evaluation> load(const UnetCase& unet_case) {
  auto fixture = FixtureCase::load(unet_case.manifest);
  if (!fixture) {
    return fixture.error();
  }
  const auto weights = testing::stored_weights(fixture->facts());
  if (!weights) {
    return weights.error();
  }
  auto model = open_model(weights->file, weights->group);
  if (!model) {
    return model.error();
  }
  const std::string input = unet_case.input + ".x";
  const auto x = fixture->read_double(input);
  if (!x) {
    return x.error();
  }
  const std::vector<std::int64_t> shape = fixture->find(input)->shape;
  auto graph = build_med_ddpm(model->config, shape[0], {shape[2], shape[3], shape[4]});
  if (!graph) {
    return graph.error();
  }
  const std::int64_t image = model->config.image_channels;
  Evaluation evaluation{std::move(*fixture), std::move(*model), std::move(*graph), {}, {}, {}, {}};
  evaluation.x = to_float(testing::take_channels(*x, shape, 0, image));
  evaluation.condition = to_float(testing::take_channels(*x, shape, image, shape[1]));
  evaluation.timesteps = to_float(testing::parse_timesteps(unet_case.timesteps));
  for (const FixtureTensor& tensor : evaluation.fixture.tensors()) {
    if (testing::is_result(unet_case, tensor.name)) {
      evaluation.results.push_back(tensor.name);
    }
  }
  return evaluation;
}

class UnetFixture : public ::testing::TestWithParam<UnetCase> {
 protected:
  void SetUp() override {
    if (GetParam().manifest.empty()) {
      GTEST_SKIP() << "no folder `unet` among the fixtures";
    }
    auto loaded = load(GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    evaluation_.emplace(std::move(*loaded));
    ASSERT_FALSE(evaluation_->results.empty());
    auto machine = this_machine(2);
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    options_.machine = *machine;
    backend_ = make_cpu_backend();
  }

  // Twice: with everything that is stored kept, which keeps fusion from swallowing it, and as it
  // runs for a user, with the prediction alone.
  void expect_agreement_kept_or_not(const std::function<void()>& expect) {
    for (const bool keep : {true, false}) {
      SCOPED_TRACE(keep ? "activations kept" : "prediction alone");
      keep_activations(keep);
      expect();
    }
  }

  [[nodiscard]] bool is_strict_default() const {
    const Plan& plan = options_.plan;
    return plan.precision == Precision::kStrict && plan.layout == Layout::kChannelsLast &&
           plan.entries.empty();
  }

  void keep_activations(bool keep) {
    options_.keep.clear();
    const Graph& graph = evaluation_->graph;
    for (const std::string& tensor : evaluation_->results) {
      const std::string name = testing::value_name(GetParam(), tensor);
      ASSERT_TRUE(graph.find_value(name)) << "the graph has no value " << name;
      if (keep && *graph.find_value(name) != graph.outputs()[0]) {
        options_.keep.push_back(name);
      }
    }
  }

  void expect_agreement() {
    Evaluation& e = *evaluation_;
    auto program = compile(e.graph, *backend_, options_);
    ASSERT_TRUE(program.ok()) << program.error().message;
    ModelParameters parameters(e.model);
    Status status = program->load(parameters);
    ASSERT_TRUE(status.ok()) << status.error().message;
    const auto arena = program->make_arena();
    ASSERT_TRUE(arena.ok());

    const std::string output = e.graph.value(e.graph.outputs()[0]).name;
    std::map<std::string, std::vector<float>> made;
    std::vector<Binding> bindings{bind_floats("x", e.x), bind_floats("condition", e.condition),
                                  bind_floats("t", e.timesteps)};
    std::vector<std::string> names = options_.keep;
    names.push_back(output);
    for (const std::string& name : names) {
      made[name].resize(
          static_cast<std::size_t>(e.graph.value(*e.graph.find_value(name)).type.shape.elements()));
      bindings.push_back(bind_floats(made.find(name)->first, made[name]));
    }
    const RunOptions run{ThreadTeam(2), nullptr, {}};
    const Binding condition[] = {bind_floats("condition", e.condition)};
    ASSERT_TRUE(program->run(Rate::kVolume, condition, *arena, run).ok());
    status = program->run(Rate::kStep, bindings, *arena, run);
    ASSERT_TRUE(status.ok()) << status.error().message;

    for (const std::string& tensor : e.results) {
      const std::string name = testing::value_name(GetParam(), tensor);
      const bool is_output = *e.graph.find_value(name) == e.graph.outputs()[0];
      if (options_.keep.empty() && !is_output) {
        continue;
      }
      const FixtureTensor& info = *e.fixture.find(tensor);
      const auto truth = e.fixture.read_double(tensor);
      ASSERT_TRUE(truth.ok()) << truth.error().message;
      const testing::Difference difference =
          testing::difference(made[is_output ? output : name], std::span(*truth));
      const ErrorBounds bounds = error_bounds(options_.plan.precision);
      EXPECT_LE(difference.max_abs,
                testing::fixture_bound(bounds.pytorch_errors.value_or(kInfinity),
                                       info.reference_error, info.max_abs))
          << tensor << ": " << difference.text;
      EXPECT_LE(difference.relative_l2, bounds.relative_l2) << tensor;
      if (is_output && bounds.pytorch_bf16_errors) {
        EXPECT_LE(difference.relative_l2,
                  *bounds.pytorch_bf16_errors * pytorch_bf16_error(GetParam().manifest))
            << tensor;
      }
      if (is_output && is_strict_default()) {
        EXPECT_LE(difference.relative_l2, kStrictRelativeL2) << tensor;
        EXPECT_LE(difference.max_abs,
                  testing::fixture_bound(kStrictPytorchErrors, info.reference_error, info.max_abs))
            << tensor;
      }
    }
  }

  // An implementation that the default plan leaves aside must be as right as the one it takes.
  // Returns all that computed any op, by default or forced.
  std::set<std::string> expect_agreement_of_each_implementation() {
    std::set<std::string> tried;
    std::map<std::string, std::map<std::string, PlanEntry>> forced;  // implementation -> plan
    const auto explained = explain(evaluation_->graph, *backend_, options_);
    EXPECT_TRUE(explained.ok());
    for (const Explanation& op : explained->ops) {
      for (const Choice& choice : op.choices) {
        if (!choice.refusal.empty()) {
          continue;
        }
        tried.insert(choice.implementation);
        if (!choice.chosen) {
          forced[choice.implementation][op.op].implementation = choice.implementation;
        }
      }
    }
    for (const auto& [implementation, entries] : forced) {
      SCOPED_TRACE(implementation + " on " + std::to_string(entries.size()) + " ops");
      options_.plan.entries = entries;
      expect_agreement();
    }
    options_.plan.entries.clear();
    return tried;
  }

  std::optional<Evaluation> evaluation_;
  std::unique_ptr<Backend> backend_;
  CompileOptions options_;
};

TEST_P(UnetFixture, AgreesInStrict) {
  options_.plan.precision = Precision::kStrict;
  expect_agreement_kept_or_not([&] { expect_agreement(); });
}

TEST_P(UnetFixture, AgreesInFp32) {
  options_.plan.precision = Precision::kFp32;
  expect_agreement_kept_or_not([&] { expect_agreement(); });
}

TEST_P(UnetFixture, AgreesInStrictWithEachImplementationForced) {
  options_.plan.precision = Precision::kStrict;
  expect_agreement_kept_or_not([&] {
    const std::set<std::string> tried = expect_agreement_of_each_implementation();
    EXPECT_TRUE(tried.contains("kernels.conv_winograd2"));
    EXPECT_FALSE(tried.contains("kernels.conv_winograd4"));
  });
}

TEST_P(UnetFixture, AgreesInFp32WithEachImplementationForced) {
  options_.plan.precision = Precision::kFp32;
  expect_agreement_kept_or_not([&] {
    const std::set<std::string> tried = expect_agreement_of_each_implementation();
    EXPECT_TRUE(tried.contains("kernels.conv_winograd2"));
    EXPECT_TRUE(tried.contains("kernels.conv_winograd4"));
  });
}

TEST_P(UnetFixture, AgreesChannelsFirst) {
  options_.plan.layout = Layout::kRowMajor;
  for (const Precision precision : {Precision::kStrict, Precision::kFp32}) {
    options_.plan.precision = precision;
    expect_agreement_kept_or_not([&] { expect_agreement(); });
  }
}

// Each third op that has activations in the other layout than the rest.
TEST_P(UnetFixture, AgreesInMixedLayouts) {
  const auto lowered = lower(evaluation_->graph, *backend_, options_);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  for (std::size_t part = 0; part < 3; ++part) {
    SCOPED_TRACE(part);
    options_.plan.entries.clear();
    std::size_t count = 0;
    for (const Op& op : lowered->graph.ops()) {
      if (activation_layout({lowered->graph, op}) && count++ % 3 == part) {
        options_.plan.entries[op.name].layout = Layout::kRowMajor;
      }
    }
    expect_agreement();
  }
}

TEST_P(UnetFixture, AgreesInFast) {
  options_.plan.precision = Precision::kFast;
  expect_agreement_kept_or_not([&] { expect_agreement(); });
}

TEST_P(UnetFixture, AgreesInFastWithEachImplementationForced) {
  options_.plan.precision = Precision::kFast;
  expect_agreement_kept_or_not([&] {
    const std::set<std::string> tried = expect_agreement_of_each_implementation();
    EXPECT_TRUE(tried.contains("kernels.conv_winograd4"));
    EXPECT_EQ(tried.contains("onednn.conv_bf16"), bf16_unit(options_.machine).has_value());
  });
  if (!bf16_unit(options_.machine)) {
    GTEST_SKIP() << "onednn.conv_bf16 was not tried: no bf16 unit on this machine";
  }
}

// kPytorchLargest: of each network's predictions the worst, of these the least.
TEST(UnetFixtures, PytorchErrsAsTheErrorBudgetSays) {
  std::map<std::string, double> worst;
  for (const UnetCase& unet_case : testing::unet_cases()) {
    if (unet_case.manifest.empty()) {
      GTEST_SKIP() << "no folder `unet` among the fixtures";
    }
    const auto fixture = FixtureCase::load(unet_case.manifest);
    ASSERT_TRUE(fixture.ok()) << fixture.error().message;
    for (const FixtureTensor& tensor : fixture->tensors()) {
      if (testing::is_result(unet_case, tensor.name) &&
          testing::value_name(unet_case, tensor.name) == "out") {
        double& error = worst[unet_case.manifest];
        error = std::max(error, tensor.reference_error / tensor.max_abs);
      }
    }
  }
  const auto least =
      std::ranges::min_element(worst, {}, [](const auto& network) { return network.second; });
  ASSERT_NE(least, worst.end());
  EXPECT_GE(least->second, kPytorchLargest);
  EXPECT_LE(least->second, 1.01 * kPytorchLargest);
}

INSTANTIATE_TEST_SUITE_P(fixture, UnetFixture, ::testing::ValuesIn(testing::unet_cases()),
                         [](const auto& info) { return testing::name_of(info.param); });

}  // namespace
}  // namespace mezzotint
