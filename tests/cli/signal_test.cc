// SIGHUP, SIGINT and SIGTERM stop a run between two ops. What is finished is kept, and nothing
// else.
#include <chrono>
#include <csignal>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class Signals : public GenerateTest {
 protected:
  // Sends `signal` once stderr has `text`, and returns the last line.
  static std::string last_line_of_stopped(const Flags& flags, int signal, const std::string& text) {
    RunningCommand command(flags.words());
    EXPECT_TRUE(command.wait_for_stderr(text));
    const auto sent = std::chrono::steady_clock::now();
    command.send(signal);
    const CommandResult result = command.finish();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - sent;
    EXPECT_EQ(result.exit_code, 128 + signal);
    // An op takes milliseconds here and all 50 steps a minute; the rest is a busy machine.
    EXPECT_LT(waited.count(), 10);
    EXPECT_EQ(result.out, "");
    return lines_of(result.err).back();
  }
  [[nodiscard]] Flags slow() const {
    return with("--size", "32")
        .set("--steps", "50")
        .set("--preview", in_folder("out.png").string());
  }
  // Between two steps: the state is there although no save was due, and the next run goes on.
  void expect_kept(int signal, const std::string& text) const {
    const auto before = folder_.content();
    const std::string line = last_line_of_stopped(slow(), signal, text);
    EXPECT_TRUE(
        line.starts_with("mezzotint: stopped on request; the same command goes on after "
                         "step "))
        << line;
    EXPECT_TRUE(line.ends_with(" of 50")) << line;
    auto after = folder_.content();
    EXPECT_EQ(after.erase("out.part"), 1U);
    EXPECT_EQ(after, before);
    const std::string again = last_line_of_stopped(slow(), signal, "going on after step ");
    EXPECT_TRUE(again.starts_with("mezzotint: stopped on request; the same command goes on"))
        << again;
    after = folder_.content();
    EXPECT_EQ(after.erase("out.part"), 1U);
    EXPECT_EQ(after, before);
  }
};

TEST_F(Signals, InterruptBetweenSteps) {
  expect_kept(SIGINT, "step 1/50");
}

TEST_F(Signals, TerminateBetweenSteps) {
  expect_kept(SIGTERM, "step 2/50");
}

TEST_F(Signals, HangUpBetweenSteps) {
  expect_kept(SIGHUP, "step 1/50");
}

TEST_F(Signals, InterruptBeforeTheFirstStep) {
  const auto before = folder_.content();
  EXPECT_EQ(last_line_of_stopped(slow(), SIGINT, "mezzotint generate\n"),
            "mezzotint: stopped on request");
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(Signals, LeaveNothingWhereNothingIsSaved) {
  const auto before = folder_.content();
  EXPECT_EQ(last_line_of_stopped(slow().set("--checkpoint-every", "0"), SIGINT, "step 1/50"),
            "mezzotint: stopped on request");
  EXPECT_EQ(folder_.content(), before);
}

}  // namespace
}  // namespace mezzotint::testing
