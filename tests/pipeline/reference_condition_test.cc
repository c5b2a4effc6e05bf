// `--as-stored --resize reference` gives the network what the reference's scripts give it. Driven
// by the manifests in preprocess/: each pair of label volume and condition tensor is a case.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "formats/ckpt_files.h"
#include "pipeline/condition.h"
#include "support/fixture.h"
#include "support/nifti_builder.h"
#include "support/preprocess.h"

namespace mezzotint::testing {
namespace {

struct ConditionCase {
  std::filesystem::path manifest;
  std::string prefix;  // of the tensors PREFIX.labels and PREFIX.cond
};

void PrintTo(const ConditionCase& which, std::ostream* out) {
  *out << which.manifest.string() << ", " << which.prefix;
}

std::vector<ConditionCase> condition_cases() {
  std::vector<ConditionCase> cases;
  for (const auto& manifest : fixture_manifests("preprocess")) {
    const auto fixture = FixtureCase::load(manifest);
    for (const FixtureTensor& tensor :
         fixture ? fixture->tensors() : std::vector<FixtureTensor>()) {
      const std::string prefix = tensor.name.substr(0, tensor.name.rfind('.'));
      if (tensor.name == prefix + ".labels" && fixture->find(prefix + ".cond") != nullptr) {
        cases.push_back({manifest, prefix});
      }
    }
  }
  return cases;
}

Model model_for(std::int64_t channels) {
  Model model;
  model.recipe = &recipe_of(recipe_for_channels(channels == 2 ? 1 : 4, channels));
  model.frame = model.recipe->frame;
  model.labels.minus_one_is_background = model.recipe->minus_one_is_background;
  for (int label = 1; label <= static_cast<int>(channels); ++label) {
    model.labels.labels.push_back({label, std::string(model.recipe->label_names[label - 1U])});
  }
  return model;
}

class ReferenceCondition : public ::testing::TestWithParam<ConditionCase> {
 protected:
  void SetUp() override {
    auto fixture = FixtureCase::load(GetParam().manifest);
    ASSERT_TRUE(fixture.ok()) << fixture.error().message;
    const FixtureTensor& labels = *fixture->find(GetParam().prefix + ".labels");
    const FixtureTensor& cond = *fixture->find(GetParam().prefix + ".cond");
    dims_ = {labels.shape[0], labels.shape[1], labels.shape[2]};
    grid_ = {cond.shape[4], cond.shape[3], cond.shape[2]};
    model_ = model_for(cond.shape[1]);
    labels_ = reverse_axes<std::uint8_t>(*fixture->read(labels.name), dims_);
    expected_ = *fixture->read(cond.name);
  }

  // The condition for the labels in a file whose axes are by no model's: the reference ignores
  // them.
  [[nodiscard]] std::vector<float> condition(const FitOptions& options) const {
    constexpr Affine kAir{{{0, 0, 1.5, 3}, {0, -2, 0, 5}, {-1, 0, 0, 7}, {0, 0, 0, 1}}};
    const std::vector<std::byte> bytes =
        NiftiBuilder().dims({dims_[0], dims_[1], dims_[2]}).sform(1, kAir).voxels(labels_).build();
    const TemporaryFile file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const auto read = read_condition(file.path(), model_, options);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read ? encode_condition(*read, model_) : std::vector<float>();
  }

  [[nodiscard]] double largest_difference(const std::vector<float>& actual) const {
    double largest = actual.size() == expected_.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(actual.size(), expected_.size()); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - expected_[i]));
    }
    return largest;
  }

  Dims3 dims_{};
  Dims3 grid_{};
  Model model_;
  std::vector<std::uint8_t> labels_;
  std::vector<float> expected_;
};

TEST_P(ReferenceCondition, IsWhatTheNetworkIsGiven) {
  FitOptions options;
  options.dims = grid_;
  options.frame = model_.frame;
  options.spacing_mm = Vec3{1, 1, 1};  // known or not: the reference looks at sizes alone
  options.resize = Resize::kReference;
  options.as_stored = true;
  const double range = static_cast<double>(model_.recipe->on_value) - model_.recipe->off_value;
  EXPECT_LE(largest_difference(condition(options)),
            dims_ == grid_ ? 0 : resize_bound(dims_, grid_, range));
  // Each of the two flags is needed: another way is off by more than a half somewhere.
  options.as_stored = false;
  EXPECT_GT(largest_difference(condition(options)), 0.5 * range);
  if (dims_ != grid_) {
    options.as_stored = true;
    options.resize = Resize::kResample;
    EXPECT_GT(largest_difference(condition(options)), 0.25 * range);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReferenceCondition);
INSTANTIATE_TEST_SUITE_P(fixture, ReferenceCondition, ::testing::ValuesIn(condition_cases()),
                         [](const auto& info) {
                           return info.param.manifest.stem().string() + "_" + info.param.prefix;
                         });

TEST(ReferenceConditionFolder, fixture_is_present) {
  if (condition_cases().empty()) {
    GTEST_SKIP() << "no preprocess fixtures; set MEZZOTINT_FIXTURES";
  }
}

}  // namespace
}  // namespace mezzotint::testing
