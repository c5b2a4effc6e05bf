// Many volumes in one run: names, skipping, failures, memory.
#include <algorithm>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

namespace fs = std::filesystem;

class Batch : public GenerateTest {
 protected:
  Batch() {
    fs::create_directory(in_folder("masks"));
    for (const char* name : {"a.nii", "b.nii"}) {
      write_bytes(in_folder("masks") / name, head_mask(kDims).build());
    }
  }

  [[nodiscard]] Flags batch() const {
    Flags flags = with("--mask", in_folder("masks").string());
    flags.set("--out", in_folder("out").string());
    return flags;
  }

  [[nodiscard]] std::vector<std::string> made() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(in_folder("out"))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    return read_text(in_folder("out") / name);
  }
};

TEST_F(Batch, MakesAVolumeForEachMask) {
  Flags flags = batch();
  flags.set("--preview", in_folder("pictures").string());
  const CommandResult result = run(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(made(), (std::vector<std::string>{"a.json", "a.nii.gz", "b.json", "b.nii.gz"}));
  EXPECT_TRUE(fs::exists(in_folder("pictures") / "b.png"));
  EXPECT_NE(result.err.find("2 made"), std::string::npos) << result.err;
  // The model is told of once, each volume has its own lines.
  EXPECT_EQ(result.err.find("M parameters"), result.err.rfind("M parameters"));
  EXPECT_NE(result.err.find("volume 2/2"), std::string::npos) << result.err;

  Flags alone = with("--out", in_folder("alone.nii.gz").string());
  ASSERT_EQ(run(alone).exit_code, 0);
  EXPECT_EQ(content("a.nii.gz"), read_text(in_folder("alone.nii.gz")));
}

TEST_F(Batch, SamplesDifferAndAreThoseOfTheSeed) {
  Flags flags = batch();
  flags.set("--mask", in_folder("mask.nii").string()).set("--samples", "3");
  ASSERT_EQ(run(flags).exit_code, 0);
  EXPECT_EQ(made().size(), 6U);
  EXPECT_NE(content("mask_sample0.nii.gz"), content("mask_sample1.nii.gz"));
  EXPECT_NE(content("mask_sample1.nii.gz"), content("mask_sample2.nii.gz"));
  const auto sidecar = nlohmann::json::parse(content("mask_sample2.json"));
  EXPECT_EQ(sidecar["Sample"], 2);

  flags.set("--out", in_folder("later").string()).set("--samples", "1").set("--sample", "2");
  ASSERT_EQ(run(flags).exit_code, 0);
  EXPECT_EQ(read_text(in_folder("later") / "mask_sample2.nii.gz"), content("mask_sample2.nii.gz"));
}

TEST_F(Batch, FinishedVolumesAreLeftAlone) {
  ASSERT_EQ(run(batch()).exit_code, 0);
  const auto stamp = fs::last_write_time(in_folder("out") / "a.nii.gz");
  fs::remove(in_folder("out") / "b.nii.gz");
  fs::remove(in_folder("out") / "b.json");
  const std::string before = content("a.json");
  const CommandResult again = run(batch());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("1 made, 1 there already"), std::string::npos) << again.err;
  EXPECT_EQ(fs::last_write_time(in_folder("out") / "a.nii.gz"), stamp);
  EXPECT_EQ(content("a.json"), before);
  EXPECT_EQ(made().size(), 4U);
}

TEST_F(Batch, AVolumeThatWasRemovedIsMadeAgain) {
  ASSERT_EQ(run(batch()).exit_code, 0);
  const std::string whole = content("a.nii.gz");
  fs::remove(in_folder("out") / "a.nii.gz");
  const CommandResult again = run(batch());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("1 made, 1 there already"), std::string::npos) << again.err;
  EXPECT_EQ(content("a.nii.gz"), whole);
}

// Two workers on one folder: each volume is made once, and what the other is at is said.
TEST_F(Batch, TwoAtOnceDoNotHarmEachOther) {
  Flags flags = batch();
  flags.set("--steps", "20").set("--samples", "3").set("--size", "16");
  RunningCommand first(flags.words());
  RunningCommand second(flags.words());
  const CommandResult one = first.finish();
  const CommandResult two = second.finish();
  for (const CommandResult* result : {&one, &two}) {
    EXPECT_EQ(result->err.find("--overwrite"), std::string::npos) << result->err;
  }
  const CommandResult rest = run(flags);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(made().size(), 12U);
}

