#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "base/file_test_base.h"
#include "base/sha256.h"

namespace mezzotint {
namespace {

using InputFileTest = FileTest;

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

TEST_F(InputFileTest, StartsWithWhatIsThere) {
  put(in("a"), "0123456789");
  const auto file = InputFile::open(in("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(std::ranges::equal(file->start(3).value(), bytes_of("012")));
  EXPECT_TRUE(std::ranges::equal(file->start(64).value(), bytes_of("0123456789")));
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

}  // namespace
}  // namespace mezzotint
