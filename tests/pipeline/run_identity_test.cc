#include "pipeline/run_identity.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

namespace mezzotint {
namespace {

// All that run_sha256() is told, and can be changed.
struct Inputs {
  GenerateRequest request;
  Model model;
  Chain chain;
  std::array<std::int64_t, 3> grid{16, 16, 8};
  std::string mask = std::string(64, 'b');
  std::optional<std::string> noise;
  LabelMap labels;
  std::string plan = std::string(64, 'c');

  Inputs() {
    model.recipe = &recipe_of(RecipeKind::kWholeHead);
    model.sha256 = std::string(64, 'a');
    model.frame = "RAS+";
    chain.schedule = *cosine_schedule(20);
    chain.options.kind = SamplerKind::kDdim;
    chain.options.timesteps = {19, 7, 0};
  }
  [[nodiscard]] std::string sha256() const {
    return run_sha256({request, model, chain, grid, mask, labels, noise, plan});
  }
};

TEST(RunIdentity, ChangesWithAllThatTheBytesDependOn) {
  const std::function<void(Inputs&)> changes[] = {
      [](Inputs&) {},
      [](Inputs& run) { run.model.sha256[0] = 'x'; },
      [](Inputs& run) { run.model.frame = "LPS+"; },
      [](Inputs& run) {
        run.model.spacing_mm = {1, 1, 1};
      },
      [](Inputs& run) { run.model.recipe = &recipe_of(RecipeKind::kGeneric); },
      [](Inputs& run) { run.request.weights = "model"; },
      [](Inputs& run) { run.request.seed = 1; },
      [](Inputs& run) { run.request.export_form = "brats"; },
      [](Inputs& run) { run.request.sample = 1; },
      [](Inputs& run) { run.noise = std::string(64, 'd'); },
      [](Inputs& run) { run.chain.options.kind = SamplerKind::kDdpm; },
      [](Inputs& run) { run.chain.options.eta = 0.1; },
      [](Inputs& run) {
        run.chain.options.timesteps = {19, 8, 0};
      },
      [](Inputs& run) {
        run.chain.options.timesteps = {19, 7};
      },
      [](Inputs& run) { run.chain.schedule = *cosine_schedule(21); },
      [](Inputs& run) {
        run.grid = {16, 8, 16};
      },
      [](Inputs& run) { run.mask[0] = 'x'; },
      [](Inputs& run) { run.labels.labels[1] = 1; },
      [](Inputs& run) { run.labels.labels[1] = 2; },
      [](Inputs& run) { run.labels.others = 0; },
      [](Inputs& run) { run.request.resize = "pad"; },
      [](Inputs& run) { run.request.size_of_mask = true; },
      [](Inputs& run) { run.request.as_stored = true; },
      [](Inputs& run) { run.plan[0] = 'x'; },
  };
  std::set<std::string> seen;
  for (const auto& change : changes) {
    Inputs run;
    change(run);
    EXPECT_EQ(run.sha256().size(), 64U);
    EXPECT_TRUE(seen.insert(run.sha256()).second) << seen.size();
  }
}

TEST(RunIdentity, StaysWithWhatTheBytesDoNotDependOn) {
  const Inputs plain;
  Inputs other;
  other.request.threads = 7;
  other.request.memory_limit = 1 << 30;
  other.request.overwrite = true;
  other.request.out = "elsewhere.nii";
  other.request.mask = "renamed.nii";
  other.request.preview = "p.png";
  EXPECT_EQ(other.sha256(), plain.sha256());
  // With noise from a file, the seed counts for nothing.
  other.noise = std::string(64, 'd');
  const std::string with_noise = other.sha256();
  other.request.seed = 5;
  EXPECT_EQ(other.sha256(), with_noise);
}

}  // namespace
}  // namespace mezzotint
