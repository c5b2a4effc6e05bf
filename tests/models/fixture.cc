// Parity with the reference network: detection on every checkpoint, and the built graph, evaluated
// in double, against every stored output and activation.
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "backend/ref/evaluate.h"
#include "graph/op_definition.h"
#include "models/med_ddpm.h"
#include "support/tolerance.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::FixtureCase;
using testing::FixtureTensor;

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

Result<std::unique_ptr<TensorFile>> open_checkpoint(const std::string& relative) {
  const auto folder = testing::find_fixture(relative);
  if (!folder) {
    return Error{ErrorCode::kNotFound, relative + " is not among the fixtures"};
  }
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (entry.path().extension() != ".json") {
      return open_tensor_file(entry.path());
    }
  }
  return Error{ErrorCode::kNotFound, relative + " holds no checkpoint"};
}

struct Model {
  std::unique_ptr<TensorFile> file;
  MedDdpmWeights weights;
  MedDdpmConfig config;
};

Result<Model> load_model(const std::string& relative, const std::string& group) {
  auto file = open_checkpoint(relative);
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
  const auto model = load_model(GetParam(), "ema");
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

// One evaluation with its stored results: the tensors "in2.t17_249.*.truth" of a manifest are the
// values of input in2 at timesteps 17 and 249 (one per sample).
struct Evaluation {
  std::string manifest;   // empty: there are no fixtures
  std::string input;      // "in2"
  std::string timesteps;  // "t17_249"
};

void PrintTo(const Evaluation& evaluation, std::ostream* out) {
  *out << evaluation.manifest << " " << evaluation.input << " " << evaluation.timesteps;
}

std::vector<Evaluation> evaluations() {
  std::vector<Evaluation> found;
  for (const fs::path& manifest : testing::fixture_manifests("unet")) {
    const auto fixture = FixtureCase::load(manifest);
    std::set<std::pair<std::string, std::string>> seen;
    for (const FixtureTensor& tensor :
         fixture ? fixture->tensors() : std::vector<FixtureTensor>()) {
      const std::size_t first = tensor.name.find('.');
      const std::size_t second = tensor.name.find('.', first + 1);
      if (second != std::string::npos && tensor.name.ends_with(".truth")) {
        seen.emplace(tensor.name.substr(0, first),
                     tensor.name.substr(first + 1, second - first - 1));
      }
    }
    for (const auto& [input, timesteps] : seen) {
      found.push_back({manifest.string(), input, timesteps});
    }
    if (seen.empty()) {
      found.push_back({manifest.string(), "none", "none"});
    }
  }
  return found.empty() ? std::vector{Evaluation{}} : found;
}

// "t17_249" -> 17, 249; empty when it is not of this form.
std::vector<double> parse_timesteps(std::string_view text) {
  std::vector<double> timesteps;
  while (!text.empty()) {
    int timestep = 0;
    const auto [stop, code] = std::from_chars(text.data() + 1, text.data() + text.size(), timestep);
    if (code != std::errc()) {
      return {};
    }
    timesteps.push_back(timestep);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return timesteps;
}

// "in0.t17.act.middle_block.truth" -> "middle_block", "in0.t17.out.truth" -> "out".
std::string value_name(const Evaluation& evaluation, std::string_view tensor) {
  constexpr std::string_view kSuffix = ".truth";
  constexpr std::string_view kActivation = "act.";
  tensor.remove_prefix(evaluation.input.size() + evaluation.timesteps.size() + 2);
  tensor.remove_suffix(kSuffix.size());
  if (tensor.starts_with(kActivation)) {
    tensor.remove_prefix(kActivation.size());
  }
  return std::string(tensor);
}

// Channels [begin, end) of every sample.
ref::RefTensor channels(const ref::RefTensor& x, std::int64_t begin, std::int64_t end) {
  const std::int64_t positions = x.shape[2] * x.shape[3] * x.shape[4];
  ref::RefTensor part{x.shape.with(1, end - begin), {}};
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    const auto from = x.data.begin() + (n * x.shape[1] + begin) * positions;
    part.data.insert(part.data.end(), from, from + (end - begin) * positions);
  }
  return part;
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

// What the naive interpreter does in about half a minute on two cores. Larger cases are left to the
// tests of the runtime, which compare them in float32.
constexpr double kMostFlops = 3e9;

double total_flops(const Graph& graph) {
  double total = 0;
  for (const Op& op : graph.ops()) {
    total += flops_of({graph, op});
  }
  return total;
}

class UnetFixture : public ::testing::TestWithParam<Evaluation> {};

// Both sides are computed in double; the stored one is rounded to float32, which costs half an ulp.
// The other half is for two correct orders of summation.
TEST_P(UnetFixture, AgreesInDouble) {
  const Evaluation& evaluation = GetParam();
  if (evaluation.manifest.empty()) {
    GTEST_SKIP() << "no folder `unet` among the fixtures";
  }
  const auto fixture = FixtureCase::load(evaluation.manifest);
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const std::string weights = fixture->facts().at("weights");
  const std::size_t comma = weights.find(", ");
  auto model = load_model(weights.substr(0, comma), weights.substr(comma + 2));
  ASSERT_TRUE(model.ok()) << model.error().message;
  const MedDdpmConfig& config = model->config;

  const FixtureTensor* info = fixture->find(evaluation.input + ".x");
  ASSERT_NE(info, nullptr) << evaluation.input;
  const auto data = fixture->read_double(info->name);
  ASSERT_TRUE(data.ok()) << data.error().message;
  const ref::RefTensor x{Shape(info->shape), *data};
  const auto graph = build_med_ddpm(config, x.shape[0], {x.shape[2], x.shape[3], x.shape[4]});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  if (const double flops = total_flops(*graph); flops > kMostFlops) {
    GTEST_SKIP() << flops / 1e9 << " GFLOP are too many for the naive interpreter";
  }
  ref::Bindings bindings;
  bindings["x"] = channels(x, 0, config.image_channels);
  bindings["condition"] = channels(x, config.image_channels, config.in_channels);
  bindings["t"] = {Shape{x.shape[0]}, parse_timesteps(evaluation.timesteps)};
  const Status bound = bind_parameters(*graph, *model, bindings);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  const auto values = ref::evaluate(*graph, bindings, ThreadTeam());
  ASSERT_TRUE(values.ok()) << values.error().message;

  std::size_t compared = 0;
  for (const FixtureTensor& tensor : fixture->tensors()) {
    if (!tensor.name.starts_with(evaluation.input + "." + evaluation.timesteps + ".") ||
        !tensor.name.ends_with(".truth")) {
      continue;
    }
    SCOPED_TRACE(tensor.name);
    const std::string name = value_name(evaluation, tensor.name);
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

INSTANTIATE_TEST_SUITE_P(fixture, UnetFixture, ::testing::ValuesIn(evaluations()),
                         [](const auto& info) {
                           return info.param.manifest.empty()
                                      ? std::string(kAbsent)
                                      : fs::path(info.param.manifest).stem().string() + "_" +
                                            info.param.input + "_" + info.param.timesteps;
                         });

}  // namespace
}  // namespace mezzotint
