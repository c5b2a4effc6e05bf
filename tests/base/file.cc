#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/sha256.h"

namespace mezzotint {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mezzotint-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path in(std::string_view name) const { return folder_ / name; }

  static void put(const std::filesystem::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string get(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::size_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

 private:
  std::filesystem::path folder_;
};

template <typename T>
void expect_error(const Result<T>& result, ErrorCode code, std::string_view part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
}

using InputFileTest = FileTest;
using OutputFileTest = FileTest;

TEST_F(InputFileTest, ReadsAtOffsets) {
  put(in("a"), "0123456789");
  const auto file = InputFile::open(in("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 10U);
  std::string part(4, ' ');
  ASSERT_TRUE(file->read_at(3, std::as_writable_bytes(std::span(part))).ok());
  EXPECT_EQ(part, "3456");
  expect_error(file->read_at(8, std::as_writable_bytes(std::span(part))), ErrorCode::kInvalidInput,
               "ends at byte 10, expected 2 more");
}

TEST_F(InputFileTest, RefusesWhatIsNotARegularFile) {
  expect_error(InputFile::open(in("absent")), ErrorCode::kNotFound, in("absent").string());
  expect_error(InputFile::open(in("")), ErrorCode::kInvalidInput, "not a regular file");
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  expect_error(InputFile::open(in("pipe")), ErrorCode::kInvalidInput, "not a regular file");
}

TEST_F(InputFileTest, ReadFileKeepsToItsLimit) {
  put(in("a"), "12345");
  const auto bytes = read_file(in("a"), 5);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(std::ranges::equal(*bytes, bytes_of("12345")));
  expect_error(read_file(in("a"), 4), ErrorCode::kInvalidInput, "limit of 4 bytes");
}

TEST_F(InputFileTest, HashesAcrossItsOwnChunks) {
  std::string content;
  for (int i = 0; content.size() < (3U << 20) + 17; ++i) {
    content += std::to_string(i);
  }
  put(in("a"), content);
  put(in("empty"), "");
  const auto hash = hash_file(in("a"));
  ASSERT_TRUE(hash.ok());
  EXPECT_EQ(*hash, sha256_hex(bytes_of(content)));
  EXPECT_EQ(*hash_file(in("empty")), sha256_hex({}));
  expect_error(hash_file(in("absent")), ErrorCode::kNotFound, "absent");
}

TEST_F(InputFileTest, HashingStopsOnRequest) {
  put(in("a"), "content");
  CancelToken cancel;
  EXPECT_TRUE(hash_file(in("a"), &cancel).ok());
  cancel.request();
  expect_error(hash_file(in("a"), &cancel), ErrorCode::kCancelled, "stopped on request");
}

TEST_F(OutputFileTest, AppearsOnlyWhenCommitted) {
  auto file = OutputFile::create(in("out"), false, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("abc")).ok());
  EXPECT_FALSE(std::filesystem::exists(in("out")));
  ASSERT_TRUE(file->write(bytes_of("def")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("out")), "abcdef");
  EXPECT_EQ(entries(), 1U) << "the temporary is gone";
}

TEST_F(OutputFileTest, LeavesNothingWhenDropped) {
  {
    auto file = OutputFile::create(in("out"), false, 4096);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("abc")).ok());
    EXPECT_EQ(entries(), 1U);
    const OutputFile moved = *std::move(file);
    EXPECT_EQ(moved.path(), in("out"));
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputFileTest, KeepsAnExistingFileWithoutPermission) {
  put(in("out"), "old");
  expect_error(OutputFile::create(in("out"), false, 0), ErrorCode::kInvalidInput, "--overwrite");
  EXPECT_EQ(get(in("out")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, KeepsTheOldContentUntilCommitThenReplacesIt) {
  put(in("out"), "old and longer");
  auto file = OutputFile::create(in("out"), true, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("new")).ok());
  EXPECT_EQ(get(in("out")), "old and longer");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("out")), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, DoesNotReplaceAFileThatAppearedMeanwhile) {
  {
    auto file = OutputFile::create(in("out"), false, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("mine")).ok());
    put(in("out"), "theirs");
    expect_error(file->commit(), ErrorCode::kInvalidInput, "appeared while working");
  }
  EXPECT_EQ(get(in("out")), "theirs");
  EXPECT_EQ(entries(), 1U);
}

// Someone who guesses the temporary's name must not make us write elsewhere.
TEST_F(OutputFileTest, DoesNotFollowALinkInTheTemporarysPlace) {
  put(in("victim"), "precious");
  const auto planted = in(fmt::format(".out.{}.0.tmp", ::getpid()));
  std::filesystem::create_symlink(in("victim"), planted);
  {
    auto probe = OutputFile::create(in("out"), false, 0);
    ASSERT_TRUE(probe.ok());
    EXPECT_TRUE(std::filesystem::exists(in(fmt::format(".out.{}.1.tmp", ::getpid()))))
        << "the planted name is not the one tried first: this test tests nothing";
    ASSERT_TRUE(probe->write(bytes_of("abc")).ok());
    ASSERT_TRUE(probe->commit().ok());
  }
  EXPECT_EQ(get(in("victim")), "precious");
  EXPECT_EQ(get(in("out")), "abc");
}

TEST_F(OutputFileTest, ReplacesALinkNotItsTarget) {
  put(in("target"), "precious");
  std::filesystem::create_symlink(in("target"), in("out"));
  expect_error(OutputFile::create(in("out"), false, 0), ErrorCode::kInvalidInput, "exists already");
  auto file = OutputFile::create(in("out"), true, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("new")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("target")), "precious");
  EXPECT_EQ(get(in("out")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(in("out")));
}

TEST_F(OutputFileTest, ReplacesRegularFilesOnly) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", in("link"));
  for (const std::filesystem::path& path :
       {in("pipe"), in("link"), std::filesystem::path("/dev/null")}) {
    expect_error(OutputFile::create(path, true, 0), ErrorCode::kInvalidInput,
                 path.string() + ": is not a regular file");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(in("pipe")));
  EXPECT_EQ(entries(), 2U);
}

