// The parity cases of single ops and blocks, on every backend, once per implementation.
//
// Which cases there are is read when the tests are listed, from the folder that MEZZOTINT_FIXTURES
// names and from the committed goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "backend/ref_backends.h"
#include "backend/ref_fixture_problem.h"
#include "support/fixture.h"
#include "support/graph_runner.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

// An op or block in float32 may be off by four times what PyTorch's float32 is: the bound of
// --precision strict. Both round every intermediate to float32, in another order of summation.
constexpr double kMultiple = 4.0;

struct OpCase {
  std::filesystem::path manifest;
  std::string truth;
  const BackendUnderTest* backend = nullptr;
  std::string implementation;  // empty: the first that accepts, or the only one
  std::string label;           // unique, of letters, digits and underscores
};

void PrintTo(const OpCase& value, std::ostream* stream) {
  *stream << value.label;
}

std::string as_label(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

void add_cases(const std::filesystem::path& manifest, const FixtureCase& fixture,
               const FixtureTensor& truth, std::vector<OpCase>& cases) {
  const std::string stem = truth.name.substr(0, truth.name.rfind('.'));
  for (const BackendUnderTest& backend : kBackendsUnderTest) {
    std::vector<std::string> implementations{""};
    if (const auto op = kind_of(fixture, truth).op) {
      const auto instance = backend.make();
      const auto all = instance->implementations(*op);
      for (const Implementation* implementation : all.subspan(all.size() == 1 ? 1 : 0)) {
        implementations.emplace_back(implementation->name());
      }
    }
    for (const std::string& implementation : implementations) {
      cases.push_back(
          {manifest, truth.name, &backend, implementation,
           as_label(manifest.stem().string() + "_" + stem + "_" + std::string(backend.name) +
                    (implementation.empty() ? "" : "_by_" + implementation))});
    }
  }
}

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  for (const auto& manifest : fixture_manifests("ops")) {
    const Result<FixtureCase> fixture = FixtureCase::load(manifest);
    if (!fixture) {
      cases.push_back({manifest, "", nullptr, "", as_label(manifest.stem().string())});
      continue;
    }
    for (const FixtureTensor& tensor : fixture->tensors()) {
      if (tensor.name.ends_with(".truth")) {
        add_cases(manifest, *fixture, tensor, cases);
      }
    }
  }
  return cases;
}

class FixtureOps : public ::testing::TestWithParam<OpCase> {};

TEST_P(FixtureOps, matches_the_truth) {
  const OpCase& param = GetParam();
  const Result<FixtureCase> fixture = FixtureCase::load(param.manifest);
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const FixtureTensor* truth = fixture->find(param.truth);
  ASSERT_NE(truth, nullptr);
  const ProblemKind kind = kind_of(*fixture, *truth);
  if (!kind.op) {
    GTEST_SKIP() << "no feature yet for the kind of " << kind.name;
  }
  const Result<Problem> problem = make_problem(*fixture, *truth, param.backend->activations);
  ASSERT_TRUE(problem.ok()) << problem.error().message;

  const std::optional<ForcedImplementation> forced =
      param.implementation.empty()
          ? std::nullopt
          : std::optional(ForcedImplementation{*kind.op, param.implementation});
  const Result<HostTensors> results =
      run_graph(problem->graph, *param.backend->make(), problem->bindings, test_machine(), forced);
  if (forced && !results && results.error().code == ErrorCode::kUnsupported) {
    GTEST_SKIP() << results.error().message;
  }
  ASSERT_TRUE(results.ok()) << results.error().message;
  const std::vector<float>& result = results->begin()->second;
  ASSERT_EQ(result.size(), problem->expected.size());

  const Difference found = difference(result, problem->expected);
  const double bound = fixture_bound(kMultiple, truth->reference_error, truth->max_abs);
  EXPECT_LE(found.max_abs, bound) << found.text
                                  << "; PyTorch's float32: " << truth->reference_error;
}

INSTANTIATE_TEST_SUITE_P(fixture, FixtureOps, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.label; });

TEST(FixtureFolder, fixture_folder_is_present) {
  if (!fixture_folder()) {
    GTEST_SKIP() << "no fixture folder: set MEZZOTINT_FIXTURES; only the goldens in "
                 << golden_folder().string() << " were checked";
  }
  EXPECT_FALSE(fixture_manifests("ops").empty());
}

}  // namespace
}  // namespace mezzotint::testing
