// Models in several safetensors files with an index.
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "cli/generate_test_base.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

using namespace std::string_literals;

constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kFirst[] = "model-00001-of-00002.safetensors";
constexpr char kSecond[] = "model-00002-of-00002.safetensors";

std::string hash_of(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

class ShardedModel : public GenerateTest {
 protected:
  ShardedModel() {
    std::filesystem::create_directory(folder());
    TinyModel first = whole_;
    TinyModel second = whole_;
    for (const NamedShape& key : whole_.keys) {
      const bool is_first = key.name.starts_with("input_blocks.");
      (is_first ? second : first).remove(key.name);
      weight_map_[key.name] = is_first ? kFirst : kSecond;
    }
    first.save(folder() / kFirst);
    second.save(folder() / kSecond);
    save_index();
  }

  [[nodiscard]] std::filesystem::path folder() const { return in_folder("sharded"); }
  void save_index() const {
    write_index(nlohmann::json{{"metadata", {{"total_size", 1}, {"more", {{"a", {1, 2}}}}}},
                               {"weight_map", weight_map_}}
                    .dump());
  }
  void write_index(std::string_view text) const { write_text(folder() / kIndex, text); }
  [[nodiscard]] Flags flags(const std::filesystem::path& model) const {
    return with("--model", model.string());
  }
  void expect_index_refused(std::string_view text, const std::string& part) const {
    write_index(text);
    expect_refused(flags(folder() / kIndex), {kIndex, part});
    expect_refused(flags(folder()), {kIndex, part});
  }

  const TinyModel whole_;
  std::map<std::string, std::string> weight_map_;
};

TEST_F(ShardedModel, IsTheModel) {
  const std::string expected = volume(usual());
  int run = 0;
  for (const auto& model : {folder(), folder() / kIndex}) {
    Flags sharded = flags(model);
    const auto out = in_folder(std::to_string(++run) + ".nii");
    EXPECT_EQ(volume(sharded.set("--out", out.string())), expected);
    const auto sidecar =
        nlohmann::json::parse(read_text(std::filesystem::path(out).replace_extension(".json")));
    EXPECT_EQ(sidecar["Model"]["File"], kIndex);
    std::string lines;
    for (const char* name : {kIndex, kFirst, kSecond}) {
      lines += hash_of(read_text(folder() / name)) + "  " + name + "\n";
    }
    EXPECT_EQ(sidecar["Model"]["Sha256"], hash_of(lines));
  }
}

TEST_F(ShardedModel, InspectCountsTheShards) {
  std::uintmax_t bytes = 0;
  for (const char* name : {kIndex, kFirst, kSecond}) {
    bytes += std::filesystem::file_size(folder() / name);
  }
  const CommandResult result =
      run_program({"inspect", folder().string(), "--size", "8", "--no-check", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto tensors = nlohmann::json::parse(result.out).at("tensors");
  EXPECT_EQ(tensors.at("format"), "sharded safetensors");
  EXPECT_EQ(tensors.at("files"), 3);
  EXPECT_EQ(tensors.at("bytes"), bytes);
  const CommandResult text =
      run_program({"inspect", folder().string(), "--size", "8", "--no-check"});
  EXPECT_NE(text.out.find(" in 3 files"), std::string::npos) << text.out;
}

// As in a download cache, where names are links to content.
TEST_F(ShardedModel, MayBeLinks) {
  const std::string expected = volume(usual());
  std::filesystem::create_directory(in_folder("links"));
  for (const char* name : {kIndex, kFirst, kSecond}) {
    std::filesystem::create_symlink(folder() / name, in_folder("links") / name);
  }
  Flags sharded = flags(in_folder("links"));
  EXPECT_EQ(volume(sharded.set("--out", in_folder("2.nii").string())), expected);
}

TEST_F(ShardedModel, IsNotWrittenOver) {
  for (const char* name : {kIndex, kFirst, kSecond}) {
    std::filesystem::create_symlink(folder() / name, in_folder("out.nii"));
    Flags sharded = flags(folder());
    expect_refused(sharded.set("--overwrite"), {"out.nii: is read and would be overwritten"});
    std::filesystem::remove(in_folder("out.nii"));
  }
}

TEST_F(ShardedModel, ShardsMissing) {
  std::filesystem::remove(folder() / kSecond);
  expect_refused(flags(folder()),
                 {std::string(kIndex) + ": its shard `" + kSecond + "` is missing"});
  std::filesystem::create_directory(folder() / kSecond);
  expect_refused(flags(folder()), {std::string(kSecond) + ": not a regular file"});
}

TEST_F(ShardedModel, ShardsThatAreNone) {
  write_text(folder() / kFirst, "");
  expect_refused(flags(folder()), {std::string(kFirst) + ": ends at byte 0", "truncated"});
  write_text(folder() / kFirst, make_checkpoint(pickle_of("a", {}), {std::string(24, '\0')}));
  expect_refused(flags(folder()), {kIndex, kFirst, "a torch checkpoint, expected safetensors"});
  write_text(folder() / kFirst, read_text(folder() / kIndex));
  expect_refused(flags(folder()), {std::string(kFirst) + ": damaged safetensors file"});
}

TEST_F(ShardedModel, ShardsTruncated) {
  const std::string whole = read_text(folder() / kSecond);
  write_text(folder() / kSecond, whole.substr(0, whole.size() - 1));
  expect_refused(flags(folder()), {std::string(kSecond) + ": damaged safetensors file"});
}

TEST_F(ShardedModel, KeysThatAreNotWhereTheIndexSays) {
  // In two shards.
  TinyModel second = whole_;
  second.keys.erase(std::remove_if(second.keys.begin(), second.keys.end(),
                                   [&](const NamedShape& key) {
                                     return key.name != "input_blocks.0.0.bias" &&
                                            weight_map_.at(key.name) == kFirst;
                                   }),
                    second.keys.end());
  const std::string good = read_text(folder() / kSecond);
  second.save(folder() / kSecond);
  expect_refused(flags(folder()),
                 {std::string(kIndex) + ": `input_blocks.0.0.bias` is in its shard `" + kSecond +
                  "`, but listed in `" + kFirst + "`"});
  // Beside the index.
  write_text(folder() / kSecond, good);
  weight_map_.erase("out.2.bias");
  save_index();
  expect_refused(flags(folder()), {std::string("its shard `") + kSecond +
                                   "` also holds `out.2.bias`, which the index does not list"});
  // In neither.
  weight_map_["out.2.bias"] = kSecond;
  weight_map_["out.2.scale"] = kSecond;
  save_index();
  expect_refused(flags(folder()), {std::string("`out.2.scale` is listed in its shard `") + kSecond +
                                   "`, which does not hold it"});
}

// In the shards and in the index, but not in the network.
TEST_F(ShardedModel, KeysBeyondTheNetwork) {
  TinyModel adapter;
  adapter.keys.clear();
  adapter.add("adapter.weight", {3, 2});
  adapter.save(folder() / "adapter.safetensors");
  weight_map_["adapter.weight"] = "adapter.safetensors";
  save_index();
  expect_refused(flags(folder()), {kIndex, "1 extra (`adapter.weight` [3, 2])"});
}

TEST_F(ShardedModel, ShardsOutsideTheFolder) {
  for (const std::string name :
       {"", ".", "..", "/etc/passwd", "../model.safetensors", "sub/model.safetensors", "./x"}) {
    expect_index_refused(
        nlohmann::json{{"weight_map", {{"a", name}}}}.dump(),
        "`a` is in `" + name + "`, expected the name of a file in the same folder");
  }
  expect_index_refused(R"({"weight_map": {"a": "x\u0000.safetensors"}})", "`a` is in `x\\x00");
  expect_index_refused(R"({"weight_map": {"a": ")" + std::string(256, 'x') + "\"}}",
                       "expected the name of a file");
}

TEST_F(ShardedModel, IndicesOfAnotherKind) {
  for (const auto& [text, part] : std::map<std::string, std::string>{
           {"{", "it is not JSON at byte 2"},
           {"{}", "its `weight_map` is missing or empty"},
           {R"({"weight_map": {}})", "its `weight_map` is missing or empty"},
           {R"({"recipe": "brats"})", "its `weight_map` is missing or empty"},
           {R"({"metadata": {"weight_map": {"a": "b"}}})", "its `weight_map` is missing or empty"},
           {R"({"weight_map": ["a"]})", "`weight_map` is no object"},
           {R"({"weight_map": "a"})", "`weight_map` is no object"},
           {R"({"weight_map": {"a": 1}})", "`a` is in no file"},
           {R"({"weight_map": {"a": ["b"]}})", "`a` is in no file"},
           {R"({"weight_map": {"a": {"b": "c"}}})", "`a` is in an object"},
           {R"({"weight_map": {"a": "b", "a": "c"}})", "`a` is there twice"},
           {R"({"weight_map": {"a": "b"}, "weight_map": {}})", "`weight_map` is there twice"},
       }) {
    expect_index_refused(text, part);
  }
  write_text(folder() / kIndex, "[1, 2]");
  expect_refused(flags(folder() / kIndex), {kIndex, "a text file"});
}

struct LargeIndex {
  std::string (*make)();
  const char* part;  // of the line
};

// {"weight_map": {"0": shard, "1": shard, ...}}
std::string index_of(int tensors, const std::function<std::string(int)>& shard) {
  std::string text = R"({"weight_map": {)";
  for (int i = 0; i < tensors; ++i) {
    text += fmt::format("{}\"{}\":\"{}\"", i == 0 ? "" : ",", i, shard(i));
  }
  return text + "}}";
}

// The map itself takes about 200 bytes an entry, and ends at 100,000.
TEST_F(ShardedModel, IndicesThatWouldFillMemory) {
  const LargeIndex indices[] = {
      {[] { return index_of(1'000'000, [](int) { return std::string("s"); }); },
       "more than 100000 tensors"},
      {[] { return index_of(100'000, [](int i) { return std::to_string(i); }); },
       "more than 512 shards"},
      {[] { return R"({"weight_map": {")" + std::string(513, 'n') + R"(": "s"}})"; }, "513 bytes"},
      {[] { return R"({"a": )" + std::string().append(10'000'000, '['); }, "nested deeper than 16"},
      {[] { return "{\"a\":"s.append(33 << 20, ' ') + "1}"; }, "bytes, more than 33554432"},
  };
  const std::uint64_t without = run(flags(in_folder("nowhere.pt"))).peak_bytes;
  for (const LargeIndex& index : indices) {
    write_index(index.make());
    const CommandResult result = run(flags(folder() / kIndex));
    EXPECT_EQ(result.exit_code, 1);
    expect_one_line(result.err, {kIndex, index.part});
    EXPECT_LT(result.peak_bytes,
              without + std::filesystem::file_size(folder() / kIndex) + (std::uint64_t{28} << 20))
        << index.part;
  }
}

}  // namespace
}  // namespace mezzotint::testing