// As after a kill between the volume's last rename and the removal of the state.
TEST_F(Batch, AStateThatOutlivedItsVolumeGoes) {
  Flags flags = batch();
  flags.set("--mask", in_folder("mask.nii").string()).set("--samples", "1");
  flags.set("--steps", "50").set("--size", "16");
  RunningCommand command(flags.words());
  ASSERT_TRUE(command.wait_for_stderr("step 2/50"));
  command.send(SIGINT);
  EXPECT_EQ(command.finish().exit_code, 128 + SIGINT);
  ASSERT_EQ(made(), std::vector<std::string>{"mask_sample0.part"});
  fs::copy(in_folder("out") / "mask_sample0.part", in_folder("saved"));
  ASSERT_EQ(run(flags).exit_code, 0);
  const auto finished = made();
  fs::copy(in_folder("saved"), in_folder("out") / "mask_sample0.part");
  const CommandResult again = run(flags);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("0 made, 1 there already"), std::string::npos) << again.err;
  EXPECT_EQ(made(), finished);
}

TEST_F(Batch, OtherSettingsAndDamagedVolumesAreNotFinished) {
  ASSERT_EQ(run(batch()).exit_code, 0);
  Flags other = batch();
  other.set("--seed", "5");
  const auto before = folder_.content();
  const CommandResult refused = run(other);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(folder_.content(), before);
  const std::vector<std::string> lines = lines_of(refused.err);
  ASSERT_GE(lines.size(), 2U);
  for (std::size_t i = 1; i <= 2; ++i) {
    EXPECT_NE(lines[lines.size() - i].find(
                  ".json: exists already, of a run with other inputs or settings; choose another"),
              std::string::npos)
        << refused.err;
  }

  const std::string whole = content("a.nii.gz");
  write_text(in_folder("out") / "a.nii.gz", whole.substr(0, whole.size() / 2));
  const CommandResult damaged = run(batch());
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_NE(damaged.err.find("a.json: exists already, but its volumes are not those that it names"),
            std::string::npos)
      << damaged.err;
  Flags replace = batch();
  replace.set("--overwrite");
  const CommandResult mended = run(replace);
  EXPECT_EQ(mended.exit_code, 0) << mended.err;
  EXPECT_NE(mended.err.find("1 made, 1 there already"), std::string::npos) << mended.err;
  EXPECT_EQ(content("a.nii.gz"), whole);
}

// What a volume follows from besides the mask and the flags' own words.
TEST_F(Batch, OtherNoiseAndOtherLabelsAreNotFinished) {
  fs::create_directory(in_folder("model"));
  fs::rename(in_folder("model.safetensors"), in_folder("model") / "model.safetensors");
  const auto file = in_folder("noise.safetensors");
  save_seed_noise(file, 1, kDims, 0);
  Flags flags = batch();
  flags.set("--model", in_folder("model").string()).set("--noise", file.string());
  flags.set("--label-map", "1=brain,2=tumour");
  ASSERT_EQ(run(flags).exit_code, 0);
  EXPECT_NE(run(flags).err.find("2 there already"), std::string::npos);
  Flags number = flags;
  number.set("--label-map", "1=1,2=tumour");
  EXPECT_NE(run(number).err.find("2 there already"), std::string::npos);

  save_seed_noise(file, 2, kDims, 0);
  EXPECT_NE(run(flags).err.find("2 failed"), std::string::npos);
  save_seed_noise(file, 1, kDims, 0);
  write_text(in_folder("model") / "model.json", R"({"labels": {"1": "tumour", "2": "brain"}})");
  EXPECT_NE(run(flags).err.find("2 failed"), std::string::npos);
}

TEST_F(Batch, APictureThatWasNotWantedThenIsMissed) {
  ASSERT_EQ(run(batch()).exit_code, 0);
  Flags flags = batch();
  flags.set("--preview", in_folder("pictures").string());
  const CommandResult again = run(flags);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("there already, without "), std::string::npos) << again.err;
  EXPECT_FALSE(fs::exists(in_folder("pictures")));
}

TEST_F(Batch, AMaskThatIsYetToBeReadIsNotReplaced) {
  ASSERT_EQ(run(batch()).exit_code, 0);
  fs::remove(in_folder("masks") / "b.nii");
  fs::create_symlink("../out/a.nii.gz", in_folder("masks") / "b.nii");
  Flags flags = batch();
  flags.set("--overwrite").set("--seed", "3");
  expect_refused(flags, {"out/a.nii.gz: is a mask of this batch and would be overwritten"});
}

TEST_F(Batch, WhatIsWrongForAllVolumesIsSaidOnce) {
  expect_refused(batch().set("--resize", "foo"), {"resize: `foo` is not auto, pad, resample"});
  expect_refused(batch().set("--label-map", "1=zzz"), {"zzz"});
  expect_refused(batch().set("--size", "7"), {"size 7x7x7: each side must be a multiple of 2"});
  TinyModel model;
  model.at("out.2.bias")[0] = std::numeric_limits<float>::quiet_NaN();
  model.save(in_folder("model.safetensors"));
  const auto before = folder_.content();
  const CommandResult result = run(batch());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err.find("weight out.2.bias holds nan"),
            result.err.rfind("weight out.2.bias holds nan"));
  EXPECT_EQ(folder_.content(), before);
}

