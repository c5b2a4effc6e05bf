#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "formats/ckpt_files.h"

namespace mezzotint::cli {
namespace {

using mezzotint::testing::expect_error;
using Size = std::array<std::int64_t, 3>;

TEST(ParseSize, TakesOneSideOrThree) {
  EXPECT_EQ(*parse_size("64"), (Size{64, 64, 64}));
  EXPECT_EQ(*parse_size("64x48x32"), (Size{64, 48, 32}));
  EXPECT_EQ(*parse_size("64,48,32"), (Size{64, 48, 32}));
}

TEST(ParseSize, RefusesTheRest) {
  for (const char* text : {"", "x", "64x", "x64", "64x48", "64x48x32x16", "64x48x32x", "0", "-64",
                           "64x0x32", "64 48 32", "6.4", "64xx32", "99999999999999999999"}) {
    expect_error(parse_size(text), "is neither one side (64) nor three (64x48x32)");
  }
  expect_error(parse_size("64x48"), "--size: `64x48`");
}

TEST(ParseBytes, KnowsUnits) {
  EXPECT_EQ(*parse_bytes("4000000000"), 4'000'000'000U);
  EXPECT_EQ(*parse_bytes("3.8GB"), 3'800'000'000U);
  EXPECT_EQ(*parse_bytes("4GiB"), std::uint64_t{4} << 30);
  EXPECT_EQ(*parse_bytes("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(*parse_bytes("512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(*parse_bytes("1KB"), 1000U);
  EXPECT_EQ(*parse_bytes("1.5K"), 1536U);
}

TEST(ParseBytes, RefusesTheRest) {
  for (const char* text :
       {"", "GB", "4 GB", "4gigs", "-4GB", "0", "nan", "inf", "1e30", "9e9TB", "4GBx"}) {
    expect_error(parse_bytes(text), "is not a size such as 3.8GB, 4GiB or 4000000000");
  }
}

TEST(ParseDuration, KnowsUnits) {
  EXPECT_EQ(*parse_duration("0", "--max-seconds"), 0);
  EXPECT_EQ(*parse_duration("90", "--max-seconds"), 90);
  EXPECT_EQ(*parse_duration("0.5s", "--max-seconds"), 0.5);
  EXPECT_EQ(*parse_duration("5min", "--max-seconds"), 300);
  EXPECT_EQ(*parse_duration("1.5h", "--max-seconds"), 5400);
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "min", "5 min", "5m", "-1", "nan", "inf", "1e308h", "often"}) {
    expect_error(parse_duration(text, "--max-seconds"), "--max-seconds: ");
    expect_error(parse_duration(text, "--max-seconds"),
                 "is not a time such as 90s, 5min or 1h, nor 0");
  }
}

TEST(Nearest, FindsSlips) {
  const std::vector<std::string> known{"--steps", "--seed", "--sampler", "--size", "--spacing"};
  EXPECT_EQ(nearest("--stepz", known), "--steps");
  EXPECT_EQ(nearest("--step", known), "--steps");
  EXPECT_EQ(nearest("--setps", known), "--steps");
  EXPECT_EQ(nearest("--sede", known), "--seed");
  EXPECT_EQ(nearest("--samplr", known), "--sampler");
  EXPECT_EQ(nearest("genrate", {"generate", "bench"}), "generate");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("--overwrite", {"--steps", "--seed"}), "");
  EXPECT_EQ(nearest("--steps", {}), "");
}

TEST(ExpectedNumber, JudgesByType) {
  EXPECT_EQ(expected_number("INT", "-12"), "");
  EXPECT_EQ(expected_number("UINT", "18446744073709551615"), "");
  EXPECT_EQ(expected_number("FLOAT", "-1.5e-3"), "");
  EXPECT_EQ(expected_number("TEXT", "anything"), "");
  EXPECT_EQ(expected_number("INT", "2147483648"), "a whole number of at most 2147483647 in size");
  EXPECT_EQ(expected_number("UINT", "-1"), "a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(expected_number("FLOAT", "1,5"), "a number");
  EXPECT_NE(expected_number("INT", ""), "");
}

TEST(OnOneLine, EscapesControlCharactersOnly) {
  EXPECT_EQ(on_one_line("a\nb\t\x1b[2J\x7f"), "a\\x0ab\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(on_one_line("schädel.nii"), "schädel.nii");
}

TEST(OnOneLine, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(on_one_line("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(on_one_line("\xc2\x9b"
                        "31m"),
            "\\xc2\\x9b31m")
      << "U+009B, one character of CSI";
  EXPECT_EQ(on_one_line("\x9b"), "\\x9b") << "the same as a byte";
  EXPECT_EQ(on_one_line("a\xe2\x80\xae"
                        "b"),
            "a\\xe2\\x80\\xaeb")
      << "right to left";
  EXPECT_EQ(on_one_line("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "line separator";
}

TEST(OnOneLine, LeavesNamesInAnyLanguage) {
  for (const char* name : {"scan 1.nii", "H\xc3\xb6he", "\xe8\x84\xb3", "\xf0\x9f\xa7\xa0"}) {
    EXPECT_EQ(on_one_line(name), name);
  }
}

TEST(OnOneLine, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(on_one_line("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(on_one_line("\xc0\xaf"), "\\xc0\\xaf") << "too long for its value";
  EXPECT_EQ(on_one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(on_one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(on_one_line("\xe8"
                        "a"),
            "\\xe8"
            "a");
}

}  // namespace
}  // namespace mezzotint::cli
