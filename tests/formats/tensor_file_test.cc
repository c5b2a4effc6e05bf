#include "formats/tensor_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"
#include "support/fixture.h"

namespace mezzotint::testing {
namespace {

using namespace std::string_view_literals;

TEST(TensorFile, NamesWhatItCannotOpen) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "an empty file"},
      {"\x80\x02}q\x00."sv, "a pickle without torch's zip around it"},
      {"\x80\x02\x8A\x0Al\xFC\x9C\x46\xF9\x20j\xA8P\x19.\x80\x02M", "the legacy format"},
      {"\n [1, 2]", "a text file"},
      {"\x89HDF\r\n\x1A\n.....", "an HDF5 file"},
      {"\x93NUMPY\x01", "a NumPy array"},
      {"\x1F\x8B\x08", "a gzip file"},
      {"\x5C\x01\x00\x00\x00"sv, "a NIfTI image"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"},
      {"<!DOCTYPE html>\n<html>", "a text file"},
      {"\x01\x02\x03", "of no known format"},
  };
  for (const auto& [content, part] : cases) {
    const TemporaryFile file(content);
    const auto result = open_tensor_file(file.path());
    expect_error(result, part);
    expect_error(result, "expected safetensors or a torch checkpoint");
    expect_error(result, file.path().string());
  }
  expect_error(open_tensor_file("no/such/file.pt"), "no/such/file.pt: cannot open");
  expect_error(open_tensor_file(::testing::TempDir()), "not a regular file");
}

// Searching a list of names for each tensor takes half a minute here.
TEST(TensorFile, many_groups_are_listed_in_file_order) {
  const TemporaryFile file("");
  TensorDirectory directory;
  directory.storages.push_back({});
  for (std::size_t i = kMostTensors; i-- > 0;) {
    directory.tensors.push_back({fmt::format("group {}", i), "weight", DType::kF32, {0}, 0});
    directory.views.push_back({0, 0, {1}});
  }
  const TensorFile tensors(file.open(), std::move(directory));
  const std::clock_t begin = std::clock();
  const std::vector<std::string> groups = tensors.groups();
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
  ASSERT_EQ(groups.size(), kMostTensors);
  EXPECT_EQ(groups.front(), "group 99999");
  EXPECT_EQ(groups.back(), "group 0");
}

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// The network's tensors of a group, without the prefix that the trainer's wrapper gives them. What
// has no prefix beside those that have one are the wrapper's own buffers.
Shapes network_shapes(const TensorFile& file, const std::string& group) {
  constexpr std::string_view kPrefix = "denoise_fn.";
  Shapes prefixed;
  Shapes plain;
  for (const TensorInfo& tensor : file.tensors()) {
    if (tensor.group == group) {
      const bool has_prefix = tensor.name.starts_with(kPrefix);
      (has_prefix ? prefixed : plain)
          .emplace(has_prefix ? tensor.name.substr(kPrefix.size()) : tensor.name, tensor.shape);
    }
  }
  return prefixed.empty() ? plain : prefixed;
}

void check_checkpoint(const std::filesystem::path& path, const nlohmann::json& facts) {
  SCOPED_TRACE(path);
  auto result = open_tensor_file(path);
  ASSERT_TRUE(result.ok()) << result.error().message;
  TensorFile& file = **result;
  const auto expected = facts.at("keys").get<Shapes>();
  EXPECT_FALSE(file.groups().empty());
  for (const std::string& group : file.groups()) {
    EXPECT_EQ(network_shapes(file, group), expected) << group;
  }
  if (facts.contains("step")) {
    EXPECT_EQ(file.metadata().at("step"), facts.at("step").dump());
  }
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    std::vector<float> values(static_cast<std::size_t>(file.tensors()[i].elements));
    const Status status = file.read_float(i, values);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_TRUE(
        std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }));
  }
}

TEST(TensorFile, fixture_checkpoints_open) {
  const auto fixtures = fixture_folder();
  if (!fixtures || !std::filesystem::is_directory(*fixtures / "checkpoints")) {
    GTEST_SKIP() << "no fixtures with checkpoints; set MEZZOTINT_FIXTURES";
  }
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*fixtures / "checkpoints")) {
    std::ifstream stream(entry.path() / "manifest.json");
    const auto manifest = nlohmann::json::parse(stream, nullptr, false);
    ASSERT_FALSE(manifest.is_discarded()) << entry.path();
    for (const auto& file : manifest.at("other_files")) {
      check_checkpoint(entry.path() / file.at("name").get<std::string>(), manifest.at("facts"));
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace mezzotint::testing
