#include "base/quote.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

TEST(InQuotes, KeepsPrintableText) {
  EXPECT_EQ(in_quotes(""), "``");
  EXPECT_EQ(in_quotes("a b~!"), "`a b~!`");
}

TEST(InQuotes, HidesWhatATerminalWouldObey) {
  EXPECT_EQ(in_quotes("a\nb"), "`a\\x0ab`");
  EXPECT_EQ(in_quotes("\x1b[2J"), "`\\x1b[2J`");
  EXPECT_EQ(in_quotes("\xc3\xa9\x7f"), "`\\xc3\\xa9\\x7f`");
}

TEST(InQuotes, CutsLongText) {
  const std::string text = in_quotes(std::string(97, 'x'));
  EXPECT_EQ(text, "`" + std::string(96, 'x') + "...`");
  EXPECT_EQ(in_quotes(std::string(96, 'x')), "`" + std::string(96, 'x') + "`");
}

TEST(ShellWord, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("/data/scan-1_t1.nii.gz"), "/data/scan-1_t1.nii.gz");
  EXPECT_EQ(shell_word("my mask.nii"), "'my mask.nii'");
  EXPECT_EQ(shell_word("$(rm it's).nii"), "'$(rm it'\\''s).nii'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace mezzotint
