// mezzotint study as a user runs it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class StudyProgram : public GenerateTest {
 protected:
  [[nodiscard]] Flags usual() const {
    return Flags("study")
        .set("med-ddpm")
        .set("--model", in_folder("model.safetensors").string())
        .set("--mask", in_folder("mask.nii").string())
        .set("--size", "8x10x12")
        .set("--steps", "2")
        .set("--rounds", "1")
        .set("--threads", "2")
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
                           "Conversions:", "Fragmentation:", "no --plan given"}) {
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

TEST_F(StudyProgram, RefusesWordsThatMakeNoSense) {
  expect_refused(usual().erase("--model"), {"study needs one of --model and --arch"}, 2);
  expect_refused(usual().erase("med-ddpm").set("brats"), {"study: `brats` is not med-ddpm"});
  expect_refused(with("--rounds", "0"), {"--rounds"}, 2);
  expect_refused(with("--mask", in_folder("none.nii").string()), {"none.nii"});
  expect_refused(with("--plan", in_folder("none.json").string()), {"none.json"});
  expect_refused(usual().erase("--model").set("--arch", "whole-head:32").set("--size", "16"),
                 {"a volume needs a trained model"});
}

}  // namespace
}  // namespace mezzotint::testing
