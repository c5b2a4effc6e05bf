// Parity with the reference network: detection on every checkpoint, and the built graph, evaluated
// in double, against every stored output and activation.
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backend/ref/evaluate.h"
#include "graph/op_definition.h"
#include "models/med_ddpm.h"
#include "support/sanitized.h"
#include "support/tolerance.h"
#include "support/unet_case.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::FixtureCase;
using testing::FixtureTensor;
using testing::UnetCase;

constexpr std::string_view kAbsent = "absent";

// --- the files of a checkpoint case

std::vector<std::string> checkpoint_cases() {
  std::vector<std::string> names;
  if (const auto folder = testing::find_fixture("checkpoints")) {
    for (const auto& entry : fs::directory_iterator(*folder)) {
      if (fs::exists(entry.path() / "manifest.json")) {
        names.push_back("checkpoints/" + entry.path().filename().string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? std::vector{std::string(kAbsent)} : names;
}

struct Model {
  std::unique_ptr<TensorFile> file;
  MedDdpmWeights weights;
  MedDdpmConfig config;
};

Result<Model> load_model(const fs::path& path, const std::string& group) {
  auto file = open_tensor_file(path);
  if (!file) {
    return file.error();
  }
  auto weights = select_weights(**file, group);
  if (!weights) {
    return weights.error();
  }
  auto config = detect_med_ddpm(weights->keys);
  if (!config) {
    return config.error();
  }
  return Model{std::move(*file), std::move(*weights), std::move(*config)};
}

// --- detection

std::vector<int> attention_levels(const json& facts) {
  std::vector<int> levels;
  for (const int factor : facts.at("attention_at_downsample")) {
    for (int level = 0; level < facts.at("levels").get<int>(); ++level) {
      if (1 << level == factor) {
        levels.push_back(level);
      }
    }
  }
  return levels;
}

class CheckpointFixture : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckpointFixture, IsDetected) {
  if (GetParam() == kAbsent) {
    GTEST_SKIP() << "no folder `checkpoints` among the fixtures";
  }
  const auto path = testing::checkpoint_file(GetParam());
  ASSERT_TRUE(path.ok()) << path.error().message;
  const auto model = load_model(*path, "ema");
  ASSERT_TRUE(model.ok()) << model.error().message;
  std::ifstream stream(*testing::find_fixture(GetParam() + "/manifest.json"));
  const json facts = json::parse(stream).at("facts");
  const json& config = facts.at("config");
  std::string kind = config.at("kind");
  std::replace(kind.begin(), kind.end(), '_', '-');
  EXPECT_EQ(name_of(model->config.recipe), kind);
  EXPECT_EQ(model->config.in_channels, config.at("in_channels").get<std::int64_t>());
  EXPECT_EQ(model->config.out_channels, config.at("out_channels").get<std::int64_t>());
  EXPECT_EQ(model->config.base_channels, config.at("num_channels").get<std::int64_t>());
  EXPECT_EQ(model->config.res_blocks, config.at("num_res_blocks").get<std::int64_t>());
  EXPECT_EQ(model->config.channel_multiplier,
            facts.at("channel_mult").get<std::vector<std::int64_t>>());
  EXPECT_EQ(model->config.attention_levels, attention_levels(facts));
  EXPECT_EQ(model->config.size_multiple(),
            facts.at("spatial_dims_must_be_multiples_of").get<std::int64_t>());
  EXPECT_EQ(model->weights.step.has_value(), facts.contains("step"));
  if (facts.contains("step")) {
    EXPECT_EQ(*model->weights.step, facts.at("step").get<std::int64_t>());
    EXPECT_EQ(model->weights.timesteps, 250);
  }

  const auto keys = med_ddpm_keys(model->config);
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::int64_t parameters = 0;
  for (const NamedShape& key : *keys) {
    shapes[key.name] = key.shape;
    parameters += Shape(key.shape).elements();
  }
  EXPECT_EQ(shapes, (facts.at("keys").get<std::map<std::string, std::vector<std::int64_t>>>()));
  EXPECT_EQ(parameters, facts.at("parameters").get<std::int64_t>());
}

std::string case_name(const ::testing::TestParamInfo<std::string>& info) {
  return fs::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(fixture, CheckpointFixture, ::testing::ValuesIn(checkpoint_cases()),
                         case_name);

// --- parity

// The evaluations that name activations: one of each network. The others differ in t and size, and
// the tests of the pipeline compare all of them in float32.
std::vector<UnetCase> cases_with_activations() {
  std::vector<UnetCase> cases;
  for (const UnetCase& unet_case : testing::unet_cases()) {
    const auto fixture = FixtureCase::load(unet_case.manifest);
    const bool has_activations =
        fixture && std::any_of(fixture->tensors().begin(), fixture->tensors().end(),
                               [&](const FixtureTensor& tensor) {
                                 return testing::is_result(unet_case, tensor.name) &&
                                        testing::value_name(unet_case, tensor.name) != "out";
                               });
    if (has_activations || unet_case.manifest.empty()) {
      cases.push_back(unet_case);
    }
  }
  return cases;
}

Status bind_parameters(const Graph& graph, Model& model, ref::Bindings& bindings) {
  for (const ValueId id : graph.parameters()) {
    const Value& value = graph.value(id);
    std::vector<float> data(static_cast<std::size_t>(value.type.shape.elements()));
    const std::size_t tensor = model.weights.tensors.at(value.name);
    if (Status status = model.file->read_float(tensor, data); !status) {
      return status;
    }
    bindings[value.name] = {value.type.shape, {data.begin(), data.end()}};
  }
  return {};
}

// What the naive interpreter does in some seconds on two cores, sanitizers or not.
constexpr double kMostFlops = testing::kSanitized ? 5e8 : 3e9;

double total_flops(const Graph& graph) {
  double total = 0;
  for (const Op& op : graph.ops()) {
    total += flops_of({graph, op});
  }
  return total;
}

class UnetFixture : public ::testing::TestWithParam<UnetCase> {};

// Both sides are computed in double; the stored one is rounded to float32, which costs half an ulp.
// The other half is for two correct orders of summation.
TEST_P(UnetFixture, AgreesInDouble) {
  const UnetCase& evaluation = GetParam();
  if (evaluation.manifest.empty()) {
    GTEST_SKIP() << "no folder `unet` among the fixtures";
  }
  const auto fixture = FixtureCase::load(evaluation.manifest);
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const auto weights = testing::stored_weights(fixture->facts());
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  auto model = load_model(weights->file, weights->group);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const MedDdpmConfig& config = model->config;

  const FixtureTensor* info = fixture->find(evaluation.input + ".x");
  ASSERT_NE(info, nullptr) << evaluation.input;
  const auto data = fixture->read_double(info->name);
  ASSERT_TRUE(data.ok()) << data.error().message;
  const Shape shape(info->shape);
  const auto graph = build_med_ddpm(config, shape[0], {shape[2], shape[3], shape[4]});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  if (const double flops = total_flops(*graph); flops > kMostFlops) {
    GTEST_SKIP() << flops / 1e9 << " GFLOP are too many for the naive interpreter";
  }
  ref::Bindings bindings;
  bindings["x"] = {shape.with(1, config.image_channels),
                   testing::take_channels(*data, info->shape, 0, config.image_channels)};
  bindings["condition"] = {
      shape.with(1, config.condition_channels),
      testing::take_channels(*data, info->shape, config.image_channels, config.in_channels)};
  bindings["t"] = {Shape{shape[0]}, testing::parse_timesteps(evaluation.timesteps)};
  const Status bound = bind_parameters(*graph, *model, bindings);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  const auto values = ref::evaluate(*graph, bindings, ThreadTeam());
  ASSERT_TRUE(values.ok()) << values.error().message;

  std::size_t compared = 0;
  for (const FixtureTensor& tensor : fixture->tensors()) {
    if (!testing::is_result(evaluation, tensor.name)) {
      continue;
    }
    SCOPED_TRACE(tensor.name);
    const std::string name = testing::value_name(evaluation, tensor.name);
    const auto id = graph->find_value(name);
    ASSERT_TRUE(id) << "the graph has no value " << name;
    const ref::RefTensor& value = (*values)[*id];
    ASSERT_EQ(value.shape, Shape(tensor.shape));
    const auto truth = fixture->read_double(tensor.name);
    ASSERT_TRUE(truth.ok()) << truth.error().message;
    double worst = 0;
    for (std::size_t i = 0; i < truth->size(); ++i) {
      const double error = std::abs(value.data[i] - (*truth)[i]);
      ASSERT_FALSE(std::isnan(error)) << i;
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, testing::ulp_of(tensor.max_abs)) << "largest value " << tensor.max_abs;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(fixture, UnetFixture, ::testing::ValuesIn(cases_with_activations()),
                         [](const auto& info) { return testing::name_of(info.param); });

}  // namespace
}  // namespace mezzotint
