#include "cli/columns.h"

#include <gtest/gtest.h>

namespace mezzotint::cli {
namespace {

TEST(Columns, CountCharacters) {
  EXPECT_EQ(columns_of(""), 0U);
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("\xc3\xa9\xe2\x82\xac"), 2U);
}

TEST(Columns, ShortenTakesTheMiddle) {
  EXPECT_EQ(shorten("output_blocks", 13), "output_blocks");
  EXPECT_EQ(shorten("output_blocks", 12), "outp...locks");
  EXPECT_EQ(shorten("output_blocks", 4), "...s");
  const std::string wide = shorten("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5);
  EXPECT_EQ(wide, "\xc3\xa9...\xc3\xa9");
  EXPECT_EQ(columns_of(wide), 5U);
}

TEST(Columns, ShortensWordsOneByOne) {
  EXPECT_EQ(shorten_words("a  output_blocks b ", 4), "a  ...s b ");
  EXPECT_EQ(shorten_words("output_blocks", 12), "outp...locks");
  EXPECT_EQ(shorten_words("", 4), "");
}

TEST(Columns, WrapBreaksAtSpaces) {
  EXPECT_EQ(wrap("", 2), "  \n");
  EXPECT_EQ(wrap("a b", 2), "  a b\n");
  const std::string half(49, 'x');
  EXPECT_EQ(wrap(half + " " + half, 1), " " + half + " " + half + "\n");
  EXPECT_EQ(wrap(half + " " + half, 2), "  " + half + "\n  " + half + "\n");
  EXPECT_EQ(wrap(half + " " + half, 1, " \\"), " " + half + " \\\n " + half + "\n");
  const std::string whole(120, 'y');
  EXPECT_EQ(wrap("a " + whole + " b", 0), "a\n" + whole + "\nb\n");
}

}  // namespace
}  // namespace mezzotint::cli
