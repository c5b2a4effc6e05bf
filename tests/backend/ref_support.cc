// The yardsticks themselves: bounds, differences, and what a fixture that cannot be read says.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "backend/ref/ref_backend.h"
#include "backend/ref_fixture_problem.h"
#include "base/dtype.h"
#include "support/fixture.h"
#include "support/graph_runner.h"
#include "support/random_fill.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

TEST(Tolerance, fixture_bound_has_a_floor_of_two_ulp) {
  EXPECT_EQ(ulp_of(1.0), 0x1p-23);
  EXPECT_EQ(ulp_of(-3.0), 0x1p-22);
  EXPECT_EQ(fixture_bound(4, 0, 1.5), 0x1p-22);
  EXPECT_EQ(fixture_bound(4, 1e-6, 1.5), 4e-6);
}

TEST(Tolerance, difference_tells_where_and_how_much) {
  const std::vector<float> values{1, 2, 4};
  const std::vector<double> truth{1, 2, 3};
  const Difference found = difference(values, truth);
  EXPECT_EQ(found.max_abs, 1.0);
  EXPECT_EQ(found.worst, 2U);
  EXPECT_NEAR(found.relative_l2, 1.0 / std::sqrt(14.0), 1e-15);
  EXPECT_EQ(found.text, "max |error| 1 at 2 (got 4, expected 3), relative L2 0.267");
}

TEST(Tolerance, difference_of_nan_is_infinite) {
  const std::vector<float> values{1, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> truth{1, 2};
  EXPECT_TRUE(std::isinf(difference(values, truth).max_abs));
}

// Ten thousand sums in float32 stay below the bound, and come within a tenth of it.
TEST(Tolerance, sum_bound_holds_and_is_not_empty) {
  for (const std::int64_t terms : {81, 864, 2592}) {
    constexpr std::int64_t kSums = 10'000;
    double max_error = 0;
    double max_abs = 0;
    for (std::int64_t i = 0; i < kSums; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      const std::vector<float> a = random_floats(terms, 2 * seed);
      const std::vector<float> b = random_floats(terms, 2 * seed + 1'000'000);
      float sum = 0;
      double truth = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        sum = std::fma(a[k], b[k], sum);
        truth += static_cast<double>(a[k]) * b[k];
      }
      max_error = std::max(max_error, std::abs(sum - truth));
      max_abs = std::max(max_abs, std::abs(truth));
    }
    EXPECT_LT(max_error, sum_bound(terms, max_abs)) << terms;
    EXPECT_GT(max_error, 0.1 * sum_bound(terms, max_abs)) << terms;
  }
}

// The bounds of the parity tests are worth having: weights rounded to bfloat16 are found out.
TEST(Tolerance, bounds_of_convolution_goldens_reject_bf16_weights) {
  const auto fixture = FixtureCase::load(golden_folder() / "ops/conv3d.json");
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  int judged = 0;
  for (const FixtureTensor& truth : fixture->tensors()) {
    if (!truth.name.ends_with(".truth")) {
      continue;
    }
    Result<Problem> problem = make_problem(*fixture, truth, Layout::kRowMajor);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    for (float& weight : problem->bindings.at("weight")) {
      weight = float_from_bf16(bf16_from_float(weight));
    }
    const auto results =
        run_graph(problem->graph, *make_ref_backend(), problem->bindings, test_machine());
    ASSERT_TRUE(results.ok()) << results.error().message;
    const double bound = std::max(fixture_bound(4, truth.reference_error, truth.max_abs),
                                  sum_bound(problem->terms, truth.max_abs));
    EXPECT_GT(difference(results->begin()->second, problem->expected).max_abs, 10 * bound)
        << truth.name;
    ++judged;
  }
  EXPECT_GT(judged, 0);
}

TEST(Fixture, names_the_file_it_cannot_read) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto absent = FixtureCase::load(folder / "no_such_case.json");
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("no_such_case.json: not a fixture's manifest"),
            std::string::npos)
      << absent.error().message;

  const auto lonely = folder / "lonely_case.json";
  std::ofstream(lonely) << R"({"case": "ops/lonely", "tensors": []})";
  const auto without_tensors = FixtureCase::load(lonely);
  ASSERT_FALSE(without_tensors.ok());
  EXPECT_NE(without_tensors.error().message.find("lonely_case.safetensors"), std::string::npos)
      << without_tensors.error().message;
}

TEST(Fixture, says_which_tensor_is_missing) {
  const auto fixture = FixtureCase::load(golden_folder() / "ops/conv3d.json");
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const auto read = fixture->read("no.such.tensor");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("no tensor no.such.tensor"), std::string::npos);

  FixtureTensor orphan;
  orphan.name = "no.such.y.truth";
  EXPECT_FALSE(kind_of(*fixture, orphan).op.has_value());
}

}  // namespace
}  // namespace mezzotint::testing
