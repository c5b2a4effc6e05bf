// The parity cases of single ops and blocks, on every backend, once by each implementation that
// accepts the op in question.
//
// Which cases there are is read when the tests are listed, from the folder that MEZZOTINT_FIXTURES
// names and from the committed goldens.
#include <fmt/format.h>
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

// An op or block in float32 may be off by four times what PyTorch's float32 is, the bound of
// --precision strict: both round every intermediate to float32, in another order of summation. An
// implementation that trades accuracy for speed, as only fp32 allows, by eight times.
constexpr double kStrictMultiple = 4.0;
constexpr double kFp32Multiple = 8.0;

// The most that the implementation claims for an op of the graph which it accepts.
double error_growth(const Implementation& implementation, OpKind kind, const Graph& graph) {
  double growth = 1;
  for (const Op& op : graph.ops()) {
    const OpView view{graph, op};
    if (op.kind == kind && !implementation.refusal(view, {test_machine()})) {
      growth = std::max(growth, implementation.error_growth(view));
    }
  }
  return growth;
}

struct OpCase {
  std::filesystem::path manifest;
  std::string truth;  // empty when the case cannot be read
  const BackendUnderTest* backend = nullptr;
  std::string label;  // unique, of letters, digits and underscores
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

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  for (const auto& manifest : fixture_manifests("ops")) {
    const std::string name = manifest.stem().string();
    const Result<FixtureCase> fixture = FixtureCase::load(manifest);
    if (!fixture) {
      cases.push_back({manifest, "", nullptr, as_label(name)});
      continue;
    }
    for (const FixtureTensor& tensor : fixture->tensors()) {
      if (!tensor.name.ends_with(".truth")) {
        continue;
      }
      const std::string stem = tensor.name.substr(0, tensor.name.rfind('.'));
      for (const BackendUnderTest& backend : kBackendsUnderTest) {
        const std::string label = as_label(fmt::format("{}_{}_{}", name, stem, backend.name));
        cases.push_back({manifest, tensor.name, &backend, label});
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
  const std::unique_ptr<Backend> backend = param.backend->make();
  std::string refusals;
  int accepted = 0;
  for (const Implementation* implementation : backend->implementations(*kind.op)) {
    SCOPED_TRACE(implementation->name());
    const Result<HostTensors> results =
        run_graph(problem->graph, *backend, problem->bindings, test_machine(),
                  ForcedImplementation{*kind.op, implementation->name()});
    if (!results && results.error().code == ErrorCode::kUnsupported) {
      refusals += results.error().message + "\n";
      continue;
    }
    ASSERT_TRUE(results.ok()) << results.error().message;
    const std::vector<float>& result = results->begin()->second;
    ASSERT_EQ(result.size(), problem->expected.size());
    const Difference found = difference(result, problem->expected);
    const double growth = error_growth(*implementation, *kind.op, problem->graph);
    const double multiple = growth > 1 ? kFp32Multiple : kStrictMultiple;
    EXPECT_LE(found.max_abs,
              std::max(fixture_bound(multiple, truth->reference_error, truth->max_abs),
                       growth * sum_bound(problem->terms, truth->max_abs)))
        << found.text << "; PyTorch's float32: " << truth->reference_error;
    ++accepted;
  }
  EXPECT_GT(accepted, 0) << refusals;
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
