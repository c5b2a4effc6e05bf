// Timings in a file: what survives a damaged file, a killed process, and a second one.
#include "tune/timing_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr OpTiming kFirst{0.25, 0.0625, 7};
constexpr OpTiming kSecond{1.0 / 3, 0, 1};

class TimingCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mezzotint-timings-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] Result<TimingCache> open(const std::string& scope = "here") const {
    return TimingCache::open(folder_, scope);
  }

  // With both timings; closed again.
  fs::path fill() const {
    auto cache = open();
    EXPECT_TRUE(cache.ok()) << cache.error().message;
    EXPECT_TRUE(cache->add("first op", "kernels.a", kFirst).ok());
    EXPECT_TRUE(cache->add("second op", "kernels.b", kSecond).ok());
    return cache->path();
  }

  static std::string get(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  fs::path folder_;
};

TEST_F(TimingCacheTest, KeepsWhatWasMeasured) {
  fill();
  const auto cache = open();
  ASSERT_TRUE(cache.ok()) << cache.error().message;
  EXPECT_EQ(cache->note(), "");
  EXPECT_EQ(cache->size(), 2U);
  EXPECT_EQ(cache->find("first op", "kernels.a"), kFirst);
  EXPECT_EQ(cache->find("second op", "kernels.b"), kSecond);
  EXPECT_FALSE(cache->find("first op", "kernels.b"));
  EXPECT_FALSE(cache->find("another op", "kernels.a"));
}

TEST_F(TimingCacheTest, ALaterTimingReplacesAnEarlierOne) {
  fill();
  {
    auto cache = open();
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    EXPECT_TRUE(cache->add("first op", "kernels.a", kSecond).ok());
  }
  EXPECT_EQ(open()->find("first op", "kernels.a"), kSecond);
}

TEST_F(TimingCacheTest, AnotherScopeHasAnotherFile) {
  const fs::path path = fill();
  const auto other = open("there");
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_NE(other->path(), path);
  EXPECT_EQ(other->size(), 0U);
  EXPECT_EQ(open()->size(), 2U);
}

TEST_F(TimingCacheTest, OneProcessHoldsIt) {
  fill();
  const auto held = open();
  ASSERT_TRUE(held.ok());
  const auto second = open();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kResource);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos);
}

// As after a crash in the middle of a line: what was whole stays, and new lines follow it.
TEST_F(TimingCacheTest, GoesOnAfterALineThatWasCutShort) {
  const fs::path path = fill();
  const std::string whole = get(path);
  for (std::size_t cut = 1; cut < 20; cut += 6) {
    put(path, whole.substr(0, whole.size() - cut));
    {
      auto cache = open();
      ASSERT_TRUE(cache.ok()) << cache.error().message;
      EXPECT_NE(cache->note().find("1 damaged line dropped"), std::string::npos) << cache->note();
      EXPECT_EQ(cache->find("first op", "kernels.a"), kFirst);
      EXPECT_FALSE(cache->find("second op", "kernels.b"));
      EXPECT_TRUE(cache->add("second op", "kernels.b", kSecond).ok());
    }
    EXPECT_EQ(get(path), whole) << cut;
  }
}

// Any changed byte of a line costs that line alone.
TEST_F(TimingCacheTest, DropsDamagedLines) {
  const fs::path path = fill();
  const std::string whole = get(path);
  const std::size_t header = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', header) + 1;
  for (std::size_t at = header; at + 1 < second; ++at) {
    std::string damaged = whole;
    damaged[at] = damaged[at] == 'x' ? 'y' : 'x';
    put(path, damaged);
    const auto cache = open();
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    EXPECT_EQ(cache->size(), 1U) << at;
    EXPECT_EQ(cache->find("second op", "kernels.b"), kSecond) << at;
    EXPECT_NE(cache->note().find("dropped"), std::string::npos) << at;
  }
}

