// Every guarantee for both kinds of drafts: without a name, and under a hidden one.
#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/file_test_base.h"

namespace mezzotint {
namespace {

class OutputFileTest : public FileTest, public testing::WithParamInterface<DraftKind> {
 protected:
  static Result<OutputFile> create(const std::filesystem::path& path, bool overwrite,
                                   std::uint64_t reserve_bytes) {
    return OutputFile::create(path, overwrite, reserve_bytes, GetParam());
  }
  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
  }
  // Names that a file has before it appears.
  [[nodiscard]] std::size_t draft_entries() const {
    const Descriptor unnamed(::open(in("").c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    return GetParam() == DraftKind::kUnnamed && unnamed.is_open() ? 0 : 1;
  }
};

INSTANTIATE_TEST_SUITE_P(, OutputFileTest, testing::Values(DraftKind::kUnnamed, DraftKind::kHidden),
                         [](const auto& info) {
                           return info.param == DraftKind::kUnnamed ? "Unnamed" : "Hidden";
                         });

TEST_P(OutputFileTest, AppearsOnlyWhenCommitted) {
  auto file = create(in("out"), false, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("abc")).ok());
  EXPECT_FALSE(std::filesystem::exists(in("out")));
  ASSERT_TRUE(file->write(bytes_of("def")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("out")), "abcdef");
  EXPECT_EQ(entries(), 1U) << "the temporary is gone";
}

TEST_P(OutputFileTest, LeavesNothingWhenDropped) {
  {
    auto file = create(in("out"), false, 4096);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("abc")).ok());
    EXPECT_EQ(entries(), draft_entries());
    const OutputFile moved = *std::move(file);
    EXPECT_EQ(moved.path(), in("out"));
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_P(OutputFileTest, KeepsAnExistingFileWithoutPermission) {
  put(in("out"), "old");
  expect_error(create(in("out"), false, 0), ErrorCode::kInvalidInput, "--overwrite");
  EXPECT_EQ(get(in("out")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, KeepsTheOldContentUntilCommitThenReplacesIt) {
  put(in("out"), "old and longer");
  auto file = create(in("out"), true, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("new")).ok());
  EXPECT_EQ(get(in("out")), "old and longer");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("out")), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, DoesNotReplaceAFileThatAppearedMeanwhile) {
  {
    auto file = create(in("out"), false, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("mine")).ok());
    put(in("out"), "theirs");
    expect_error(file->commit(), ErrorCode::kInvalidInput, "appeared while working");
  }
  EXPECT_EQ(get(in("out")), "theirs");
  EXPECT_EQ(entries(), 1U);
}

// Someone who guesses the hidden name must not make us write elsewhere.
TEST_P(OutputFileTest, DoesNotFollowALinkInTheHiddenNamesPlace) {
  put(in("victim"), "precious");
  put(in("out"), "old");
  std::filesystem::create_symlink("victim", in(fmt::format(".mezzotint.{}.0.tmp", ::getpid())));
  {
    auto file = create(in("out"), true, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("new")).ok());
    ASSERT_TRUE(file->publish().ok());
    EXPECT_EQ(get(in(fmt::format(".mezzotint.{}.1.tmp", ::getpid()))), "old")
        << "the planted name is not the one tried first: this test tests nothing";
    file->keep();
  }
  EXPECT_EQ(get(in("victim")), "precious");
  EXPECT_EQ(get(in("out")), "new");
  EXPECT_EQ(entries(), 3U);
}

