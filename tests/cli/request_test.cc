// Flags that can be read but not done: exit code 1, and nothing written.
#include <chrono>
#include <limits>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

using Request = GenerateTest;

TEST_F(Request, StepsOutsideTheSchedule) {
  const std::string expected = "expected 1 to 50, the length of the model's schedule";
  expect_refused(with("--steps", "0"), {"0 steps", expected});
  expect_refused(with("--steps", "-3"), {"-3 steps", expected});
  expect_refused(with("--steps", "51"), {"51 steps", expected});
}

TEST_F(Request, EtaOutsideItsRangeOrItsSampler) {
  Flags flags = with("--sampler", "ddim");
  for (const std::string eta : {"-0.1", "1.5", "nan", "inf"}) {
    flags.set("--eta", eta);
    expect_refused(flags, {"eta " + eta, "expected 0 (deterministic) to 1"});
  }
  for (const std::string sampler : {"ddpm", "dpmpp-2m"}) {
    flags.set("--sampler", sampler);
    flags.set("--eta", "0.5");
    expect_refused(flags, {"eta 0.5: only the sampler ddim has it, not " + sampler});
  }
}

TEST_F(Request, NamesThatAreNone) {
  expect_refused(with("--sampler", "euler"),
                 {"sampler `euler`", "expected ddpm, ddim or dpmpp-2m"});
  expect_refused(with("--spacing", "karras"), {"spacing `karras`", "expected t or logsnr"});
  expect_refused(with("--precision", "fp8"), {"precision: `fp8` is not strict, fp32 or fast"});
  expect_refused(with("--weights", "best"), {"weights: `best` is not ema or model"});
}

TEST_F(Request, SizesTheNetworkCannotHalve) {
  expect_refused(with("--size", "9"),
                 {"size 9x9x9", "each side must be a multiple of 2", "nearest to 9 is 8"});
  expect_refused(with("--size", "0"), {"--size: `0` is neither"}, 2);
  expect_refused(with("--size", "2147483648"), {"size 2147483648x", "more than 2147483648 voxels"});
}

TEST_F(Request, TimestepsThatContradictTheCheckpoint) {
  expect_refused(with("--timesteps", "250"),
                 {"timesteps: 250, but model.safetensors was trained with 50"});
}

TEST_F(Request, TimestepsThatNobodyKnows) {
  TinyModel model;
  model.remove("betas");
  model.save(in_folder("model.safetensors"));
  expect_refused(usual(), {"model.safetensors", "noise schedule", "pass --timesteps"});
  expect_refused(with("--timesteps", "1"), {"schedule of 1 timesteps", "expected 2 to"});
  EXPECT_EQ(run(with("--timesteps", "20")).exit_code, 0);
}

TEST_F(Request, ThreadsThatNoMachineHas) {
  expect_refused(with("--threads", "-1"), {"threads: -1 is not between 0 (all processors) and"});
  expect_refused(with("--threads", "1000000"), {"threads: 1000000 is not between"});
}

TEST_F(Request, PeakAboveTheLimit) {
  expect_refused(with("--memory-limit", "1MB"),
                 {"needs ", "MB of memory, --memory-limit allows 1 MB", "smaller --size"});
}

// Before the network is compiled, which takes long for such a grid and much memory.
TEST_F(Request, GridsBeyondAnyMachine) {
  const auto start = std::chrono::steady_clock::now();
  for (const char* size : {"1280", "1024"}) {
    expect_refused(with("--size", size), {"GB of memory, this machine (or its cgroup) allows",
                                          "choose a smaller --size or a larger machine"});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 10) << "two refusals";
}

// Draws are read as a whole, though one is used: 77 MB that count.
TEST_F(Request, NoiseFilesBeyondTheLimit) {
  const auto predicted = [&](int draws) {
    save_seed_noise(in_folder("noise.safetensors"), 0, kDims, draws);
    Flags flags = with("--noise", in_folder("noise.safetensors").string());
    flags.set("--sampler", "ddpm").set("--memory-limit", "1MB");
    const CommandResult result = run(flags);
    EXPECT_EQ(result.exit_code, 1);
    expect_one_line(result.err, {"--memory-limit allows 1 MB"});
    return std::stod(result.err.substr(std::string("mezzotint: needs ").size()));
  };
  EXPECT_GT(predicted(20'000), predicted(1) + 50);  // MB
}

TEST_F(Request, NoiseFilesThatDoNotServe) {
  const auto file = in_folder("noise.safetensors");
  const Flags flags = with("--noise", file.string());
  expect_refused(flags, {"noise.safetensors: cannot open"});

  write_text(file, "no tensors here, just text");
  expect_refused(flags, {"noise.safetensors"});

  TinyModel tensors;
  tensors.keys = {{"x", {4}}};
  tensors.values["x"] = {1, 2, 3, 4};
  tensors.save(file);
  expect_refused(flags, {"noise.safetensors: has no tensor x_T"});

  save_seed_noise(file, 0, {4, 4, 4}, 0);
  expect_refused(flags, {"x_T has 64 values, the model's grid needs 960"});

  save_seed_noise(file, 0, kDims, 0);
  Flags ancestral = flags;
  ancestral.set("--sampler", "ddpm");
  expect_refused(ancestral, {"draws noise 1 times", "expected a tensor noise"});

  tensors.keys = {{"x_T", {1, 1, 12, 10, 8}}};
  tensors.values["x_T"].assign(960, 1.0F);
  tensors.values["x_T"][17] = std::numeric_limits<float>::quiet_NaN();
  tensors.save(file);
  expect_refused(flags, {"x_T holds nan at element 17"});

  const std::string whole = read_text(file);
  write_text(file, whole.substr(0, whole.size() / 2));
  expect_refused(flags,
                 {"noise.safetensors: damaged safetensors file: tensor `x_T` ends at byte 3840"});
}

}  // namespace
}  // namespace mezzotint::testing