TEST_F(TimingCacheTest, RebuildsWhatIsNoFileOfTimings) {
  const fs::path path = fill();
  for (const std::string& content : {std::string(), std::string("{}"), std::string(1000, '\0')}) {
    put(path, content);
    {
      auto cache = open();
      ASSERT_TRUE(cache.ok()) << cache.error().message;
      EXPECT_EQ(cache->size(), 0U);
      EXPECT_NE(cache->note().find("written anew"), std::string::npos);
      EXPECT_TRUE(cache->add("first op", "kernels.a", kFirst).ok());
    }
    EXPECT_EQ(open()->find("first op", "kernels.a"), kFirst);
  }
}

// As with a full disk: the new file cannot be written, and the old one stays.
TEST_F(TimingCacheTest, KeepsADamagedFileThatCannotBeReplaced) {
  const fs::path path = fill();
  const std::string damaged = get(path) + "damaged\n";
  put(path, damaged);
  fs::create_directories(path.string() + ".new/taken");
  EXPECT_FALSE(open().ok());
  EXPECT_EQ(get(path), damaged);
  fs::remove_all(path.string() + ".new");
  EXPECT_EQ(open()->size(), 2U);
}

TEST_F(TimingCacheTest, SaysOfWhatAnotherFileIs) {
  const fs::path path = fill();
  put(path, "mezzotint timings 9: elsewhere\n");
  {
    const auto cache = open();
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    EXPECT_EQ(cache->note(), path.string() +
                                 ": timings of another form or machine, `9: elsewhere`: written "
                                 "anew");
  }
  EXPECT_EQ(open()->note(), "");
}

// A sparse file of that size costs nothing.
TEST_F(TimingCacheTest, RebuildsAFileAboveTheLimitUnread) {
  const fs::path path = fill();
  fs::resize_file(path, 64'000'001);
  {
    const auto cache = open();
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    EXPECT_NE(cache->note().find("64000001 bytes, larger than the limit of 64000000 bytes: "
                                 "written anew"),
              std::string::npos)
        << cache->note();
  }
  EXPECT_LT(fs::file_size(path), 1000U);
}

// None of these is followed, waited for or replaced.
TEST_F(TimingCacheTest, RefusesWhatIsNoFile) {
  const fs::path path = fill();
  const auto refused = [&](std::string_view why) {
    const auto cache = open();
    ASSERT_FALSE(cache.ok());
    EXPECT_EQ(cache.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(
        cache.error().message,
        fmt::format("{}: {}; remove it, or pass another folder with --cache", path.string(), why));
  };
  fs::remove(path);
  put(folder_ / "mine", "mine");
  fs::create_symlink(folder_ / "mine", path);
  refused("is a symbolic link, which is not followed");
  EXPECT_EQ(get(folder_ / "mine"), "mine");
  fs::remove(path);
  fs::create_symlink(folder_ / "nothing", path);
  refused("is a symbolic link, which is not followed");
  fs::remove(path);
  fs::create_directory(path);
  refused("is a folder, expected a file");
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  refused("not a regular file");
}

TEST_F(TimingCacheTest, IsSummedUpWithoutHoldingIt) {
  const fs::path path = fill();
  auto cache = open("here");
  ASSERT_TRUE(cache.ok());
  ASSERT_TRUE(cache->add_pairs("a against b", {0.5, 0.875, 0.9375, 8}).ok());
  auto summary = summarize_timings(path);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->scope, "here");
  EXPECT_EQ(summary->timings, 2);
  EXPECT_EQ(summary->comparisons, 1);
  EXPECT_EQ(summary->damaged, 0);
  put(path, get(path) + "damaged\n");
  EXPECT_EQ(summarize_timings(path)->damaged, 1);
  put(path, "mezzotint timings 9: elsewhere\n");
  summary = summarize_timings(path);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(is_timings("mezzotint timings 9"));
  EXPECT_FALSE(is_timings("mezzotint plans"));
}

TEST_F(TimingCacheTest, RefusesAFolderThatCannotBeWritten) {
  const auto cache = TimingCache::open(folder_ / "absent", "here");
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message.find("absent"), std::string::npos);
}

}  // namespace
}  // namespace mezzotint
