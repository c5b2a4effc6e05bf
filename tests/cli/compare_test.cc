// mezzotint compare as a user runs it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/generate_test_base.h"
#include "report/profile_json.h"
#include "report/sample_profile.h"

namespace mezzotint::testing {
namespace {

using Json = nlohmann::json;

class CompareProgram : public ::testing::Test {
 protected:
  CompareProgram() {
    write_text(path("a.json"), profile_json(sample_profile()));
    std::filesystem::create_directory(folder_.path() / "fast");
    write_text(path("fast/profile.json"), profile_json(faster_profile()));
    write_text(path("plan.json"), plan().dump());
    Json other = plan();
    other["ops"]["out.2"]["implementation"] = "onednn";
    other["ops"]["new"]["layout"] = "channels-first";
    write_text(path("other.json"), other.dump());
  }

  // As docs/formats.md has it.
  static Json plan() {
    return {{"kind", "mezzotint plan"},
            {"schema", 1},
            {"version", "0.1.0"},
            {"backend", "cpu"},
            {"model", {{"name", "model.pt"}, {"sha256", std::string(64, 'a')}}},
            {"grid", {32, 32, 32}},
            {"precision", "fp32"},
            {"isa", "avx2"},
            {"layout", "channels-last"},
            {"ops",
             {{"out.2", {{"implementation", "winograd-f4"}, {"fuse", {"residual"}}}},
              {"same", {{"implementation", "kernels"}}}}},
            {"provenance",
             {{"processor", "Sample"},
              {"threads", 2},
              {"measured_seconds", 0.0412},
              {"default_seconds", 0.0503},
              {"relative_l2", 1.2e-6},
              {"notes", {"put back: out.2"}}}}};
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  static CommandResult compare(std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    return run_program(words);
  }
  void expect_refused(const std::vector<std::string>& words, const std::vector<std::string>& parts,
                      int exit_code = 1) const {
    const auto before = folder_.content();
    const CommandResult result = compare(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(folder_.content(), before);
  }

  TemporaryFolder folder_;
};

TEST_F(CompareProgram, SaysWhatExplainsTheDifferenceWithinAHundredColumns) {
  const CommandResult result = compare({path("a.json"), path("fast"), path("a.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"B takes 0.", "of the difference is region at 128x128x128",
        "B differs from A in precision: fast, A: fp32", "onednn-bf16 (DRAM)", "1 op only in A",
        "C takes 1 of A's time", "no difference beyond noise"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << '\n' << result.out;
  }
  for (const std::string& line : lines_of(result.out)) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

// Only their lengths are limited in the file, not by what a terminal has room for.
TEST_F(CompareProgram, KeepsWithinAHundredColumnsWhateverTheNames) {
  Json profile = Json::parse(read_text(path("a.json")));
  const auto lengthen = [](Json& text) { text = text.get<std::string>() + std::string(400, 'x'); };
  for (const char* key : {"model", "precision", "version"}) {
    lengthen(profile.at(key));
  }
  lengthen(profile.at("machine").at("processor"));
  for (Json& level : profile.at("machine").at("levels")) {
    lengthen(level.at("name"));
  }
  for (const char* list : {"groups", "ops"}) {
    for (Json& each : profile.at(list)) {
      lengthen(each.at("kind"));
      lengthen(each.at("level"));
    }
  }
  for (Json& op : profile.at("ops")) {
    lengthen(op.at("implementation"));
  }
  write_text(path("long.json"), profile.dump());
  Json plans = plan();
  lengthen(plans.at("model").at("name"));
  lengthen(plans.at("provenance").at("notes").at(0));
  lengthen(plans.at("ops").at("out.2").at("implementation"));
  plans.at("ops")[std::string(400, 'y')] = {{"layout", "channels-first"}};
  write_text(path("long-plan.json"), plans.dump());
  for (const auto& [base, other] :
       {std::pair("a.json", "long.json"), std::pair("long.json", "fast"),
        std::pair("plan.json", "long-plan.json")}) {
    const CommandResult result = compare({path(base), path(other)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_LE(longest_line(result.out), 100U) << result.out;
  }
}

TEST_F(CompareProgram, ComparesAsManyAsItSays) {
  std::vector<std::string> words(16, path("a.json"));
  const CommandResult result = compare(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("P takes 1 of A's time"), std::string::npos) << result.out;
  words.push_back(path("a.json"));
  expect_refused(words, {"17 files", "expected 2 to 16"}, 2);
  expect_refused({path("a.json")}, {"1 file: expected 2 to 16"}, 2);
  expect_refused({}, {"mezzotint compare --help"}, 2);
}

TEST_F(CompareProgram, PrintsJson) {
  const CommandResult result = compare({path("a.json"), path("fast"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json.at("kind"), "mezzotint comparison");
  EXPECT_EQ(json.at("profiles")[1].at("file"), path("fast/profile.json"));
  EXPECT_LT(json.at("differences")[0].at("ratio").at("high"), 1);
}

TEST_F(CompareProgram, LeavesAPageOrAFolder) {
  CommandResult result = compare({path("a.json"), path("fast"), "--out", path("page.html")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(read_text(path("page.html")).find("<html"), std::string::npos);
  result = compare({path("a.json"), path("fast"), "--out", path("out")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(read_text(path("out/compare.json"))).at("of"), "profiles");
  EXPECT_NE(read_text(path("out/compare.html")).find("<html"), std::string::npos);

  expect_refused({path("a.json"), path("fast"), "--out", path("page.html")}, {"page.html"});
  expect_refused({path("a.json"), path("fast"), "--out", path("out")}, {"compare.json"});
  result = compare({path("plan.json"), path("other.json"), "--out", path("out"), "--overwrite"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(read_text(path("out/compare.json"))).at("of"), "plans");
}

TEST_F(CompareProgram, RefusesFilesThatItCannotRead) {
  write_text(path("broken.json"), "{\"kind\": \"mezzotint profile\", ");
  write_text(path("foreign.json"), "{\"kind\": [\"mezzotint profile\"]}");
  write_text(path("list.json"), "[]");
  Json newer = Json::parse(read_text(path("a.json")));
  newer["schema"] = 2;
  write_text(path("newer.json"), newer.dump());
  Json newer_plan = Json::parse(read_text(path("plan.json")));
  newer_plan["schema"] = 2;
  write_text(path("newer-plan.json"), newer_plan.dump());
  const std::string neither = "is neither a profile (mezzotint profile --out) nor a plan";
  expect_refused({path("a.json"), path("broken.json")}, {"broken.json: not JSON at byte 31"});
  expect_refused({path("a.json"), path("foreign.json")}, {"foreign.json", neither});
  expect_refused({path("list.json"), path("a.json")}, {"list.json", neither});
  expect_refused({path("a.json"), path("none.json")}, {"none.json"});
  expect_refused({path("a.json"), path("newer.json")},
                 {"newer.json: is a mezzotint profile of schema 2, this version reads 1"});
  expect_refused({path("plan.json"), path("newer-plan.json")},
                 {"newer-plan.json: is a mezzotint plan of schema 2"});
  std::filesystem::create_directory(folder_.path() / "empty");
  expect_refused({path("a.json"), path("empty")}, {"empty/profile.json"});
}

// In time that grows with the square of the file this would not end, and in its middle no signal
// would end it.
TEST_F(CompareProgram, RefusesManyKeysAndDeepValuesAtOnce) {
  std::string many = "{";
  for (int i = 0; i < 200000; ++i) {
    many += fmt::format("\"s{}\":0,", i);
  }
  for (int i = 0; i < 200000; ++i) {
    many += fmt::format("\"o{}\":{{}},", i);
  }
  write_text(path("many.json"), many + "\"kind\":0}");
  write_text(path("deep.json"), "{\"kind\":" + std::string(4000000, '['));
  for (const char* name : {"many.json", "deep.json"}) {
    expect_refused({path("a.json"), path(name)}, {name, "is neither a profile"});
  }
}

TEST_F(CompareProgram, RefusesToMixPlansAndProfiles) {
  expect_refused({path("a.json"), path("plan.json")},
                 {"a.json is a profile", "plan.json a plan", "expected all profiles or all plans"});
}

TEST_F(CompareProgram, ShowsWhatPlansDecideOtherwise) {
  const CommandResult result = compare({path("plan.json"), path("other.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"B decides 2 of 3 ops otherwise than A", "winograd-f4; layout plan's; fuses residual",
        "B  onednn", "A  no entry", "layout channels-first", "put back: out.2",
        "41.20 ms measured where the default takes 50.30 ms, relative L2 1.2e-06"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << '\n' << result.out;
  }
  const CommandResult same = compare({path("plan.json"), path("plan.json"), "--json"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(Json::parse(same.out).at("equal_ops"), 2);
  EXPECT_TRUE(Json::parse(same.out).at("ops").empty());
}

TEST_F(CompareProgram, RefusesPlansForDifferentThings) {
  Json other = plan();
  other["grid"] = {64, 64, 64};
  write_text(path("larger.json"), other.dump());
  other = plan();
  other["model"]["sha256"] = std::string(64, 'b');
  write_text(path("stranger.json"), other.dump());
  expect_refused({path("plan.json"), path("larger.json")},
                 {"plan.json is for size 32x32x32", "larger.json for 64x64x64"});
  expect_refused({path("plan.json"), path("stranger.json")},
                 {"plan.json is for model", "stranger.json for"});
}

TEST_F(CompareProgram, SaysBeforeTheWorkThatItCannotWrite) {
  write_text(path("broken.json"), "{");
  expect_refused({path("a.json"), path("broken.json"), "--out", path("none/page.html")},
                 {"none/page.html"});
  expect_refused({path("a.json"), path("broken.json"), "--out", path("a.json")},
                 {"a.json: is a file, expected a folder"});
  expect_refused({path("a.json"), path("fast"), "--overwrite"}, {"--overwrite needs --out"}, 2);
  std::filesystem::rename(path("a.json"), path("a.html"));
  expect_refused({path("a.html"), path("fast"), "--out", path("a.html"), "--overwrite"},
                 {"a.html: is read and would be overwritten"});
}

}  // namespace
}  // namespace mezzotint::testing
