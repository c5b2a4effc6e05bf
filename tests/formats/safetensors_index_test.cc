#include "formats/safetensors_index.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"
#include "formats/tensor_file.h"

namespace mezzotint::testing {
namespace {

namespace fs = std::filesystem;

// A folder with an index over `one` ([1, 2]) and `two` ([3]).
class SafetensorsIndex : public ::testing::Test {
 protected:
  SafetensorsIndex() {
    std::string pattern = ::testing::TempDir() + "mezzotint_index_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("one",
          make_safetensors(R"({"__metadata__":{"k":"1","l":"1"},"a":{"dtype":"F32","shape":[2],)"
                           R"("data_offsets":[0,8]}})",
                           bytes_of<float>({1, 2})));
    write("two", make_safetensors(R"({"__metadata__":{"k":"2","m":"2"},"b":{"dtype":"F32",)"
                                  R"("shape":[1],"data_offsets":[0,4]}})",
                                  bytes_of<float>({3})));
    write("index", R"( {"weight_map": {"b": "two", "a": "one"}, "metadata": {"x": [1, {}]}})");
  }
  ~SafetensorsIndex() override { fs::remove_all(folder_); }

  void write(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string hash(const std::string& name) const {
    return hash_file(folder_ / name).value();
  }

  fs::path folder_;
};

TEST_F(SafetensorsIndex, JoinsItsShards) {
  auto file = open_tensor_file(folder_ / "index");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ((*file)->path(), folder_ / "index");
  EXPECT_EQ((*file)->files(),
            (std::vector<fs::path>{folder_ / "index", folder_ / "one", folder_ / "two"}));
  EXPECT_EQ((*file)->metadata(),
            (std::map<std::string, std::string>{{"k", "1"}, {"l", "1"}, {"m", "2"}}));
  std::vector<float> values(2);
  ASSERT_TRUE((*file)->read_float((*file)->find("", "a").value(), values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  values.resize(1);
  ASSERT_TRUE((*file)->read_float((*file)->find("", "b").value(), values).ok());
  EXPECT_EQ(values, (std::vector<float>{3}));
}

TEST_F(SafetensorsIndex, HashesAllBytes) {
  EXPECT_EQ(open_tensor_file(folder_ / "one").value()->sha256().value(), hash("one"));
  const std::string lines =
      hash("index") + "  index\n" + hash("one") + "  one\n" + hash("two") + "  two\n";
  EXPECT_EQ(open_tensor_file(folder_ / "index").value()->sha256().value(),
            sha256_hex(std::as_bytes(std::span(lines))));
}

TEST_F(SafetensorsIndex, RefusesEveryTruncation) {
  const std::string whole = R"({"weight_map": {"b": "two", "a": "one"}})";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    write("index", whole.substr(0, size));
    expect_error(open_tensor_file(folder_ / "index"), "index: no index of safetensors shards");
  }
}

TEST_F(SafetensorsIndex, FindsShardsBesideItsOwnName) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_TRUE(open_tensor_file("index").ok());
  fs::current_path(before);
  fs::create_directory(folder_ / "links");
  fs::create_symlink(folder_ / "index", folder_ / "links" / "index");
  expect_error(open_tensor_file(folder_ / "links" / "index"), "its shard `one` is missing");
}

}  // namespace
}  // namespace mezzotint::testing
