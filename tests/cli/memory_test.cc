// The peak that is predicted before the first step is the peak that the system measures.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "support/gzip.h"
#include "support/sanitized.h"

namespace mezzotint::testing {
namespace {

class Memory : public GenerateTest {
 protected:
  // Of labels.
  static std::uint64_t bytes_of(const Dims3& dims) {
    return static_cast<std::uint64_t>(Grid{dims, {}}.voxels());
  }
  // What the libraries take differs by machine.
  static constexpr double kLibraries = 100e6;

  static void expect_predicted(Flags flags, double tolerance = kLibraries) {
    flags.set("--json");
    const CommandResult result = run(flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto done = nlohmann::json::parse(lines_of(result.out).back());
    const double predicted = done["predicted_peak_bytes"];
    const double measured = done["peak_bytes"];
    const auto outside = static_cast<double>(result.peak_bytes);
    EXPECT_NEAR(predicted, outside, std::max(0.05 * outside, tolerance));
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

// Other plans may fit where the fastest does not. Whichever is chosen, the limit holds, and the
// same limit gives the same bytes.
TEST_F(Memory, StaysWithinALimitOrIsRefused) {
  Flags flags = with("--size", "48");
  flags.set("--steps", "1").set("--json");
  const CommandResult free = run(flags);
  ASSERT_EQ(free.exit_code, 0) << free.err;
  int made = 0;
  for (const double share : {1.2, 0.98, 0.9, 0.7, 0.5, 0.3}) {
    const auto limit = static_cast<std::uint64_t>(share * static_cast<double>(free.peak_bytes));
    flags.set("--memory-limit", std::to_string(limit)).set("--out", in_folder("a.nii").string());
    flags.set("--overwrite");
    const CommandResult result = run(flags);
    if (result.exit_code != 0) {
      expect_one_line(result.err, {"needs ", "of memory, --memory-limit allows"});
      continue;
    }
    ++made;
    EXPECT_LE(static_cast<double>(result.peak_bytes),
              static_cast<double>(limit) + 0.05 * static_cast<double>(limit));
    const auto first = folder_.content().at("a.nii");
    flags.set("--out", in_folder("b.nii").string());
    ASSERT_EQ(run(flags).exit_code, 0);
    EXPECT_EQ(folder_.content().at("b.nii"), first);
  }
  EXPECT_GT(made, 0);
}

// A volume far larger than the model's grid: its copies on the way to the file are the peak. One
// more of them, 4 bytes a voxel, would show, and so would the file that was read with two.
TEST_F(Memory, OfAMaskThatIsLargerThanTheModel) {
  constexpr Dims3 kLarge{256, 256, 256};
  write_bytes(in_folder("mask.nii"), head_mask(kLarge).build());
  for (const char* name : {"out.nii", "packed.nii.gz"}) {
    Flags flags = with("--out", in_folder(name).string());
    flags.set("--size", "16").set("--steps", "1");
    flags.set("--resize", "reference");  // fills the volume with what hardly packs
    expect_predicted(flags, 1.5 * static_cast<double>(bytes_of(kLarge)));
  }
}

// Cropped and turned, or by the reference's way, its labels, channels and copies are others.
TEST_F(Memory, OfAMaskThatIsTurned) {
  constexpr Affine kLps{{{-1, 0, 0, 0}, {0, -1, 0, 239}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  write_bytes(in_folder("mask.nii"), head_mask({240, 240, 155}).sform(1, kLps).build());
  for (const char* resize : {"pad", "reference"}) {
    Flags flags = with("--out", in_folder(std::string(resize) + ".nii").string());
    flags.set("--size", "64x96x64").set("--steps", "1").set("--resize", resize);
    expect_predicted(flags);
  }
}

// Peaks of the program where the images are most of it.
class ReadingMemory : public Memory {
 protected:
  // What the program takes before it reads an image.
  std::uint64_t before_images() const {
    return expect_refused(with("--memory-limit", "1MB"), {"--memory-limit allows 1 MB"}).peak_bytes;
  }
};

// The labels beside the file are counted: refused by the header, before anything is read.
TEST_F(ReadingMemory, OfAMaskIsKnownByItsHeader) {
  constexpr Dims3 kLarge{400, 400, 400};
  const std::uint64_t before = before_images();
  const std::vector<std::byte> start = NiftiBuilder()
                                           .dims({kLarge.begin(), kLarge.end()})
                                           .voxels(std::vector<std::uint8_t>())
                                           .build();
  write_bytes(in_folder("mask.nii"), start);
  std::filesystem::resize_file(in_folder("mask.nii"), start.size() + bytes_of(kLarge));
  const std::string limit = std::to_string((before + bytes_of(kLarge) * 3 / 2) / 1'000'000) + "MB";
  Flags flags = with("--size", "16");
  flags.set("--memory-limit", limit);
  // Not by expect_refused(): what it reads of the folder would count as the child's.
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"of memory, --memory-limit allows"});
  EXPECT_LT(result.peak_bytes, before + bytes_of(kLarge) / 2);
}

// Two slices are nothing but outer faces. The labels, the T1 and where it is not air: three bytes a
// voxel, and half of one for what the two programs differ in before.
TEST_F(ReadingMemory, OfPrepareIsThatOfItsImages) {
  constexpr Dims3 kFlat{4096, 2048, 2};
  const std::uint64_t before = before_images();
  std::vector<std::uint8_t> t1(bytes_of(kFlat));
  std::fill_n(t1.begin(), t1.size() / 20, std::uint8_t{100});
  write_bytes(in_folder("t1.nii"), head_mask(kFlat).voxels(t1).build());
  std::fill_n(t1.begin(), t1.size() / 20, std::uint8_t{0});
  std::fill_n(t1.begin(), t1.size() / 40, std::uint8_t{2});
  write_bytes(in_folder("mask.nii"), head_mask(kFlat).voxels(t1).build());
  const CommandResult result = run(Flags("prepare")
                                       .set("--recipe", "brats")
                                       .set("--mask", in_folder("mask.nii").string())
                                       .set("--t1", in_folder("t1.nii").string())
                                       .set("--out", in_folder("out.nii").string()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(result.peak_bytes, before + bytes_of(kFlat) * 7 / 2);
}

class LittleMemory : public Memory {
 protected:
  // Of address space: the program itself has 120 MB.
  static constexpr std::uint64_t kLittle = 200'000'000;

  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "sanitizers need terabytes of address space";
    }
  }
};

// A small file that becomes large: refused before it is read.
TEST_F(LittleMemory, IsEnoughToRefuseAMaskThatGrows) {
  const auto packed = gzipped(head_mask({512, 512, 384}).build());
  ASSERT_LT(packed.size(), 10'000'000U);
  write_bytes(in_folder("mask.nii"), packed);
  const CommandResult result = run_program_within(kLittle, with("--memory-limit", "90MB").words());
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"MB of memory, --memory-limit allows 90 MB"});
}

TEST_F(LittleMemory, IsEnoughToRefuseAGridBeyondAnyMachine) {
  const CommandResult result = run_program_within(kLittle, with("--size", "1280").words());
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"GB of memory, this machine (or its cgroup) allows"});
}

// Where the system gives less than was predicted: from hardly enough to start to enough for the
// network, but not for the copies of a mask this large. A run is done or ends in one line, and
// leaves nothing.
TEST_F(LittleMemory, EndsARunInOneLine) {
  write_bytes(in_folder("mask.nii"), head_mask({192, 192, 192}).build());
  Flags flags = with("--size", "16");
  flags.set("--steps", "1");
  const auto before = folder_.content();
  int thrown = 0;
  for (std::uint64_t megabytes = 100; megabytes <= 500; megabytes += 20) {
    const CommandResult result = run_program_within(megabytes << 20, flags.words());
    if (result.exit_code == 0) {
      break;
    }
    if (result.exit_code == 127) {
      continue;  // not enough for the loader
    }
    EXPECT_EQ(result.exit_code, 1) << megabytes << " MB: " << result.err;
    const std::vector<std::string> lines = lines_of(result.err);
    ASSERT_FALSE(lines.empty());
    EXPECT_TRUE(lines.back().starts_with("mezzotint: ")) << result.err;
    EXPECT_NE(lines.back().find("memory"), std::string::npos) << result.err;
    EXPECT_EQ(lines.back().find("internal error"), std::string::npos) << result.err;
    thrown += lines.back().starts_with("mezzotint: not enough memory: ") ? 1 : 0;
    EXPECT_EQ(folder_.content(), before) << megabytes << " MB";
  }
  EXPECT_GT(thrown, 0);
}

}  // namespace
}  // namespace mezzotint::testing
