// An interrupted run goes on to the bytes that it would have made.
#include <sys/stat.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class Resume : public GenerateTest {
 protected:
  // A run of 8 steps that take long enough to be interrupted between two of them.
  [[nodiscard]] Flags slow() const {
    return with("--size", "24").set("--steps", "8").set("--checkpoint-every", "0.000001");
  }
  // Kills the run that `flags` make as soon as `step` is finished.
  void kill_after(const Flags& flags, int step) const {
    RunningCommand command(flags.words());
    ASSERT_TRUE(command.wait_for_stderr("step " + std::to_string(step) + "/8"));
    command.send(SIGKILL);
    ASSERT_EQ(command.finish().exit_code, -SIGKILL) << "it was over before it was killed";
  }
  // The run interrupted after `step` and `later` steps, on other teams each time.
  std::string interrupted(Flags flags, int step, int later) {
    const std::size_t before = folder_.content().size();
    flags.set("--threads", "1");
    kill_after(flags, step);
    EXPECT_EQ(folder_.content().size(), before + 1);
    EXPECT_TRUE(std::filesystem::exists(in_folder("out.part")));
    flags.set("--threads", "2");
    kill_after(flags, later);
    flags.set("--threads", "3");
    const CommandResult last = run(flags);
    EXPECT_EQ(last.exit_code, 0) << last.err;
    EXPECT_NE(last.err.find("going on after step "), std::string::npos) << last.err;
    EXPECT_EQ(last.err.find("step " + std::to_string(later) + "/8"), std::string::npos);
    EXPECT_EQ(folder_.content().size(), before + 2) << "the volume and its sidecar";
    return read_text(flags.at("--out"));
  }
  void remove_results() const {
    std::filesystem::remove(in_folder("out.nii"));
    std::filesystem::remove(in_folder("out.json"));
  }
  // A state of 3 steps or a few more.
  void leave_state(const Flags& flags) const { kill_after(flags, 3); }
};

class ResumeBySampler : public Resume, public ::testing::WithParamInterface<std::string> {};

TEST_P(ResumeBySampler, AfterKillsToTheSameBytes) {
  Flags flags = slow().set("--sampler", GetParam());
  if (GetParam() == "ddim") {
    flags.set("--eta", "0.7");
  }
  for (const bool from_file : {false, true}) {
    if (from_file) {
      save_seed_noise(in_folder("noise.safetensors"), 7, {24, 24, 24}, 8);
      flags.set("--noise", in_folder("noise.safetensors").string());
    }
    const std::string whole = volume(flags);
    remove_results();
    EXPECT_TRUE(interrupted(flags, 1, 4) == whole);
    remove_results();
  }
}

INSTANTIATE_TEST_SUITE_P(, ResumeBySampler, ::testing::Values("dpmpp-2m", "ddim", "ddpm"),
                         [](const auto& info) {
                           return info.param == "dpmpp-2m" ? std::string("dpmpp") : info.param;
                         });

// The file is there from the start; without a step in it, any run begins anew.
TEST_F(Resume, AKillBeforeTheFirstSaveLosesTheStepsOnly) {
  Flags flags = slow().erase("--checkpoint-every");
  kill_after(flags, 1);
  EXPECT_TRUE(std::filesystem::exists(in_folder("out.part")));
  flags.set("--seed", "1");
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find("going on"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(in_folder("out.part")));
}

