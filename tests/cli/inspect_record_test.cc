// mezzotint inspect of what measuring leaves: plans, profiles, comparisons, studies and caches.
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "report/profile_json.h"
#include "report/sample_profile.h"
#include "report/study_json.h"

namespace mezzotint::testing {
namespace {

using Json = nlohmann::json;

class InspectRecord : public GenerateTest {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return in_folder(name).string(); }

  // The object that --json prints.
  static Json object(const std::string& file) {
    const CommandResult result = run_program({"inspect", file, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }
  static std::string first_fact(const Json& object) {
    return object.at("record").at("facts").at(0).at("text");
  }
  void expect_refused_text(const std::string& text, const std::vector<std::string>& parts) const {
    write_text(in_folder("file"), text);
    const CommandResult result = run_program({"inspect", path("file")});
    EXPECT_EQ(result.exit_code, 1) << text.substr(0, 100);
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
  }
};

// The default plan, as tune writes it without time for more, and the timings that it leaves.
TEST_F(InspectRecord, TellsOfAPlanAndOfTimings) {
  const CommandResult tuned = run(Flags("tune")
                                      .set("--model", path("model.safetensors"))
                                      .set("--size", "8x10x12")
                                      .set("--out", path("plan.json"))
                                      .set("--cache", path("cache"))
                                      .set("--max-seconds", "0"));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Json plan = object(path("plan.json"));
  EXPECT_EQ(plan.at("kind"), "plan");
  EXPECT_EQ(plan.at("problem"), nullptr);
  const Json& record = plan.at("record");
  EXPECT_EQ(record.at("schema"), 1);
  EXPECT_EQ(record.at("model"), "model.safetensors");
  EXPECT_EQ(record.at("model_sha256").get<std::string>().size(), 64U);
  EXPECT_EQ(record.at("grid"), Json({8, 10, 12}));
  EXPECT_EQ(record.at("precision"), "fp32");
  EXPECT_NE(first_fact(plan).find(" decided: "), std::string::npos) << first_fact(plan);
  EXPECT_EQ(record.at("commands").at(0),
            "mezzotint generate --model MODEL --size 8x10x12 --precision fp32 --plan " +
                path("plan.json") + " --mask MASK --out OUT.nii.gz");

  const std::string file = std::filesystem::directory_iterator(in_folder("cache"))->path().string();
  const Json timings = object(file);
  EXPECT_EQ(timings.at("kind"), "timings");
  EXPECT_NE(first_fact(timings).find(" thread"), std::string::npos) << first_fact(timings);
  EXPECT_EQ(timings.at("record").at("facts").at(1).at("text"), "0 timings of ops, 0 comparisons");

  for (const std::string& each : {path("plan.json"), file}) {
    const CommandResult people = run_program({"inspect", each});
    EXPECT_EQ(people.exit_code, 0) << people.err;
    EXPECT_NE(people.out.find("used by"), std::string::npos) << people.out;
  }
  const CommandResult asked = run_program({"inspect", path("plan.json"), "--size", "8"});
  EXPECT_EQ(asked.exit_code, 1);
  expect_one_line(asked.err, {"plan.json: is a plan; --size, --weights"});
}

TEST_F(InspectRecord, TellsOfProfilesAndComparisons) {
  Profile profile = sample_profile();
  profile.model = "some.pt";
  write_text(in_folder("profile.json"), profile_json(profile));
  const Json told = object(path("profile.json"));
  EXPECT_EQ(told.at("kind"), "profile");
  EXPECT_EQ(told.at("record").at("model"), "some.pt");
  EXPECT_EQ(told.at("record").at("grid"), Json(profile.grid));
  EXPECT_EQ(first_fact(told), profile.verdict.sentences.at(0));
  EXPECT_EQ(told.at("record").at("commands").at(0),
            "mezzotint compare " + path("profile.json") + " OTHER.profile.json");

  const CommandResult compared = run_program(
      {"compare", path("profile.json"), path("profile.json"), "--out", path("comparison")});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const Json comparison = object(path("comparison/compare.json"));
  EXPECT_EQ(comparison.at("kind"), "comparison");
  EXPECT_EQ(first_fact(comparison), "2 profiles");
}

TEST_F(InspectRecord, TellsOfStudiesAndCalibrations) {
  Study study;
  study.model = "some.pt";
  StudyRow row;
  row.name = "tuned";
  row.absent = "not tuned: --no-tune";
  study.rows.push_back(row);
  write_text(in_folder("study.json"), study_json(study));
  const Json studied = object(path("study.json"));
  EXPECT_EQ(studied.at("kind"), "study");
  EXPECT_EQ(first_fact(studied), "tuned: not run: not tuned: --no-tune");

  keep_round_figures();
  const Json calibration =
      object(std::filesystem::directory_iterator(in_folder("cache"))->path().string());
  EXPECT_EQ(calibration.at("kind"), "calibration");
  EXPECT_EQ(calibration.at("record").at("threads"), 2);
  EXPECT_EQ(first_fact(calibration), "fma (float32): 100 GFLOP/s, with one thread 50");
}

// Each says what it is, and is not that.
TEST_F(InspectRecord, RefusesWhatIsDamaged) {
  for (const char* kind : {"plan", "profile", "comparison", "study", "calibration"}) {
    const std::string start = std::string(R"({"kind": "mezzotint )") + kind + "\"";
    expect_refused_text(start, {"file: ", "JSON"});
    expect_refused_text(start + R"(, "schema": 9})", {"file: ", "schema 9, this version reads 1"});
    expect_refused_text(start + ", \"schema\": " + std::string(100'000, '['), {"file: "});
  }
  expect_refused_text("mezzotint timings 9: elsewhere\n",
                      {"file: `mezzotint timings 9: elsewhere`, this version reads form 1"});
}

// Larger than any of them may be; sparse.
TEST_F(InspectRecord, RefusesWhatIsTooLargeUnread) {
  for (const char* start : {R"({"kind": "mezzotint plan")", R"({"kind": "mezzotint profile")",
                            R"({"kind": "mezzotint study")", R"({"kind": "mezzotint calibration")",
                            "mezzotint timings 1: here\n"}) {
    write_text(in_folder("file"), start);
    std::filesystem::resize_file(in_folder("file"), 70'000'000);
    const CommandResult result = run_program({"inspect", path("file")});
    EXPECT_EQ(result.exit_code, 1);
    expect_one_line(result.err, {"70000000 bytes, larger than the limit of"});
    std::filesystem::remove(in_folder("file"));
  }
}

// Reports are only shown: what is not as it should be is left out.
TEST_F(InspectRecord, TellsOfReportsOfOddContent) {
  write_text(in_folder("file"), R"({"kind": "mezzotint study", "schema": 1, "model": 7,
      "grid": [1, "x", 3], "machine": null, "variants": [3, {"name": "a", "seconds": {}}],
      "findings": ["one", 2]})");
  const Json study = object(path("file"));
  EXPECT_EQ(study.at("record").at("model"), nullptr);
  EXPECT_EQ(study.at("record").at("grid"), nullptr);
  EXPECT_EQ(first_fact(study), "a: no time");
  EXPECT_EQ(study.at("record").at("facts").at(1).at("text"), "one");
  write_text(in_folder("file"), R"({"kind": "mezzotint comparison", "schema": 1, "of": "plans",
      "plans": {}, "sentences": [[]]})");
  EXPECT_EQ(first_fact(object(path("file"))), "0 plans");
}

// What is told to be pasted is whole: files that make the line too long are left out, not cut.
TEST_F(InspectRecord, TellsNoCommandThatEndsWithinAName) {
  Json json = {{"kind", "mezzotint comparison"}, {"schema", 1}, {"of", "plans"}};
  for (const char digit : {'1', '2', '3', '4'}) {
    json["plans"].push_back({{"label", "a\u00e4\u00e4\u00e4\u00e4"},
                             {"file", std::string("it's ") + std::string(150, digit)}});
  }
  write_text(in_folder("file"), json.dump());
  const Json record = object(path("file")).at("record");
  EXPECT_EQ(record.at("commands"), Json({"mezzotint compare 'it'\\''s " + std::string(150, '1') +
                                         "' 'it'\\''s " + std::string(150, '2') + "'"}));
  EXPECT_EQ(record.at("facts").at(1).at("name"), "a\u00e4\u00e4\u00e4");
  json["plans"][1]["file"] = std::string(300, '2');
  json["plans"][0]["file"] = std::string(250, '1');
  write_text(in_folder("file"), json.dump());
  EXPECT_EQ(object(path("file")).at("record").at("commands"), Json::array());
}

}  // namespace
}  // namespace mezzotint::testing
