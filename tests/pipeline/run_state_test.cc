// What an interrupted chain leaves, whatever interrupted it, and what else may lie under that name.
#include "pipeline/run_state.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"

namespace mezzotint {
namespace {

// Of the layout in docs/formats.md.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kHeaderBytes = 160;
constexpr std::size_t kHeaderHash = 96;

constexpr std::size_t kElements = 5;
constexpr int kSteps = 4;

std::vector<float> x_after(int step) {
  std::vector<float> x(kElements);
  for (std::size_t i = 0; i < kElements; ++i) {
    x[i] = static_cast<float>(step) + 0.1F * static_cast<float>(i);
  }
  return x;
}

std::vector<float> carried_after(int step) {
  std::vector<float> carried = x_after(step);
  std::ranges::reverse(carried);
  return carried;
}

class RunStateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mezzotint-state-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.out = folder_ / "scan.nii.gz";
    options_.shape = {std::string(64, 'a'), kSteps, kElements, kElements};
    options_.save_seconds = 1e9;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "scan.part"; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(std::string_view content) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << content;
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  [[nodiscard]] std::optional<RunState> open() const {
    auto state = RunState::open(options_);
    EXPECT_TRUE(state.ok()) << state.error().message;
    return state ? *std::move(state) : std::nullopt;
  }
  // The content of a file that an interrupted run left after `step` steps, each of them saved.
  std::string left_after(int step) const {
    std::optional<RunState> state = open();
    for (int i = 1; i <= step; ++i) {
      EXPECT_TRUE(state->save(i, x_after(i), carried_after(i)).ok());
    }
    return content();
  }
  void expect_refused(std::string_view part, ErrorCode code = ErrorCode::kInvalidInput) const {
    const std::string before = content();
    const auto state = RunState::open(options_);
    ASSERT_FALSE(state.ok());
    EXPECT_EQ(state.error().code, code);
    EXPECT_NE(state.error().message.find(part), std::string::npos) << state.error().message;
    EXPECT_EQ(state.error().message.find('\n'), std::string::npos);
    EXPECT_TRUE(content() == before);
  }
  // That the state under path() is the one after `step` steps.
  void expect_step(int step) const {
    const std::optional<RunState> state = open();
    ASSERT_TRUE(state.has_value());
    ASSERT_EQ(state->step(), step);
    if (step > 0) {
      std::vector<float> x(kElements);
      std::vector<float> carried(kElements);
      ASSERT_TRUE(state->load(x, carried).ok());
      EXPECT_EQ(x, x_after(step));
      EXPECT_EQ(carried, step == kSteps ? std::vector<float>(kElements) : carried_after(step));
    }
  }

