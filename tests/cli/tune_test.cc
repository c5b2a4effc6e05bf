// mezzotint tune as a user runs it: the plan it writes, what it says, what it refuses.
#include <sys/stat.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

using nlohmann::json;

class Tune : public GenerateTest {
 protected:
  // Timings of a machine that others use as well are good enough here.
  [[nodiscard]] Flags tune() const {
    return Flags("tune")
        .set("--model", in_folder("model.safetensors").string())
        .set("--mask", in_folder("mask.nii").string())
        .set("--size", "8x10x12")
        .set("--out", in_folder("plan.json").string())
        .set("--cache", cache_.path().string())
        .set("--threads", "1")
        .set("--force");
  }
  static json report_of(const Flags& flags) {
    const CommandResult result = run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }

  // The only file of the cache.
  [[nodiscard]] std::filesystem::path timings() const {
    return std::filesystem::directory_iterator(cache_.path())->path();
  }

  TemporaryFolder cache_;
};

TEST_F(Tune, WritesAPlanThatGenerateTakes) {
  const json report = report_of(tune().set("--json"));
  EXPECT_GT(report.at("timings").at("measured"), 10);
  EXPECT_EQ(report.at("timings").at("predicted"), 0);
  EXPECT_EQ(report.at("gap"), 0);
  EXPECT_LE(report.at("tuned_seconds"), report.at("default_seconds"));
  if (report.contains("check") && !report.at("is_default")) {
    EXPECT_TRUE(report.at("check").at("within"));
    EXPECT_EQ(report.at("check").at("timesteps").size(), 5U);
  }
  const Flags planned = usual().set("--plan", in_folder("plan.json").string());
  EXPECT_FALSE(volume(planned).empty());
}

TEST_F(Tune, ASecondTuneMeasuresNothing) {
  const json first = report_of(tune().set("--json"));
  const json second = report_of(tune().set("--json").set("--overwrite"));
  EXPECT_EQ(second.at("timings").at("measured"), 0);
  EXPECT_EQ(second.at("timings").at("cached"), first.at("timings").at("ways"));
  EXPECT_EQ(second.at("comparisons").at("compared"), 0);
  EXPECT_EQ(second.at("tuned_seconds"), first.at("tuned_seconds"));
}

TEST_F(Tune, TellsWhatItDidInWordsWithinAHundredColumns) {
  const CommandResult result = run(tune());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"timings", "the optimum", "what lost", "refused", "plan.json"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
  EXPECT_LE(longest_line(result.out), 100U) << result.out;
  EXPECT_LE(longest_line(result.err), 100U) << result.err;
  // A line at a tenth of a stage each, and where the end is not known, when the count has doubled.
  std::map<std::string, int> lines;
  for (const std::string& line : lines_of(result.err)) {
    ++lines[line.substr(0, line.rfind(' '))];
  }
  EXPECT_GE(lines["measuring"], 1) << result.err;
  EXPECT_LE(lines["measuring"], 2 * 11) << result.err;  // before and after forms are joined
  EXPECT_GE(lines["exploring"], 1) << result.err;
  EXPECT_LE(lines["exploring"], 12) << result.err;
}

TEST_F(Tune, WritesTheDefaultWithoutTimeToCheckAPlan) {
  const json report = report_of(tune().set("--json").set("--max-seconds", "0"));
  EXPECT_EQ(report.at("schema"), 1);
  EXPECT_EQ(report.at("timings").at("measured"), 0);
  EXPECT_EQ(report.at("lowered"), 0);
  EXPECT_TRUE(report.at("is_default"));
  EXPECT_NE(report.at("verdict").dump().find("--max-seconds"), std::string::npos);
  EXPECT_FALSE(report.contains("check"));
  const Flags planned = usual().set("--plan", in_folder("plan.json").string());
  EXPECT_FALSE(volume(planned).empty());
}

