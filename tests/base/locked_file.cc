#include "base/locked_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/file_test_base.h"

namespace mezzotint {
namespace {

using LockedFileTest = FileTest;

TEST_F(LockedFileTest, IsNewWithZerosAfterItsStart) {
  auto file = LockedFile::create(in("a"), bytes_of("start"), 8);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(get(in("a")), std::string("start\0\0\0", 8));
  ASSERT_TRUE(file->write_at(6, bytes_of("x")).ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(get(in("a")), std::string("start\0x\0", 8));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(LockedFileTest, IsHeldByOne) {
  std::optional<LockedFile> first = *LockedFile::create(in("a"), bytes_of("12"), 2);
  expect_error(LockedFile::open(in("a")), ErrorCode::kResource, "another process");
  expect_error(LockedFile::create(in("a"), {}, 2), ErrorCode::kInvalidInput, "appeared");
  first.reset();
  auto second = LockedFile::open(in("a"));
  ASSERT_TRUE(second.ok()) << second.error().message;
  expect_error(LockedFile::open(in("a")), ErrorCode::kResource, "another process");
  EXPECT_EQ(get(in("a")), "12");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(LockedFileTest, RemovesItsOwnNameOnly) {
  auto file = LockedFile::create(in("a"), {}, 2);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->is_in_place());
  std::filesystem::rename(in("a"), in("b"));
  EXPECT_FALSE(file->is_in_place());
  put(in("a"), "theirs");
  EXPECT_FALSE(file->is_in_place());
  file->remove();
  EXPECT_EQ(get(in("a")), "theirs");
  std::filesystem::rename(in("b"), in("a"));
  file->remove();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LockedFileTest, OpensRegularFilesOnly) {
  put(in("target"), "precious");
  std::filesystem::create_symlink("target", in("link"));
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  expect_error(LockedFile::open(in("absent")), ErrorCode::kNotFound, "absent");
  expect_error(LockedFile::open(in("link")), ErrorCode::kInvalidInput,
               "link: is a symbolic link, which is not followed");
  expect_error(LockedFile::open(in("pipe")), ErrorCode::kInvalidInput, "pipe: ");
  expect_error(LockedFile::open(in("")), ErrorCode::kInvalidInput, "is a folder, expected a file");
  expect_error(LockedFile::create(in("link"), {}, 2), ErrorCode::kInvalidInput, "appeared");
  expect_error(LockedFile::create(in("absent") / "a", {}, 2), ErrorCode::kResource,
               "cannot create a file here");
  EXPECT_EQ(get(in("target")), "precious");
}

}  // namespace
}  // namespace mezzotint