  std::filesystem::path folder_;
  RunState::Options options_;
};

TEST_F(RunStateTest, LiesBesideTheVolume) {
  EXPECT_EQ(run_state_path("a/scan.nii.gz"), "a/scan.part");
  EXPECT_EQ(run_state_path("scan.1.nii"), "scan.1.part");
}

TEST_F(RunStateTest, HasAllItsSpaceFromTheStart) {
  const std::optional<RunState> state = open();
  EXPECT_EQ(state->step(), 0);
  EXPECT_FALSE(state->is_kept());
  EXPECT_EQ(std::filesystem::file_size(path()), 5 * kBlock);
}

TEST_F(RunStateTest, GoesWithARunThatFinishedNoStep) {
  left_after(0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(RunStateTest, StaysWithTheNewestStep) {
  for (int step = 1; step <= kSteps; ++step) {
    left_after(step);
    EXPECT_EQ(entries(), 1U);
    expect_step(step);
    std::filesystem::remove(path());
  }
}

TEST_F(RunStateTest, IsGoneOnWithAndRemovedAtTheEnd) {
  left_after(2);
  {
    std::optional<RunState> state = open();
    EXPECT_TRUE(state->is_kept());
    ASSERT_TRUE(state->save(3, x_after(3), carried_after(3)).ok());
  }
  expect_step(3);
  open()->remove();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(RunStateTest, HoldsWhatSamplersWithoutMemoryNeed) {
  options_.shape.carried = 0;
  {
    std::optional<RunState> state = open();
    ASSERT_TRUE(state->save(1, x_after(1), {}).ok());
  }
  std::vector<float> x(kElements);
  ASSERT_TRUE(open()->load(x, {}).ok());
  EXPECT_EQ(x, x_after(1));
}

// A save writes the values, then the record. Stopped between any two bytes, it leaves the state of
// this step or of the one before.
TEST_F(RunStateTest, EveryInterruptionOfASaveLeavesAWholeState) {
  for (int step = 1; step <= kSteps; ++step) {
    const std::string before = left_after(step - 1);
    std::filesystem::remove(path());
    const std::string after = left_after(step);
    std::filesystem::remove(path());
    ASSERT_EQ(before.size(), after.size());
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) {
        changed.push_back(i);
      }
    }
    std::stable_partition(changed.begin(), changed.end(),
                          [](std::size_t at) { return at >= 3 * kBlock; });
    std::string torn = before;
    for (std::size_t i = 0; i < changed.size(); ++i) {
      put(torn);
      expect_step(step - 1);
      torn[changed[i]] = after[changed[i]];
    }
    ASSERT_EQ(torn, after);
    put(torn);
    expect_step(step);
    std::filesystem::remove(path());
  }
}

TEST_F(RunStateTest, AnyOtherHeaderIsRefused) {
  const std::string good = left_after(2);
  for (std::size_t at = 0; at < kHeaderBytes; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    put(bad);
    const auto state = RunState::open(options_);
    ASSERT_FALSE(state.ok()) << at;
    EXPECT_TRUE(content() == bad) << at;
  }
  std::string version = good;
  version[8] = 2;
  put(version);
  expect_refused("another version of Mezzotint", ErrorCode::kUnsupported);
}

TEST_F(RunStateTest, AnyOtherLengthIsRefused) {
  const std::string good = left_after(2);
  for (const std::size_t size :
       {kHeaderBytes - 1, kHeaderBytes, kBlock, 3 * kBlock, good.size() - 1, good.size() + 1}) {
    std::string bad = good;
    bad.resize(size);
    put(bad);
    expect_refused("damaged");
    expect_refused("delete it to start anew");
  }
}

TEST_F(RunStateTest, OneSpoiltCopyIsEnoughAndTwoAreDamage) {
  const std::string good = left_after(3);  // steps 1 and 3 in the first slot, 2 in the second
  std::string bad = good;
  bad[3 * kBlock] ^= 1;
  put(bad);
  expect_step(2);
  bad[4 * kBlock] ^= 1;
  put(bad);
  expect_refused("neither of its two copies");
  options_.overwrite = true;
  expect_step(0);
  EXPECT_EQ(entries(), 0U);
}

// Steps beyond the last, however their hash was made.
TEST_F(RunStateTest, RecordsOfNoStepAreNotBelieved) {
  std::string bad = left_after(2);
  for (const std::size_t slot : {kBlock, 2 * kBlock}) {
    bad[slot + 7] = '\x40';
  }
  put(bad);
  expect_refused("damaged");
}

// With a hash that is right, as only someone with intent would write it.
TEST_F(RunStateTest, SizesBeyondTheFileAllocateNothing) {
  const std::string good = left_after(1);
  for (const std::uint64_t elements :
       {std::uint64_t{0}, std::uint64_t{2000}, std::uint64_t{1} << 40, std::uint64_t{1} << 61,
        std::numeric_limits<std::uint64_t>::max()}) {
    std::string bad = good;
    std::memcpy(bad.data() + 16, &elements, sizeof(elements));
    std::memcpy(bad.data() + 24, &elements, sizeof(elements));
    const std::string hash = sha256_hex(std::as_bytes(std::span(bad)).first(kHeaderHash));
    std::ranges::copy(hash, bad.begin() + kHeaderHash);
    put(bad);
    expect_refused("damaged");
  }
}

TEST_F(RunStateTest, ValuesThatAreNotFiniteAreRefused) {
  {
    std::optional<RunState> state = open();
    std::vector<float> x = x_after(1);
    x[3] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_TRUE(state->save(1, x, carried_after(1)).ok());
  }
  std::vector<float> x(kElements);
  std::vector<float> carried(kElements);
  const Status loaded = open()->load(x, carried);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("not finite"), std::string::npos);
}

TEST_F(RunStateTest, OfAnotherRunIsLeftAloneUnlessOverwritten) {
  left_after(2);
  options_.shape.identity = std::string(64, 'b');
  expect_refused("scan.part: holds step 2 of 4 of another run");
  expect_refused("delete the file or pass --overwrite");
  options_.overwrite = true;
  left_after(1);
  expect_step(1);
}

TEST_F(RunStateTest, OfTheSameRunIsGoneOnWithDespiteOverwrite) {
  left_after(2);
  options_.overwrite = true;
  expect_step(2);
}

// A run that was killed before its first save has nothing to lose.
TEST_F(RunStateTest, WithoutAStepMakesWayForAnyRun) {
  const std::string empty = left_after(0);
  put(empty);
  options_.shape = {std::string(64, 'b'), 7, 3, 0};
  EXPECT_EQ(open()->step(), 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(RunStateTest, AFileThatIsNoStateStays) {
  for (const std::string_view foreign : {"", "MZTSTAT", "half a download"}) {
    put(foreign);
    for (const bool overwrite : {false, true}) {
      options_.overwrite = overwrite;
      expect_refused("scan.part: is no state of an interrupted run");
    }
  }
  std::filesystem::remove(path());
  std::ofstream(folder_ / "target") << "precious";
  std::filesystem::create_symlink("target", path());
  expect_refused("scan.part: is a symbolic link, which is not followed; remove it, or");
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_FALSE(RunState::open(options_).ok());
  EXPECT_TRUE(std::filesystem::is_directory(path()));
}

TEST_F(RunStateTest, BelongsToOneRunAtATime) {
  std::optional<RunState> first = open();
  for (const bool overwrite : {false, true}) {
    options_.overwrite = overwrite;
    expect_refused("scan.nii.gz: another run is making it", ErrorCode::kResource);
  }
  ASSERT_TRUE(first->save(1, x_after(1), carried_after(1)).ok());
  first.reset();
  expect_step(1);
}

TEST_F(RunStateTest, IsNotMadeWhenNeverSaved) {
  options_.save_seconds = 0;
  EXPECT_FALSE(open().has_value());
  EXPECT_EQ(entries(), 0U);
  options_.save_seconds = 1;
  left_after(2);
  options_.save_seconds = 0;
  expect_step(2);
}

TEST_F(RunStateTest, IsSavedWhenItsTimeHasCome) {
  std::optional<RunState> state = open();
  ASSERT_TRUE(state->save_when_due(1, x_after(1), carried_after(1)).ok());
  EXPECT_EQ(state->step(), 0);
  state.reset();
  options_.save_seconds = 1e-9;
  state = open();
  ASSERT_TRUE(state->save_when_due(1, x_after(1), carried_after(1)).ok());
  EXPECT_EQ(state->step(), 1);
}

TEST_F(RunStateTest, NoNameOfAVolumeIsTooLong) {
  options_.out = folder_ / (std::string(250, 'n') + ".nii");
  EXPECT_TRUE(open().has_value());
  EXPECT_EQ(entries(), 0U);
}

TEST_F(RunStateTest, IsNotKeptWhereItsFolderVanished) {
  std::optional<RunState> state = open();
  ASSERT_TRUE(state->save(1, x_after(1), carried_after(1)).ok());
  EXPECT_TRUE(state->is_kept());
  std::filesystem::remove_all(folder_);
  EXPECT_FALSE(state->is_kept());
  state->remove();
}

}  // namespace
}  // namespace mezzotint
