// Against numbers from the reference implementation, driven by the manifests in the fixture folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diffusion/sampler.h"
#include "diffusion/schedule.h"
#include "diffusion/timesteps.h"
#include "formats/tensor_file.h"

namespace mezzotint {
namespace {

std::filesystem::path fixture_folder() {
  const char* named = std::getenv("MEZZOTINT_FIXTURES");
  return named != nullptr ? std::filesystem::path(named)
                          : std::filesystem::path(MEZZOTINT_SOURCE_DIR) / "../shared/fixtures";
}

struct Case {
  std::filesystem::path manifest;
  nlohmann::json facts;
};

std::vector<Case> cases_in(const std::string& folder) {
  std::vector<Case> cases;
  const auto path = fixture_folder() / folder;
  if (!std::filesystem::is_directory(path)) {
    return cases;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".json") {
      std::ifstream file(entry.path());
      cases.push_back({entry.path(), nlohmann::json::parse(file).at("facts")});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.manifest < b.manifest; });
  return cases;
}

std::unique_ptr<TensorFile> tensors_of(const Case& fixture) {
  auto file =
      open_tensor_file(std::filesystem::path(fixture.manifest).replace_extension(".safetensors"));
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file.ok() ? *std::move(file) : nullptr;
}

template <typename T>
std::vector<T> read(TensorFile& file, const std::string& name) {
  const auto index = file.find("", name);
  EXPECT_TRUE(index.has_value()) << name;
  std::vector<T> values(file.tensors()[*index].elements);
  EXPECT_EQ(size_of(file.tensors()[*index].dtype), sizeof(T)) << name;
  EXPECT_TRUE(file.read_bytes(*index, std::as_writable_bytes(std::span(values))).ok()) << name;
  return values;
}

std::int64_t ulps_between(float a, float b) {
  const auto ordered = [](float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    return static_cast<std::int64_t>(bits < 0 ? std::numeric_limits<std::int32_t>::min() - bits
                                              : bits);
  };
  return std::abs(ordered(a) - ordered(b));
}

// Our cosine and logarithm may differ from the reference's by an ulp. All buffers are smooth
// functions of 1 - abar, whose smallest value is beta_0: relative errors grow by 1 / beta_0.
TEST(Schedule, fixture_buffers) {
  const std::vector<Case> cases = cases_in("schedule");
  if (cases.empty()) {
    GTEST_SKIP() << "no fixtures at " << fixture_folder();
  }
  for (const Case& fixture : cases) {
    SCOPED_TRACE(fixture.manifest.string());
    const auto schedule = cosine_schedule(fixture.facts.at("T").get<int>());
    ASSERT_TRUE(schedule.ok());
    const auto file = tensors_of(fixture);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->tensors().size(), 2U * kScheduleBufferCount);
    const double relative = 8 * std::numeric_limits<double>::epsilon() / schedule->betas[0];
    for (const ScheduleBuffer& buffer : schedule_buffers()) {
      const std::vector<double>& ours = (*schedule).*buffer.values;
      const auto doubles = read<double>(*file, std::string(buffer.name) + ".f64");
      const auto floats = read<float>(*file, std::string(buffer.name) + ".f32");
      ASSERT_EQ(ours.size(), doubles.size()) << buffer.name;
      for (std::size_t t = 0; t < ours.size(); ++t) {
        ASSERT_NEAR(ours[t], doubles[t], relative * std::fabs(doubles[t])) << buffer.name << t;
        ASSERT_LE(ulps_between(static_cast<float>(ours[t]), floats[t]), 1) << buffer.name << t;
      }
    }
  }
}

TEST(Timesteps, fixture_lists) {
  int compared = 0;
  for (const Case& fixture : cases_in("sampler")) {
    if (!fixture.facts.contains("timesteps")) {
      continue;
    }
    const auto expected = fixture.facts.at("timesteps").get<std::vector<int>>();
    const auto schedule = cosine_schedule(fixture.facts.at("T").get<int>());
    ASSERT_TRUE(schedule.ok());
    const auto timesteps =
        choose_timesteps(*schedule, static_cast<int>(expected.size()), Spacing::kTimestep);
    ASSERT_TRUE(timesteps.ok());
    EXPECT_EQ(*timesteps, expected) << fixture.manifest;
    ++compared;
  }
  if (compared == 0) {
    GTEST_SKIP() << "no fixtures at " << fixture_folder();
  }
}

}  // namespace
}  // namespace mezzotint
