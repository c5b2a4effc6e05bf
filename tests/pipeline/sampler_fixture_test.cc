// Whole chains against the reference: network, schedule and sampler together, step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "backend/cpu/cpu_backend.h"
#include "diffusion/sampler.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"
#include "pipeline/session.h"
#include "support/fixture.h"
#include "support/tolerance.h"
#include "support/unet_case.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using testing::FixtureCase;

// The precision table's bound for fp32: eight times the error of PyTorch's own float32.
constexpr double kMultiple = 8;

bool says(const nlohmann::json& facts, std::string_view words) {
  return facts.at("equations").dump().find(words) != std::string::npos;
}

// Which sampler the manifest's equations describe.
std::optional<SamplerOptions> options_of(const nlohmann::json& facts) {
  SamplerOptions options;
  if (says(facts, "posterior_mean_coef1")) {
    options.kind = SamplerKind::kDdpm;
  } else if (says(facts, "lambda(t)")) {
    options.kind = SamplerKind::kDpmpp2m;
  } else if (says(facts, "network's own eps")) {
    options.kind = SamplerKind::kDdim;
    options.raw_eps = true;
  } else if (says(facts, "noise derived again")) {
    options.kind = SamplerKind::kDdim;
  } else {
    return std::nullopt;
  }
  if (facts.contains("timesteps")) {
    options.timesteps = facts.at("timesteps").get<std::vector<int>>();
  } else {
    options.timesteps.resize(facts.at("T").get<std::size_t>());
    std::iota(options.timesteps.rbegin(), options.timesteps.rend(), 0);
  }
  return options;
}

class SamplerFixture : public ::testing::TestWithParam<fs::path> {};

TEST_P(SamplerFixture, FollowsTheReferenceStepByStep) {
  if (GetParam().empty()) {
    GTEST_SKIP() << "no folder `sampler` among the fixtures";
  }
  const auto fixture = FixtureCase::load(GetParam());
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const nlohmann::json& facts = fixture->facts();
  const auto options = options_of(facts);
  if (!options) {
    GTEST_SKIP() << "sampler kind not known here: " << fixture->what();
  }
  const auto weights = testing::stored_weights(facts);
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  const auto model = open_model(weights->file, weights->group);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto schedule = cosine_schedule(facts.at("T").get<int>());
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;

  const auto& shape = fixture->find("x_T")->shape;
  const auto machine = this_machine(0);
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const auto backend = make_cpu_backend();
  SessionOptions session_options;
  session_options.machine = *machine;
  session_options.grid = {shape[4], shape[3], shape[2]};
  session_options.timesteps = options->timesteps;
  auto session = Session::create(model->config, *backend, session_options);
  ASSERT_TRUE(session.ok()) << session.error().message;
  ModelParameters parameters(*model);
  const Status loaded = session->load(parameters);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;

  const ThreadTeam team(machine->threads);
  const RunOptions run{team, nullptr, {}};
  const auto condition = fixture->read("cond");
  ASSERT_TRUE(condition.ok()) << condition.error().message;
  ASSERT_TRUE(session->set_condition(*condition, run).ok());
  auto x = fixture->read("x_T");
  const auto trajectory = fixture->read("x.truth");
  ASSERT_TRUE(x.ok() && trajectory.ok());
  std::vector<float> noise;
  if (fixture->find("noise") != nullptr) {
    noise = *fixture->read("noise");
  }
  const std::size_t n = x->size();

  int steps = 0;
  const auto after_step = [&](const StepInfo& step, std::span<const float> now) -> Status {
    const auto at = static_cast<std::size_t>(step.index) + 1;
    const std::span<const float> truth = std::span(*trajectory).subspan(at * n, n);
    double largest = 0;
    for (const float value : truth) {
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    const double bound = testing::fixture_bound(
        kMultiple, facts.at("max_abs_f32_minus_f64_per_step").at(at).get<double>(), largest);
    const testing::Difference difference = testing::difference(now, truth);
    EXPECT_LE(difference.max_abs, bound) << "after step " << at << ": " << difference.text;
    ++steps;
    return {};
  };
  std::vector<float> workspace(
      static_cast<std::size_t>(sampler_workspace_floats(*options, static_cast<std::int64_t>(n))));
  const Status status = sample(
      *schedule, *options,
      [&](std::span<const float> now, int /*timestep*/, std::span<float> eps) {
        return session->evaluate(now, steps, eps, run);
      },
      [&](int draw, std::span<float> out) -> Status {
        const auto first = noise.begin() + static_cast<std::ptrdiff_t>((draw - 1) * n);
        std::copy(first, first + static_cast<std::ptrdiff_t>(n), out.begin());
        return {};
      },
      after_step, team, *x, workspace);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(steps, static_cast<int>(options->timesteps.size()));
}

std::vector<fs::path> manifests() {
  const auto found = testing::fixture_manifests("sampler");
  return found.empty() ? std::vector{fs::path()} : found;
}

INSTANTIATE_TEST_SUITE_P(fixture, SamplerFixture, ::testing::ValuesIn(manifests()),
                         [](const auto& info) {
                           return info.param.empty() ? std::string("absent")
                                                     : info.param.stem().string();
                         });

}  // namespace
}  // namespace mezzotint