// One volume's leavings do not count against the next.
TEST_F(Batch, TheLimitIsForOneVolumeAtATime) {
  write_bytes(in_folder("masks") / "a.nii", head_mask({160, 160, 160}).build());
  Flags flags = batch();
  flags.set("--size", "16").set("--steps", "1").set("--json");
  flags.set("--mask", in_folder("mask.nii").string()).set("--out", in_folder("x.nii").string());
  const auto alone = nlohmann::json::parse(lines_of(run(flags).out).back());
  const auto limit = alone["predicted_peak_bytes"].get<std::int64_t>() + 12'000'000;
  flags = batch();
  flags.set("--size", "16").set("--steps", "1");
  flags.set("--memory-limit", std::to_string(limit));
  const CommandResult result = run(flags);
  EXPECT_NE(result.err.find("1 made, 1 failed"), std::string::npos) << result.err;
  EXPECT_NE(lines_of(result.err).back().find("a.nii, sample 0: needs "), std::string::npos)
      << result.err;
}

TEST_F(Batch, AFailureIsListedAndTheOthersAreMade) {
  write_text(in_folder("masks") / "aa.nii", "this is no image");
  const CommandResult result = run(batch());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(made(), (std::vector<std::string>{"a.json", "a.nii.gz", "b.json", "b.nii.gz"}));
  const std::string last = lines_of(result.err).back();
  EXPECT_NE(last.find("mezzotint: "), std::string::npos) << result.err;
  EXPECT_NE(last.find("aa.nii: is a text file"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("2 made, 1 failed"), std::string::npos) << result.err;
}

TEST_F(Batch, JsonHasAnEventForEachVolumeAndTheSum) {
  write_text(in_folder("masks") / "c.nii", "this is no image");
  Flags flags = batch();
  flags.set("--json");
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 1);
  std::vector<std::string> events;
  nlohmann::json last;
  for (const std::string& line : lines_of(result.out)) {
    last = nlohmann::json::parse(line);
    events.push_back(last["event"]);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"volume", "overview", "step", "step", "done",  //
                                              "volume", "overview", "step", "step", "done",  //
                                              "volume", "error", "batch"}));
  EXPECT_EQ(last["made"], 2);
  EXPECT_EQ(last["there"], 0);
  EXPECT_EQ(last["failed"].size(), 1U);
  EXPECT_EQ(last["failed"][0]["mask"], (in_folder("masks") / "c.nii").string());
}

TEST_F(Batch, InterruptedItEndsAtOnceAndGoesOnNextTime) {
  Flags flags = batch();
  flags.set("--steps", "50").set("--samples", "4").set("--size", "16");
  RunningCommand command(flags.words());
  ASSERT_TRUE(command.wait_for_stderr("volume 2/8"));
  command.send(SIGINT);
  const CommandResult stopped = command.finish();
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
  EXPECT_NE(lines_of(stopped.err).back().find("1 of 8 volumes are there"), std::string::npos)
      << stopped.err;
  const CommandResult rest = run(flags);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_NE(rest.err.find("7 made, 1 there already"), std::string::npos) << rest.err;
}

TEST_F(Batch, WhatCannotBeABatchIsRefusedBeforeAnyWork) {
  const auto refused = [&](const Flags& flags, const std::string& part) {
    expect_refused(flags, {part});
  };
  refused(batch().set("--out", in_folder("x.nii.gz").string()),
          "make several volumes, which go into a folder; pass the name of one");
  refused(batch().set("--out", in_folder("no/such/folder").string()), "cannot make this folder");
  refused(batch().set("--out", in_folder("mask.nii/out").string()), "cannot make this folder");
  refused(batch().set("--mask", in_folder("mask.nii").string()).set("--samples", "0"),
          "samples: 0, expected 1 to");
}

// Twenty volumes hold no more than two.
TEST_F(Batch, MemoryIsFlat) {
  const auto peak = [&](const std::string& samples, const std::string& out) {
    Flags flags = batch();
    flags.set("--mask", in_folder("mask.nii").string()).set("--out", in_folder(out).string());
    flags.set("--samples", samples).set("--size", "32").set("--steps", "1");
    const CommandResult result = run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return static_cast<double>(result.peak_bytes);
  };
  const double two = peak("2", "two");
  // One voxel volume of the grid is 131 kB: eighteen that stayed would be 2.4 MB.
  EXPECT_LT(peak("20", "twenty"), two + 1.5e6);
}

}  // namespace
}  // namespace mezzotint::testing
