// Words that the command line cannot take: exit code 2.
#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class Usage : public GenerateTest {
 protected:
  void expect_usage(const Flags& flags, const std::vector<std::string>& parts) const {
    expect_refused(flags, parts, 2);
  }
};

void expect_usage_line(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& parts) {
  const CommandResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  expect_one_line(result.err, parts);
}

TEST_F(Usage, UnknownFlagNamesTheNearest) {
  expect_usage(with("--stepz", "3"), {"unknown argument `--stepz`", "did you mean --steps?",
                                      "mezzotint generate --help"});
  expect_usage(with("--previwe", "a.png"), {"did you mean --preview?"});
  expect_usage(with("--zzzzzzzzzz", "3"),
               {"unknown argument `--zzzzzzzzzz`; see mezzotint generate --help"});
}

// A required flag misspelt is missing too; the misspelling is what helps.
TEST_F(Usage, UnknownFlagComesBeforeTheMissingOne) {
  Flags flags = with("--modle", "x");
  flags.erase("--model");
  expect_usage(flags, {"unknown argument `--modle`; did you mean --model?"});
}

TEST(Verbs, UnknownVerbNamesTheNearest) {
  expect_usage_line({"genrate"}, {"unknown argument `genrate`; did you mean generate?"});
  expect_usage_line({"xyzzyxyzzy"}, {"unknown argument `xyzzyxyzzy`; see mezzotint --help"});
}

TEST(Verbs, NoneAtAllShowsTheList) {
  const CommandResult result = run_program({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("generate"), std::string::npos);
}

TEST(Verbs, HelpAndVersionSucceed) {
  const CommandResult help = run_program({"generate", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_NE(help.out.find("Examples:\n  mezzotint generate --model"), std::string::npos)
      << help.out;
  const CommandResult version = run_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("mezzotint ")) << version.out;
}

TEST_F(Usage, MissingFlags) {
  for (const std::string flag : {"--model", "--mask", "--out"}) {
    Flags flags = usual();
    flags.erase(flag);
    expect_usage(flags, {flag + " is required", "mezzotint generate --help"});
  }
}

TEST_F(Usage, ValuesThatAreNoNumbers) {
  expect_usage(with("--steps", "many"), {"--steps: `many` is not a whole number"});
  expect_usage(with("--steps", "5.5"), {"--steps: `5.5` is not a whole number"});
  expect_usage(with("--steps", "99999999999"), {"--steps: `99999999999`", "at most 2147483647"});
  expect_usage(with("--eta", "some"), {"--eta: `some` is not a number"});
  expect_usage(with("--threads", "1x"), {"--threads: `1x` is not a whole number"});
}

// Read as unsigned, -1 would silently be another seed.
TEST_F(Usage, SeedsThatDoNotFit) {
  for (const std::string seed : {"-1", "18446744073709551616", "0x10", "1e3"}) {
    expect_usage(with("--seed", seed), {"--seed: `" + seed + "` is not a whole number from 0 to"});
  }
}

TEST_F(Usage, SizesAndLimitsThatCannotBeRead) {
  expect_usage(with("--size", "8x8"), {"--size: `8x8` is neither one side (64) nor three"});
  expect_usage(with("--size", "-8"), {"--size: `-8`"});
  expect_usage(with("--memory-limit", "lots"), {"--memory-limit: `lots` is not a size such as"});
}

TEST_F(Usage, FlagsGivenTwiceOrWithoutValue) {
  std::vector<std::string> twice = usual().words();
  twice.insert(twice.end(), {"--steps", "3"});
  expect_usage_line(twice, {"--steps", "received 2", "mezzotint generate --help"});
  std::vector<std::string> bare = usual().words();
  bare.emplace_back("--preview");
  expect_usage_line(bare, {"--preview", "missing", "mezzotint generate --help"});
}

// What a shell makes of "$UNSET".
TEST_F(Usage, EmptyWords) {
  for (const char* flag : {"--model", "--mask", "--out", "--preview", "--plan", "--noise"}) {
    expect_usage(with(flag, ""), {std::string(flag) + ": an empty word, expected a name",
                                  "mezzotint generate --help"});
  }
  for (const char* flag : {"--plan", "--out", "--cache"}) {
    expect_usage_line({"profile", "--arch", "whole-head:32", flag, ""},
                      {std::string(flag) + ": an empty word", "mezzotint profile --help"});
  }
  expect_usage_line({"compare", "a", ""}, {"files: an empty word", "mezzotint compare --help"});
  expect_usage_line({"inspect", ""}, {"file: an empty word", "mezzotint inspect --help"});
}

// A name may hold anything; the error stays one line and commands no terminal.
TEST_F(Usage, ControlCharactersInNames) {
  expect_refused(with("--out", in_folder("a\nb\x1b[2J").string()),
                 {"a\\x0ab\\x1b[2J: expected a name that ends in .nii or .nii.gz"});
}

}  // namespace
}  // namespace mezzotint::testing
