// mezzotint profile as a user runs it.
#include <algorithm>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "cli/generate_test_base.h"
#include "mezzotint/version.h"
#include "profile/calibration_file.h"
#include "report/profile_json.h"

namespace mezzotint::testing {
namespace {

class ProfileProgram : public GenerateTest {
 protected:
  ProfileProgram() { keep_round_figures(); }

  [[nodiscard]] Flags usual() const {
    return Flags("profile")
        .set("--model", in_folder("model.safetensors").string())
        .set("--size", "8x10x12")
        .set("--steps", "3")
        .set("--threads", "2")
        .set("--cache", in_folder("cache").string())
        .set("--force");
  }
  [[nodiscard]] Flags with(const std::string& flag, const std::string& value) const {
    return usual().set(flag, value);
  }
  // The only file of the cache.
  [[nodiscard]] std::filesystem::path calibration_file() const {
    return std::filesystem::directory_iterator(in_folder("cache"))->path();
  }
  void keep_figures(const std::function<void(Calibration&)>& change) const {
    auto machine = read_calibration(read_text(calibration_file()), "kept");
    ASSERT_TRUE(machine) << machine.error().message;
    change(*machine);
    write_text(calibration_file(), calibration_json(*machine));
  }
};

// A column is a character; all of them are ASCII here.
TEST_F(ProfileProgram, SaysWhatBoundsItBeforeItShowsNumbers) {
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::size_t verdict = result.out.find("bounds this network here");
  const std::size_t groups = result.out.find("bound by   level");
  const std::size_t ops = result.out.find("implementation", groups);  // advice has the word, too
  ASSERT_NE(ops, std::string::npos) << result.out;
  EXPECT_LT(verdict, groups);
  EXPECT_LT(groups, ops);
  EXPECT_NE(result.out.find("8x10x12"), std::string::npos) << result.out;
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(ProfileProgram, KeepsWithinAHundredColumns) {
  const CommandResult model = run(usual());
  ASSERT_EQ(model.exit_code, 0) << model.err;
  EXPECT_LE(longest_line(model.out), 100U) << model.out;
  const CommandResult published =
      run(usual().erase("--model").set("--arch", "brats:32").set("--size", "16"));
  ASSERT_EQ(published.exit_code, 0) << published.err;
  EXPECT_LE(longest_line(published.out), 100U) << published.out;
  EXPECT_LE(longest_line(published.err), 100U) << published.err;
}

TEST_F(ProfileProgram, RefusesWordsThatMakeNoSense) {
  expect_refused(usual().erase("--model"), {"profile needs one of --model and --arch"}, 2);
  expect_refused(with("--arch", "whole-head:32"), {"one of --model and --arch"}, 2);
  expect_refused(with("--size", "big"), {"--size: `big` is neither one side"}, 2);
  expect_refused(with("--steps", "0"), {"--steps"}, 2);
  expect_refused(with("--memory-limit", "much"), {"--memory-limit: `much`"}, 2);
  expect_refused(with("--precision", "exact"), {"exact"});
  expect_refused(with("--threads", "-1"), {"threads: -1"});
}

TEST_F(ProfileProgram, RefusesWhatDoesNotFitBeforeTheWork) {
  expect_refused(with("--memory-limit", "1MB"), {"--memory-limit allows 1 MB"});
  expect_refused(with("--memory-limit", "1MB").set("--out", in_folder("report").string()),
                 {"--memory-limit allows 1 MB"});
}

TEST_F(ProfileProgram, PrintsTheProfileAsJson) {
  const CommandResult result = run(usual().set("--json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto profile = read_profile(result.out, "stdout");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->runs % 3, 0);
  EXPECT_EQ(profile->grid, (std::array<std::int64_t, 3>{8, 10, 12}));
  EXPECT_EQ(profile->machine.find(MathUnit::kFma)->all_threads, 100e9);
  EXPECT_FALSE(profile->verdict.sentences.empty());
  EXPECT_GT(profile->ops.size(), 10U);
}

TEST_F(ProfileProgram, LeavesThreeFilesInAFolderThatItMakes) {
  auto before = folder_.content();
  const CommandResult result = run(with("--out", in_folder("report").string()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto after = folder_.content();
  const std::string json = after.at("report/profile.json");
  EXPECT_TRUE(read_profile(json, "profile.json"));
  EXPECT_FALSE(nlohmann::json::parse(after.at("report/trace.json")).at("traceEvents").empty());
  EXPECT_NE(after.at("report/report.html").find("<html"), std::string::npos);
  for (const char* name :
       {"report", "report/profile.json", "report/trace.json", "report/report.html"}) {
    EXPECT_EQ(after.erase(name), 1U) << name;
  }
  EXPECT_EQ(after, before);

  // Again only when asked to, and what else is there stays.
  write_text(in_folder("report") / "notes.txt", "mine");
  expect_refused(with("--out", in_folder("report").string()),
                 {"report: there are files in this folder", "--overwrite"});
  const CommandResult again = run(with("--out", in_folder("report").string()).set("--overwrite"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_text(in_folder("report") / "notes.txt"), "mine");
  EXPECT_NE(read_text(in_folder("report") / "profile.json"), json);
}

TEST_F(ProfileProgram, RefusesAFolderThatCannotBe) {
  expect_refused(with("--out", in_folder("model.safetensors").string()),
                 {"out: ", "model.safetensors: is a file, expected a folder"});
  expect_refused(with("--out", in_folder("none/report").string()),
                 {"out: ", "the folder above it must be there"});
  expect_refused(usual().set("--overwrite"), {"--overwrite needs --out"}, 2);
}

TEST_F(ProfileProgram, RefusesAPlanForSomethingElse) {
  write_text(in_folder("plan.json"), "{}");
  expect_refused(with("--plan", in_folder("plan.json").string()), {"plan.json"});
  expect_refused(with("--plan", in_folder("none.json").string()), {"none.json"});
}

// Rates that any op exceeds.
TEST_F(ProfileProgram, WarnsOfOpsThatAreFasterThanTheMachine) {
  keep_figures([](Calibration& machine) {
    machine.units[0].one_thread = machine.units[0].all_threads = 1e6;
    for (MemoryLevel& level : machine.levels) {
      level.one_thread = level.all_threads = 1e6;
    }
  });
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: The calibration or the work model is off: "),
            std::string::npos)
      << result.err;
}

TEST_F(ProfileProgram, MeasuresTheMachineAnewOnRequestAlone) {
  const std::string kept = read_text(calibration_file());
  const CommandResult plain = run(usual());
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.err.find("calibrating this machine"), std::string::npos) << plain.err;
  EXPECT_EQ(read_text(calibration_file()), kept);
  const CommandResult result = run(usual().set("--recalibrate").set("--json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("calibrating this machine"), std::string::npos) << result.err;
  EXPECT_NE(nlohmann::json::parse(result.out).at("machine").at("units").at(0).at("all_threads"),
            100e9);
  // One that a busy machine spoils is used, but not kept.
  if (read_text(calibration_file()) == kept) {
    EXPECT_NE(result.err.find("note: The calibration is not kept: "), std::string::npos)
        << result.err;
  }
}

TEST_F(ProfileProgram, SaysAtOnceAndInTheReportThatACalibrationIsMeasuredAnew) {
  write_text(calibration_file(), "damaged");
  const CommandResult result = run(with("--out", in_folder("report").string()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string note = "The calibration is measured anew: " + calibration_file().string() +
                           ": is no mezzotint calibration.";
  const std::size_t said = result.err.find("note: " + note);
  const std::size_t measured = result.err.find("calibrating this machine");
  EXPECT_NE(said, std::string::npos) << result.err;
  EXPECT_LT(said, measured) << result.err;
  EXPECT_EQ(result.err.find("measured anew", measured), std::string::npos) << result.err;
  const std::string report = read_text(in_folder("report") / "profile.json");
  EXPECT_EQ(nlohmann::json::parse(report).at("warnings").at(0), note);
}

TEST_F(ProfileProgram, ASignalStopsACalibrationAndLeavesNothing) {
  std::filesystem::remove(calibration_file());
  const auto before = folder_.content();
  RunningCommand command(with("--out", in_folder("report").string()).words());
  ASSERT_TRUE(command.wait_for_stderr("calibrating this machine"));
  command.send(SIGTERM);
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).back(), "mezzotint: stopped on request")
      << "and not what comes after it";
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(ProfileProgram, StopsOnASignal) {
  const auto before = folder_.content();
  RunningCommand command(with("--size", "32")
                             .set("--steps", "100000")
                             .set("--out", in_folder("report").string())
                             .words());
  ASSERT_TRUE(command.wait_for_stderr("measuring "));
  command.send(SIGINT);
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).back(), "mezzotint: stopped on request");
  EXPECT_EQ(folder_.content(), before);
}

}  // namespace
}  // namespace mezzotint::testing
