// The peak that is predicted before the first step is the peak that the system measures.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class Memory : public GenerateTest {
 protected:
  static void expect_predicted(Flags flags) {
    flags.set("--json");
    const CommandResult result = run(flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto done = nlohmann::json::parse(lines_of(result.out).back());
    const double predicted = done["predicted_peak_bytes"];
    const double measured = done["peak_bytes"];
    const auto outside = static_cast<double>(result.peak_bytes);
    EXPECT_NEAR(predicted, outside, std::max(0.05 * outside, 100e6));
    // The program's own figure is taken before its last few writes.
    EXPECT_NEAR(measured, outside, 0.02 * outside + 1e6);
  }
};

TEST_F(Memory, OfTheDemoModel) {
  Flags flags = with("--model", demo_model().string());
  flags.set("--mask", (demo_model() / "masks" / "tumour-large.nii.gz").string());
  flags.set("--steps", "1");
  for (const char* size : {"16", "32"}) {
    flags.set("--size", size);
    flags.set("--out", in_folder(std::string(size) + ".nii").string());
    expect_predicted(flags);
  }
}

// Activations of half a gigabyte: an error of a fifth would show.
TEST_F(Memory, OfAGridThatFillsMemory) {
  Flags flags = with("--size", "80");
  flags.set("--steps", "1");
  expect_predicted(flags);
}

// A volume far larger than the model's grid: its copies on the way to the file are the peak.
TEST_F(Memory, OfAMaskThatIsLargerThanTheModel) {
  constexpr Dims3 kLarge{256, 256, 256};
  write_bytes(in_folder("mask.nii"), head_mask(kLarge).build());
  for (const char* name : {"out.nii", "packed.nii.gz"}) {
    Flags flags = with("--out", in_folder(name).string());
    flags.set("--size", "16").set("--steps", "1");
    expect_predicted(flags);
  }
}

}  // namespace
}  // namespace mezzotint::testing
