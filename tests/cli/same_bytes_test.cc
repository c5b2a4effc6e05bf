// Same model, mask, seed and flags: same bytes, whoever runs them and on however many threads.
#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class SameBytes : public GenerateTest {
 protected:
  // The volume that `flags` make, under a name of its own.
  std::string make(Flags flags) {
    flags.set("--out", in_folder("out" + std::to_string(++made_) + ".nii").string());
    return volume(flags);
  }

  // Volumes as --threads 1, 2 and 3 make them.
  void expect_same_for_any_team(Flags flags) {
    flags.set("--threads", "1");
    const std::string alone = make(flags);
    for (const char* threads : {"2", "3"}) {
      flags.set("--threads", threads);
      EXPECT_TRUE(make(flags) == alone) << threads << " threads";
    }
  }

 private:
  int made_ = 0;
};

class SameBytesBySampler : public SameBytes, public ::testing::WithParamInterface<std::string> {};

TEST_P(SameBytesBySampler, ForAnyThreadCount) {
  Flags flags = with("--sampler", GetParam());
  flags.set("--steps", "3");
  flags.set("--size", "16");
  if (GetParam() == "ddim") {
    flags.set("--eta", "0.7");
  }
  expect_same_for_any_team(flags);
}

INSTANTIATE_TEST_SUITE_P(, SameBytesBySampler, ::testing::Values("dpmpp-2m", "ddim", "ddpm"),
                         [](const auto& info) {
                           return info.param == "dpmpp-2m" ? std::string("dpmpp") : info.param;
                         });

TEST_F(SameBytes, OfTheDemoModelForAnyThreadCount) {
  Flags flags = with("--model", demo_model().string());
  flags.set("--mask", (demo_model() / "masks" / "tumour-large.nii.gz").string());
  flags.set("--size", "16");
  expect_same_for_any_team(flags);
}

TEST_F(SameBytes, OfTheSameCommandTwice) {
  Flags flags = usual();
  const std::string first = make(flags);
  EXPECT_TRUE(make(flags) == first);
  flags.set("--seed", "1");
  EXPECT_FALSE(make(flags) == first);
}

TEST_F(SameBytes, WhetherNoiseComesFromTheSeedOrAFile) {
  for (const std::string sampler : {"dpmpp-2m", "ddim", "ddpm"}) {
    Flags flags = with("--sampler", sampler);
    flags.set("--steps", "4");
    flags.set("--seed", "7");
    const std::string from_seed = make(flags);
    flags.erase("--seed");
    save_seed_noise(in_folder("noise.safetensors"), 7, kDims, 3);
    flags.set("--noise", in_folder("noise.safetensors").string());
    EXPECT_TRUE(make(flags) == from_seed) << sampler;
    save_seed_noise(in_folder("noise.safetensors"), 8, kDims, 3);
    EXPECT_FALSE(make(flags) == from_seed) << sampler;
  }
}

}  // namespace
}  // namespace mezzotint::testing