// A name may have 255 bytes.
TEST_P(OutputFileTest, TakesTheLongestNames) {
  const std::filesystem::path path = in(std::string(255, 'n'));
  for (const bool overwrite : {false, true}) {
    auto file = create(path, overwrite, 0);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_TRUE(file->write(bytes_of(overwrite ? "new" : "old")).ok());
    const Status committed = file->commit();
    ASSERT_TRUE(committed.ok()) << committed.error().message;
  }
  EXPECT_EQ(get(path), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, KeepsThePermissionsOfWhatItReplaces) {
  const mode_t mask = ::umask(0022);
  ASSERT_TRUE(create(in("fresh"), true, 0)->commit().ok());
  EXPECT_EQ(mode_of(in("fresh")), 0644U);
  for (const mode_t mode : {0600U, 0664U, 0444U}) {
    put(in("out"), "old");
    ASSERT_EQ(::chmod(in("out").c_str(), mode), 0);
    ASSERT_TRUE(create(in("out"), true, 0)->commit().ok());
    EXPECT_EQ(mode_of(in("out")), mode);
    std::filesystem::remove(in("out"));
  }
  // What it is at the end counts, and what a link points to.
  put(in("target"), "old");
  std::filesystem::create_symlink("target", in("link"));
  auto file = create(in("link"), true, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::chmod(in("target").c_str(), 0600), 0);
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(mode_of(in("link")), 0600U);
  ::umask(mask);
}

TEST_P(OutputFileTest, ReplacesALinkNotItsTarget) {
  put(in("target"), "precious");
  std::filesystem::create_symlink(in("target"), in("out"));
  expect_error(create(in("out"), false, 0), ErrorCode::kInvalidInput, "exists already");
  auto file = create(in("out"), true, 0);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("new")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(get(in("target")), "precious");
  EXPECT_EQ(get(in("out")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(in("out")));
}

TEST_P(OutputFileTest, ReplacesRegularFilesOnly) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", in("link"));
  for (const std::filesystem::path& path :
       {in("pipe"), in("link"), std::filesystem::path("/dev/null")}) {
    expect_error(create(path, true, 0), ErrorCode::kInvalidInput,
                 path.string() + ": is not a regular file");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(in("pipe")));
  EXPECT_EQ(entries(), 2U);
}

// Nor one that took the place of a regular file while the work went on.
TEST_P(OutputFileTest, DoesNotReplaceAFolderThatAppearedMeanwhile) {
  {
    auto file = create(in("out"), true, 0);
    ASSERT_TRUE(file.ok());
    std::filesystem::create_directory(in("out"));
    expect_error(file->commit(), ErrorCode::kInvalidInput, "out: is a folder");
  }
  EXPECT_TRUE(std::filesystem::is_directory(in("out")));
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, WhatIsPublishedButNotKeptIsTakenBack) {
  put(in("old"), "old");
  for (const bool overwrite : {false, true}) {
    auto fresh = create(in("fresh"), overwrite, 0);
    ASSERT_TRUE(fresh.ok());
    ASSERT_TRUE(fresh->write(bytes_of("new")).ok());
    ASSERT_TRUE(fresh->publish().ok());
    EXPECT_EQ(get(in("fresh")), "new");
    fresh = Error{};
    EXPECT_FALSE(std::filesystem::exists(in("fresh")));
  }
  auto replaced = create(in("old"), true, 0);
  ASSERT_TRUE(replaced.ok());
  ASSERT_TRUE(replaced->write(bytes_of("new")).ok());
  ASSERT_TRUE(replaced->publish().ok());
  EXPECT_EQ(get(in("old")), "new");
  replaced = Error{};
  EXPECT_EQ(get(in("old")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, WhatIsKeptStays) {
  put(in("old"), "old");
  {
    auto file = create(in("old"), true, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("new")).ok());
    ASSERT_TRUE(file->publish().ok());
    file->keep();
  }
  EXPECT_EQ(get(in("old")), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_P(OutputFileTest, RefusesFoldersAndUnwritablePlaces) {
  expect_error(create(in(""), true, 0), ErrorCode::kInvalidInput, "is a folder");
  expect_error(create(in("absent") / "out", false, 0), ErrorCode::kResource,
               "cannot create a file here");
  // Nobody can create files there, the superuser neither.
  expect_error(create("/proc/self/out", false, 0), ErrorCode::kResource,
               "/proc/self/out: cannot create a file here");
}

TEST_P(OutputFileTest, ObeysFolderPermissions) {
  std::filesystem::create_directory(in("closed"));
  ASSERT_EQ(::chmod(in("closed").c_str(), 0500), 0);
  // Permissions do not bind the superuser, who therefore steps aside for a moment.
  const uid_t self = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (self == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto refused = create(in("closed") / "out", false, 0);
  ASSERT_EQ(::seteuid(self), 0);
  expect_error(refused, ErrorCode::kResource, "Permission denied");
}

TEST_P(OutputFileTest, ReservationDoesNotShowInTheResult) {
  auto file = create(in("out"), false, 1U << 20);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes_of("abc")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(std::filesystem::file_size(in("out")), 3U);
}

TEST_P(OutputFileTest, AFullDiskIsKnownBeforeTheWork) {
  const int probe = ::open(in("probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(probe, 0);
  const bool supported = ::fallocate(probe, 0, 0, 4096) == 0;
  ::close(probe);
  ::unlink(in("probe").c_str());
  if (!supported) {
    GTEST_SKIP() << "this file system reserves no space";
  }
  expect_error(create(in("out"), false, std::uint64_t{1} << 62), ErrorCode::kResource,
               "cannot reserve 4611686018427387904 bytes");
  EXPECT_EQ(entries(), 0U);
}

// The folder goes while the work goes on: one line, and nothing where it was.
TEST_P(OutputFileTest, AFolderThatVanishedIsAnError) {
  for (const bool overwrite : {false, true}) {
    std::filesystem::create_directory(in("sub"));
    auto file = create(in("sub") / "out", overwrite, 4096);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("abc")).ok());
    std::filesystem::remove_all(in("sub"));
    expect_error(file->commit(), ErrorCode::kResource,
                 "sub/out: cannot move the finished file into place: No such file or directory");
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_P(OutputFileTest, AFolderThatBecameReadOnlyIsAnError) {
  std::filesystem::create_directory(in("sub"));
  ASSERT_EQ(::chmod(in("sub").c_str(), 0777), 0);
  ASSERT_EQ(::chmod(in("").c_str(), 0755), 0);
  const uid_t self = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (self == 0) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  {
    auto file = create(in("sub") / "out", false, 0);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes_of("abc")).ok());
    ASSERT_EQ(::seteuid(self), 0);
    ASSERT_EQ(::chmod(in("sub").c_str(), 0555), 0);
    if (self == 0) {
      ASSERT_EQ(::seteuid(kNobody), 0);
    }
    expect_error(file->commit(), ErrorCode::kResource,
                 "sub/out: cannot move the finished file into place: Permission denied");
    ASSERT_EQ(::seteuid(self), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(in("sub") / "out"));
}

// No descriptor stays open, whatever becomes of a file.
TEST_P(OutputFileTest, LeaksNoDescriptor) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    auto kept = create(in("kept"), true, 64);
    auto dropped = create(in("dropped"), false, 64);
    auto refused = create(in("") / "absent" / "out", false, 64);
    ASSERT_TRUE(kept.ok() && dropped.ok() && !refused.ok());
    ASSERT_TRUE(kept->commit().ok());
    kept = std::move(dropped);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace mezzotint
