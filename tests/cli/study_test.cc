// mezzotint study as a user runs it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "report/profile_json.h"

namespace mezzotint::testing {
namespace {

class StudyProgram : public GenerateTest {
 protected:
  StudyProgram() { keep_round_figures(); }

  [[nodiscard]] Flags usual() const {
    return Flags("study")
        .set("med-ddpm")
        .set("--model", in_folder("model.safetensors").string())
        .set("--mask", in_folder("mask.nii").string())
        .set("--size", "8x10x12")
        .set("--steps", "2")
        .set("--rounds", "1")
        .set("--threads", "2")
        .set("--cache", in_folder("cache").string())
        .set("--no-tune")
        .set("--force");
  }
  [[nodiscard]] Flags with(const std::string& flag, const std::string& value) const {
    return usual().set(flag, value);
  }
};

TEST_F(StudyProgram, ComparesVolumesWithinAHundredColumns) {
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const std::string& line : lines_of(result.out)) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  for (const char* part : {"channels-first", "channels-last", "winograd",
                           "Conversions:", "Fragmentation:", "not tuned: --no-tune"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in " << result.out;
  }
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(StudyProgram, GivesJson) {
  const CommandResult result = run(usual().set("--json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out;
  ASSERT_EQ(json["variants"].size(), 6U);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["steps"], 2);
  // Both float32: the same picture.
  EXPECT_GT(json["variants"][0]["ssim"], 0.999);
  EXPECT_TRUE(json["variants"][5].contains("absent"));
}

TEST_F(StudyProgram, LeavesAPageAProfilePerVariantAndAPlanInAFolder) {
  auto before = folder_.content();
  const TemporaryFolder cache;
  std::filesystem::copy(in_folder("cache"), cache.path());
  const std::string study = in_folder("study").string();
  const CommandResult result =
      run(usual().erase("--no-tune").set("--cache", cache.path().string()).set("--out", study));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto after = folder_.content();
  const auto json = nlohmann::json::parse(after.at("study/study.json"));
  for (const auto& variant : json.at("variants")) {
    const std::string name = variant.at("name");
    const std::string profile = "study/" + name + ".profile.json";
    ASSERT_EQ(after.contains(profile), !variant.contains("absent")) << name;
    if (after.contains(profile)) {
      EXPECT_TRUE(read_profile(after.at(profile), profile)) << name;
      EXPECT_NE(result.out.find(profile), std::string::npos) << result.out;
      after.erase(profile);
    }
  }
  EXPECT_EQ(json.at("variants").back().at("name"), "tuned");
  EXPECT_FALSE(json.at("variants").back().contains("absent"));
  EXPECT_NE(after.at("study/report.html").find("<html"), std::string::npos);

  // Its own plan is taken, and then it tunes nothing.
  write_text(in_folder("plan.json"), after.at("study/tuned.plan.json"));
  const CommandResult planned = run(with("--plan", in_folder("plan.json").string()).set("--json"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(nlohmann::json::parse(planned.out).at("variants").back().at("plan_sha256"),
            json.at("variants").back().at("plan_sha256"));
  for (const char* name :
       {"study", "study/study.json", "study/report.html", "study/tuned.plan.json"}) {
    EXPECT_EQ(after.erase(name), 1U) << name;
  }
  EXPECT_EQ(after, before);

  expect_refused(with("--out", study), {"study: there are files in this folder", "--overwrite"});
  // What it reads is never replaced.
  expect_refused(with("--plan", in_folder("study/tuned.plan.json").string())
                     .set("--out", study)
                     .set("--overwrite"),
                 {"tuned.plan.json"});
  const CommandResult again = run(with("--out", study).set("--overwrite"));
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(StudyProgram, RefusesAFolderThatCannotBe) {
  expect_refused(with("--out", in_folder("model.safetensors").string()),
                 {"out: ", "model.safetensors: is a file, expected a folder"});
  expect_refused(with("--out", in_folder("none/study").string()),
                 {"out: ", "the folder above it must be there"});
  expect_refused(usual().set("--overwrite"), {"--overwrite needs --out"}, 2);
  // Found out after the folder was made: it is gone again.
  const auto before = folder_.content();
  const CommandResult result =
      run(with("--out", in_folder("study").string()).set("--memory-limit", "1MB"));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("--memory-limit allows 1 MB"), std::string::npos) << result.err;
  EXPECT_EQ(folder_.content(), before);
}

// Before any of it is made: the inputs alone would be 512 MB each.
TEST_F(StudyProgram, RefusesASizeThatDoesNotFitBeforeItWorks) {
  const Flags large = usual()
                          .erase("--model")
                          .erase("--mask")
                          .set("--arch", "whole-head:64")
                          .set("--size", "512")
                          .set("--memory-limit", "2GB")
                          .set("--out", in_folder("study").string());
  const auto before = folder_.content();
  const CommandResult result = run(large);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  EXPECT_NE(result.err.find("--memory-limit allows 2"), std::string::npos) << result.err;
  EXPECT_LT(result.peak_bytes, std::uint64_t{512} << 20);
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(StudyProgram, RefusesWordsThatMakeNoSense) {
  expect_refused(usual().erase("--model"), {"study needs one of --model and --arch"}, 2);
  expect_refused(usual().erase("med-ddpm").set("brats"), {"study: `brats` is not med-ddpm"}, 2);
  expect_refused(with("--rounds", "0"), {"--rounds"}, 2);
  expect_refused(with("--mask", in_folder("none.nii").string()), {"none.nii"});
  expect_refused(with("--plan", in_folder("none.json").string()), {"none.json"});
  expect_refused(usual().erase("--model").set("--arch", "whole-head:32").set("--size", "16"),
                 {"a volume needs a trained model"});
  const Flags random =
      usual().erase("--model").erase("--mask").set("--arch", "whole-head:32").set("--size", "16");
  expect_refused(Flags(random).set("--weights", "best"), {"weights: `best` is not ema or model"});
  expect_refused(Flags(random).set("--variant", "other"), {"`other`"});
}

}  // namespace
}  // namespace mezzotint::testing