// Nor one that took the place of a regular file while the work went on.
TEST_F(OutputFileTest, DoesNotReplaceAFolderThatAppearedMeanwhile) {
  {
    auto file = OutputFile::create(in("out"), true, 0);
    ASSERT_TRUE(file.ok());
    std::filesystem::create_directory(in("out"));
    expect_error(file->commit(), ErrorCode::kInvalidInput, "out: is a folder");
  }
  EXPECT_TRUE(std::filesystem::is_directory(in("out")));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, WhatIsPublishedButNotKeptIsTakenBack) {
  put(in("old"), "old");
  for (const bool overwrite : {false, true}) {
    auto fresh = OutputFile::create(in("fresh"), overwrite, 0);
    ASSERT_TRUE(fresh.ok());
    ASSERT_TRUE(fresh->write(bytes_of("new")).ok());
    ASSERT_TRUE(fresh->publish().ok());
    EXPECT_EQ(get(in("fresh")), "new");
    fresh = Error{};
    EXPECT_FALSE(std::filesystem::exists(in("fresh")));
  }
  auto replaced = OutputFile::create(in("old"), true, 0);
  ASSERT_TRUE(replaced.ok());
  ASSERT_TRUE(replaced->write(bytes_of("new")).ok());
  ASSERT_TRUE(replaced->publish().ok());
  EXPECT_EQ(get(in("old")), "new");
  replaced = Error{};
  EXPECT_EQ(get(in("old")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, WhatIsKeptStays) {
  put(in("old"), "old");
  {
    auto file = OutputFile::create(in("old"), true, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("new")).ok());
    ASSERT_TRUE(file->publish().ok());
    file->keep();
  }
  EXPECT_EQ(get(in("old")), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, RefusesFoldersAndUnwritablePlaces) {
  expect_error(OutputFile::create(in(""), true, 0), ErrorCode::kInvalidInput, "is a folder");
  expect_error(OutputFile::create(in("absent") / "out", false, 0), ErrorCode::kResource,
               "cannot create a file here");
  // Nobody can create files there, the superuser neither.
  expect_error(OutputFile::create("/proc/self/out", false, 0), ErrorCode::kResource,
               "/proc/self/out: cannot create a file here");
}

TEST_F(OutputFileTest, ObeysFolderPermissions) {
  std::filesystem::create_directory(in("closed"));
  ASSERT_EQ(::chmod(in("closed").c_str(), 0500), 0);
  // Permissions do not bind the superuser, who therefore steps aside for a moment.
  const uid_t self = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (self == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto refused = OutputFile::create(in("closed") / "out", false, 0);
  ASSERT_EQ(::seteuid(self), 0);
  expect_error(refused, ErrorCode::kResource, "Permission denied");
}

TEST_F(OutputFileTest, ReservationDoesNotShowInTheResult) {
  auto file = OutputFile::create(in("out"), false, 1U << 20);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("abc")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(std::filesystem::file_size(in("out")), 3U);
}

TEST_F(OutputFileTest, AFullDiskIsKnownBeforeTheWork) {
  const int probe = ::open(in("probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(probe, 0);
  const bool supported = ::fallocate(probe, 0, 0, 4096) == 0;
  ::close(probe);
  ::unlink(in("probe").c_str());
  if (!supported) {
    GTEST_SKIP() << "this file system reserves no space";
  }
  expect_error(OutputFile::create(in("out"), false, std::uint64_t{1} << 62), ErrorCode::kResource,
               "cannot reserve 4611686018427387904 bytes");
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace mezzotint
