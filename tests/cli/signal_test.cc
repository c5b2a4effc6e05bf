// SIGHUP, SIGINT and SIGTERM stop a run between two ops and leave nothing behind.
#include <chrono>
#include <csignal>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class Signals : public GenerateTest {
 protected:
  // Sends `signal` once stderr has `text`.
  void expect_stop(int signal, const std::string& text) const {
    Flags flags = with("--size", "32");
    flags.set("--steps", "50");
    flags.set("--preview", in_folder("out.png").string());
    const auto before = folder_.content();
    RunningCommand command(flags.words());
    ASSERT_TRUE(command.wait_for_stderr(text));
    const auto sent = std::chrono::steady_clock::now();
    command.send(signal);
    const CommandResult result = command.finish();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - sent;
    EXPECT_EQ(result.exit_code, 128 + signal);
    // An op takes milliseconds here and all 50 steps a minute; the rest is a busy machine.
    EXPECT_LT(waited.count(), 10);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(lines_of(result.err).back(), "mezzotint: stopped on request");
    EXPECT_EQ(folder_.content(), before);
  }
};

TEST_F(Signals, InterruptBetweenSteps) {
  expect_stop(SIGINT, "step 1/50");
}

TEST_F(Signals, TerminateBetweenSteps) {
  expect_stop(SIGTERM, "step 2/50");
}

TEST_F(Signals, HangUpBetweenSteps) {
  expect_stop(SIGHUP, "step 1/50");
}

TEST_F(Signals, InterruptBeforeTheFirstStep) {
  expect_stop(SIGINT, "mezzotint generate\n");
}

}  // namespace
}  // namespace mezzotint::testing
