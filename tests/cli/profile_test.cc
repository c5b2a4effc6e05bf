// mezzotint profile as a user runs it.
#include <algorithm>
#include <csignal>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class ProfileProgram : public GenerateTest {
 protected:
  [[nodiscard]] Flags usual() const {
    return Flags("profile")
        .set("--model", in_folder("model.safetensors").string())
        .set("--size", "8x10x12")
        .set("--steps", "3")
        .set("--threads", "2")
        .set("--force");
  }
  [[nodiscard]] Flags with(const std::string& flag, const std::string& value) const {
    return usual().set(flag, value);
  }
};

// A column is a character; all of them are ASCII here.
std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(text)) {
    longest = std::max(longest, line.size());
  }
  return longest;
}

TEST_F(ProfileProgram, SaysWhatBoundsItBeforeItShowsNumbers) {
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::size_t verdict = result.out.find("bounds this network here");
  const std::size_t groups = result.out.find("level");
  const std::size_t ops = result.out.find("implementation");
  ASSERT_NE(ops, std::string::npos) << result.out;
  EXPECT_LT(verdict, groups);
  EXPECT_LT(groups, ops);
  EXPECT_NE(result.out.find("8x10x12"), std::string::npos) << result.out;
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(ProfileProgram, KeepsWithinAHundredColumns) {
  const CommandResult model = run(usual());
  ASSERT_EQ(model.exit_code, 0) << model.err;
  EXPECT_LE(longest_line(model.out), 100U) << model.out;
  const CommandResult published = run(Flags("profile")
                                          .set("--arch", "brats:32")
                                          .set("--size", "16")
                                          .set("--steps", "1")
                                          .set("--force"));
  ASSERT_EQ(published.exit_code, 0) << published.err;
  EXPECT_LE(longest_line(published.out), 100U) << published.out;
  EXPECT_LE(longest_line(published.err), 100U) << published.err;
}

TEST_F(ProfileProgram, RefusesWordsThatMakeNoSense) {
  expect_refused(usual().erase("--model"), {"profile needs one of --model and --arch"}, 2);
  expect_refused(with("--arch", "whole-head:32"), {"one of --model and --arch"}, 2);
  expect_refused(with("--size", "big"), {"--size: `big` is neither one side"}, 2);
  expect_refused(with("--steps", "0"), {"--steps"}, 2);
  expect_refused(with("--memory-limit", "much"), {"--memory-limit: `much`"}, 2);
  expect_refused(with("--precision", "exact"), {"exact"});
  expect_refused(with("--threads", "-1"), {"threads: -1"});
}

TEST_F(ProfileProgram, RefusesWhatDoesNotFitBeforeTheWork) {
  const CommandResult result = run(with("--memory-limit", "1MB"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("--memory-limit allows 1 MB"), std::string::npos) << result.err;
}

TEST_F(ProfileProgram, StopsOnASignal) {
  const auto before = folder_.content();
  RunningCommand command(with("--size", "32").set("--steps", "100000").words());
  ASSERT_TRUE(command.wait_for_stderr("measuring "));
  command.send(SIGINT);
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).back(), "mezzotint: stopped on request");
  EXPECT_EQ(folder_.content(), before);
}

}  // namespace
}  // namespace mezzotint::testing