// The timings of before the signal serve the next tune; there is no plan.
TEST_F(Tune, AnInterruptKeepsTimings) {
  const auto before = folder_.content();
  RunningCommand command(tune().words());
  ASSERT_TRUE(command.wait_for_stderr("measuring"));
  command.send(SIGINT);
  const CommandResult stopped = command.finish();
  if (stopped.exit_code == 0) {
    GTEST_SKIP() << "it had finished before the signal came";
  }
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
  EXPECT_EQ(lines_of(stopped.err).back(), "mezzotint: stopped on request");
  EXPECT_EQ(stopped.out, "");
  EXPECT_EQ(folder_.content(), before);
  const json report = report_of(tune().set("--json"));
  EXPECT_EQ(report.at("notes").dump().find("damaged"), std::string::npos);
}

TEST_F(Tune, RebuildsADamagedCacheAndSaysSoAtOnce) {
  report_of(tune().set("--json"));
  const std::filesystem::path file = timings();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  const CommandResult result = run(tune().set("--json").set("--overwrite"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.err).front(), "note: " + file.string() + ": 1 damaged line dropped");
  const json report = json::parse(result.out);
  EXPECT_NE(report.at("notes").dump().find("1 damaged line dropped"), std::string::npos);
  // The last line is of a timing or of a comparison.
  const int measured = report.at("timings").at("measured");
  const int compared = report.at("comparisons").at("compared");
  EXPECT_GE(measured + compared, 1);
}

TEST_F(Tune, RefusesACacheThatIsNoFileAndLeavesIt) {
  report_of(tune().set("--json").set("--max-seconds", "0"));
  const std::filesystem::path file = timings();
  std::filesystem::remove(file);
  const Flags again = tune().set("--overwrite");
  std::filesystem::create_symlink(in_folder("mask.nii"), file);
  expect_refused(again, {file.string() + ": is a symbolic link, which is not followed; remove it",
                         "or pass another folder with --cache"});
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_refused(again, {file.string() + ": not a regular file; remove it"});
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  expect_refused(again, {file.string() + ": is a folder, expected a file; remove it"});
}

// Not even root creates a file there.
TEST_F(Tune, RefusesACacheFolderThatCannotBeWritten) {
  expect_refused(tune().set("--cache", "/proc/self"),
                 {"/proc/self/timings-", "cannot create", "pass another folder with --cache"});
}

TEST_F(Tune, RefusesBeforeItWorks) {
  expect_refused(tune().set("--out", in_folder("absent/plan.json").string()), {"absent"});
  expect_refused(tune().set("--out", in_folder("mask.nii").string()), {"mask.nii"});
  expect_refused(tune().set("--mask", in_folder("absent.nii").string()), {"absent.nii"});
  expect_refused(tune().set("--precision", "int3"), {"int3"});
  expect_refused(tune().set("--size", "7"), {"7"});
  expect_refused(tune().set("--cache", in_folder("mask.nii").string()), {"mask.nii"});
  expect_refused(tune().erase("--out"), {"--out"}, 2);
  expect_refused(tune().set("--arch", "whole-head"), {"--model", "--arch"}, 2);
  expect_refused(tune().set("--max-seconds", "soon"), {"--max-seconds: `soon`"}, 2);
}

// The mask is an input, and so is the checkpoint.
TEST_F(Tune, OverwriteSparesTheInputs) {
  for (const char* input : {"mask.nii", "model.safetensors"}) {
    expect_refused(tune().set("--out", in_folder(input).string()).set("--overwrite"), {input});
  }
}

TEST_F(Tune, RefusesWhatDoesNotFit) {
  expect_refused(tune().set("--memory-limit", "1MB"), {"memory"});
  expect_refused(tune().set("--memory-limit", "much"), {"--memory-limit"}, 2);
  expect_refused(Flags("tune")
                     .set("--arch", "whole-head:64")
                     .set("--size", "1024")
                     .set("--out", in_folder("plan.json").string())
                     .set("--cache", cache_.path().string()),
                 {"memory"});
}

}  // namespace
}  // namespace mezzotint::testing
