#include "formats/gzip.h"
#include "support/gzip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace mezzotint {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// Compressible, but not one repeated pattern.
std::vector<std::byte> long_content() {
  std::vector<std::byte> content(1'000'003);
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<std::byte>((i * i / 977) & 0x3f);
  }
  return content;
}

void expect_refused(const Result<std::vector<std::byte>>& result, std::string_view part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message.rfind("mask.nii.gz: ", 0), 0U) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST(Gzip, GivesTheContentBack) {
  for (const auto& content : {bytes_of(""), bytes_of("x"), long_content()}) {
    const auto packed = testing::gzipped(content);
    EXPECT_TRUE(is_gzip(packed));
    const auto unpacked = gunzip(packed, content.size(), "mask.nii.gz");
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
    EXPECT_EQ(*unpacked, content);
  }
}

// Content that hardly packs, so that there are several.
std::vector<std::byte> noise() {
  std::vector<std::byte> content(1'000'003);
  std::uint32_t state = 1;
  for (std::byte& byte : content) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return content;
}

TEST(Gzip, NoPartIsLarge) {
  const auto content = noise();
  std::size_t largest = 0;
  int parts = 0;
  std::vector<std::byte> packed;
  const Status status = gzip(content, [&](std::span<const std::byte> bytes) {
    largest = std::max(largest, bytes.size());
    ++parts;
    packed.insert(packed.end(), bytes.begin(), bytes.end());
    return Status();
  });
  ASSERT_TRUE(status.ok());
  EXPECT_LE(largest, 256U << 10);
  EXPECT_GE(parts, 4);
  EXPECT_EQ(*gunzip(packed, content.size(), "mask.nii.gz"), content);
}

TEST(Gzip, EndsWithTheErrorOfItsSink) {
  int parts = 0;
  const Status status = gzip(noise(), [&](std::span<const std::byte>) {
    return ++parts == 2 ? Status(Error{ErrorCode::kResource, "full"}) : Status();
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "full");
  EXPECT_EQ(parts, 2);
}

TEST(Gzip, HeaderHasNoTimeAndNoName) {
  const auto packed = testing::gzipped(bytes_of("content"));
  const std::vector<std::byte> start(packed.begin(), packed.begin() + 8);
  EXPECT_EQ(start,
            (std::vector<std::byte>{
                std::byte{0x1f}, std::byte{0x8b}, std::byte{8}, std::byte{0}, {}, {}, {}, {}}));
}

TEST(Gzip, MembersFollowEachOther) {
  auto packed = testing::gzipped(bytes_of("one "));
  const auto second = testing::gzipped(bytes_of("two"));
  packed.insert(packed.end(), second.begin(), second.end());
  packed.resize(packed.size() + 512);  // padding, as tape archives leave
  const auto unpacked = gunzip(packed, 100, "mask.nii.gz");
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(*unpacked, bytes_of("one two"));
}

TEST(Gzip, TruncationIsNamedAtEveryLength) {
  const auto packed = testing::gzipped(bytes_of("some content that is cut somewhere"));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    expect_refused(gunzip(std::span(packed).first(size), 1000, "mask.nii.gz"),
                   "the file is truncated");
  }
}

TEST(Gzip, NoFlippedByteGivesOtherContent) {
  const auto content = bytes_of("some content that is damaged somewhere");
  const auto packed = testing::gzipped(content);
  constexpr std::size_t kHeader = 10;
  int harmless = 0;
  for (std::size_t i = kHeader; i < packed.size(); ++i) {
    auto damaged = packed;
    damaged[i] ^= std::byte{0x10};
    const auto unpacked = gunzip(damaged, 1000, "mask.nii.gz");
    // The bits that pad the last block to a byte mean nothing.
    harmless += unpacked.ok() ? 1 : 0;
    EXPECT_TRUE(!unpacked || *unpacked == content) << "byte " << i;
  }
  EXPECT_LE(harmless, 1);
  auto wrong_checksum = packed;
  wrong_checksum[packed.size() - 8] ^= std::byte{1};
  expect_refused(gunzip(wrong_checksum, 1000, "mask.nii.gz"), "incorrect data check");
}

TEST(Gzip, RefusesMoreThanTheLimit) {
  const auto packed = testing::gzipped(std::vector<std::byte>(10'000'000));
  EXPECT_LT(packed.size(), 20'000U);
  expect_refused(gunzip(packed, 9'999'999, "mask.nii.gz"), "more than the 9999999 bytes expected");
  EXPECT_TRUE(gunzip(packed, 10'000'000, "mask.nii.gz").ok());
}

TEST(Gzip, RefusesForeignBytesAfterTheData) {
  auto packed = testing::gzipped(bytes_of("content"));
  packed.insert(packed.end(), 3, std::byte{'x'});
  expect_refused(gunzip(packed, 1000, "mask.nii.gz"), "3 bytes follow the gzip data");
}

TEST(Gzip, PrefixStopsEarly) {
  const auto content = long_content();
  auto packed = testing::gzipped(content);
  packed.resize(packed.size() / 2);  // never looked at
  const auto start = gunzip_prefix(packed, 540, "mask.nii.gz");
  ASSERT_TRUE(start.ok()) << start.error().message;
  EXPECT_EQ(*start, std::vector<std::byte>(content.begin(), content.begin() + 540));
  const auto whole = gunzip_prefix(testing::gzipped(bytes_of("short")), 540, "mask.nii.gz");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(*whole, bytes_of("short"));
}

}  // namespace
}  // namespace mezzotint