TEST_F(Resume, StatesOfOtherSettingsAreRefused) {
  leave_state(slow());
  for (const auto& [flag, value] :
       {std::pair{"--seed", "1"}, {"--steps", "9"}, {"--size", "16"}, {"--sampler", "ddpm"}}) {
    expect_refused(slow().set(flag, value), {"out.part: holds step ", " of 8 of another run",
                                             "delete the file", "--overwrite"});
  }
  TinyModel model;
  model.at("out.2.bias")[0] += 0.5F;
  model.save(in_folder("model.safetensors"));
  expect_refused(slow(), {"of another run"});
  const CommandResult anew = run(slow().set("--overwrite"));
  EXPECT_EQ(anew.exit_code, 0) << anew.err;
  EXPECT_EQ(anew.err.find("going on"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(in_folder("out.part")));
}

TEST_F(Resume, StatesOfOtherNoiseAreRefused) {
  const auto file = in_folder("noise.safetensors");
  save_seed_noise(file, 1, {24, 24, 24}, 0);
  const auto with_noise = [&] { return slow().set("--noise", file.string()); };
  leave_state(with_noise());
  save_seed_noise(file, 2, {24, 24, 24}, 0);
  expect_refused(with_noise(), {"of another run"});
}

TEST_F(Resume, DamagedStatesAreRefused) {
  leave_state(slow());
  std::string state = read_text(in_folder("out.part"));
  state[20] ^= 1;
  write_text(in_folder("out.part"), state);
  expect_refused(
      slow(), {"out.part: this state of an interrupted run is damaged", "delete it to start anew"});
  write_text(in_folder("out.part"), "half a download");
  expect_refused(slow().set("--overwrite"),
                 {"out.part: is no state of an interrupted run", "choose another name"});
}

TEST_F(Resume, InputsAreNoState) {
  std::filesystem::create_symlink("mask.nii", in_folder("out.part"));
  expect_refused(slow(), {"out.part: is read and would be overwritten"});
}

TEST_F(Resume, OneRunAtATimeMakesAVolume) {
  Flags flags = with("--size", "32").set("--steps", "50");
  RunningCommand first(flags.words());
  ASSERT_TRUE(first.wait_for_stderr("step 1/50"));
  for (const bool overwrite : {false, true}) {
    if (overwrite) {
      flags.set("--overwrite");
    }
    const CommandResult second = run(flags);
    EXPECT_EQ(second.exit_code, 1);
    expect_one_line(second.err, {"out.nii: another run is making it", "out.part"});
  }
  first.send(SIGKILL);
  EXPECT_EQ(first.finish().exit_code, -SIGKILL);
}

TEST_F(Resume, ZeroSavesNothing) {
  const Flags flags = slow().set("--checkpoint-every", "0");
  const auto before = folder_.content();
  kill_after(flags, 2);
  EXPECT_EQ(folder_.content(), before) << "not even SIGKILL leaves anything";
}

TEST_F(Resume, TimesThatAreNone) {
  for (const char* text : {"often", "-1", "5 min", "nan"}) {
    expect_refused(with("--checkpoint-every", text), {"--checkpoint-every", text}, 2);
  }
}

TEST_F(Resume, IsAnEventOfItsOwn) {
  leave_state(slow());
  const CommandResult result = run(slow().set("--json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = lines_of(result.out);
  const auto resumed = nlohmann::json::parse(lines.at(1));
  EXPECT_EQ(resumed["event"], "resumed");
  EXPECT_EQ(resumed["steps"], 8);
  const int step = resumed["step"];
  EXPECT_GE(step, 3);
  const auto next = nlohmann::json::parse(lines.at(2));
  EXPECT_EQ(next["event"], "step");
  EXPECT_EQ(next["step"], step + 1);
  EXPECT_EQ(lines.size(), 3U + static_cast<std::size_t>(8 - step));
}

// The chain was done, and only its files could not be written: they are made from what is kept.
TEST_F(Resume, AFinishedChainWaitsForItsPlace) {
  const Flags flags = slow().erase("--checkpoint-every");
  const std::string whole = volume(flags);
  remove_results();
  RunningCommand command(flags.words());
  ASSERT_TRUE(command.wait_for_stderr("step 1/8"));
  std::filesystem::create_directory(in_folder("out.nii"));
  const CommandResult failed = command.finish();
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_NE(
      lines_of(failed.err)
          .back()
          .find("out.nii: appeared while working; it was left as it is; the same command goes on "
                "after step 8 of 8"),
      std::string::npos)
      << failed.err;
  EXPECT_FALSE(std::filesystem::exists(in_folder("out.json")));
  std::filesystem::remove(in_folder("out.nii"));
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find("step 1/8"), std::string::npos);
  EXPECT_TRUE(read_text(in_folder("out.nii")) == whole);
  EXPECT_FALSE(std::filesystem::exists(in_folder("out.part")));
}

// What no repetition can mend is not kept.
TEST_F(Resume, ARunThatCannotSucceedLeavesNothing) {
  TinyModel model;
  model.at("out.2.bias")[0] = 3e38F;
  for (float& weight : model.at("out.2.weight")) {
    weight = 3e38F;
  }
  model.save(in_folder("model.safetensors"));
  const auto before = folder_.content();
  EXPECT_EQ(run(slow()).exit_code, 1);
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(Resume, AFolderThatVanishesEndsTheRun) {
  std::filesystem::create_directory(in_folder("sub"));
  RunningCommand command(slow().set("--out", in_folder("sub/out.nii").string()).words());
  ASSERT_TRUE(command.wait_for_stderr("step 1/8"));
  std::filesystem::remove_all(in_folder("sub"));
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(lines_of(result.err)
                .back()
                .find("out.part: it or its folder was moved or removed while working; put it back"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("step 8/8"), std::string::npos) << "not after all the work";
  EXPECT_FALSE(std::filesystem::exists(in_folder("sub")));
}

TEST_F(Resume, AFolderThatWasMovedAndComesBackLosesNothing) {
  std::filesystem::create_directory(in_folder("sub"));
  const Flags flags = slow().set("--out", in_folder("sub/out.nii").string());
  RunningCommand command(flags.words());
  ASSERT_TRUE(command.wait_for_stderr("step 2/8"));
  std::filesystem::rename(in_folder("sub"), in_folder("moved"));
  EXPECT_EQ(command.finish().exit_code, 1);
  std::filesystem::rename(in_folder("moved"), in_folder("sub"));
  const CommandResult again = run(flags);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("going on after step "), std::string::npos) << again.err;
}

}  // namespace
}  // namespace mezzotint::testing
