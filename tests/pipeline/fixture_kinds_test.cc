// No fixture is passed over in silence: a folder of a kind that no test reads is reported as
// skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/fixture.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

// Folders whose manifests drive tests: here, and in tests/models, backend, diffusion and imaging.
constexpr std::string_view kReadFolders[] = {"checkpoints", "ops",      "preprocess",
                                             "sampler",     "schedule", "unet"};

std::vector<fs::path> unread_manifests() {
  std::vector<fs::path> manifests;
  const auto folder = testing::fixture_folder();
  for (const auto& entry : folder ? fs::directory_iterator(*folder) : fs::directory_iterator()) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && std::find(std::begin(kReadFolders), std::end(kReadFolders), name) ==
                                    std::end(kReadFolders)) {
      const auto found = testing::fixture_manifests(name);
      manifests.insert(manifests.end(), found.begin(), found.end());
    }
  }
  std::sort(manifests.begin(), manifests.end());
  return manifests;
}

class KindFixture : public ::testing::TestWithParam<fs::path> {};

TEST_P(KindFixture, HasNoFeatureYet) {
  const auto fixture = testing::FixtureCase::load(GetParam());
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  GTEST_SKIP() << "kind " << GetParam().parent_path().filename().string()
               << " has no feature yet: " << fixture->what();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KindFixture);
INSTANTIATE_TEST_SUITE_P(fixture, KindFixture, ::testing::ValuesIn(unread_manifests()),
                         [](const auto& info) {
                           return info.param.parent_path().filename().string() + "_" +
                                  info.param.stem().string();
                         });

}  // namespace
}  // namespace mezzotint
