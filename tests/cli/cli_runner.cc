#include "cli/cli_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <array>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "base/system.h"

namespace mezzotint::testing {
namespace {

// Appends what `descriptor` has; at its end closes it and sets it to -1.
void drain(int& descriptor, std::string& text) {
  std::array<char, 4096> block;
  const ssize_t count = ::read(descriptor, block.data(), block.size());
  if (count > 0) {
    text.append(block.data(), static_cast<std::size_t>(count));
    return;
  }
  ::close(descriptor);
  descriptor = -1;
}

std::vector<std::string> program_with(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{MEZZOTINT_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

RunningCommand::RunningCommand(const std::vector<std::string>& arguments, const char* err_path)
    : RunningCommand(AnyProgram{}, program_with(arguments), err_path) {}

RunningCommand::RunningCommand(AnyProgram /*tag*/, std::vector<std::string> words,
                               const char* err_path) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  check(::pipe2(out.data(), O_CLOEXEC) == 0 && ::pipe2(err.data(), O_CLOEXEC) == 0, "no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (err_path != nullptr) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path, O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  }
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  // A spawned process begins with the high-water mark of the one that spawns it.
  reset_peak_resident_bytes();
  const int failure = ::posix_spawn(&child_, argv[0], &actions, nullptr, argv.data(), environ);
  check(failure == 0, "the program cannot be started");
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

RunningCommand::~RunningCommand() {
  if (child_ > 0) {
    send(SIGKILL);
    finish();
  }
}

bool RunningCommand::pump(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> streams{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  if ((out_ < 0 && err_ < 0) ||
      ::poll(streams.data(), 2, static_cast<int>(patience.count())) <= 0) {
    return false;
  }
  if (streams[0].revents != 0) {
    drain(out_, result_.out);
  }
  if (streams[1].revents != 0) {
    drain(err_, result_.err);
  }
  return true;
}

bool RunningCommand::wait_for_stderr(std::string_view text) {
  while (result_.err.find(text) == std::string::npos) {
    if (err_ < 0 || !pump()) {
      return false;
    }
  }
  return true;
}

void RunningCommand::send(int signal) {
  ::kill(child_, signal);
}

void RunningCommand::close_stdout() {
  ::close(out_);
  out_ = -1;
}

CommandResult RunningCommand::finish(std::chrono::milliseconds patience) {
  while (pump(patience)) {
  }
  if (out_ >= 0 || err_ >= 0) {
    send(SIGKILL);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child_, &status, 0, &usage);
  child_ = -1;
  for (const int descriptor : {out_, err_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  out_ = -1;
  err_ = -1;
  result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  result_.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return result_;
}

CommandResult run_program(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds patience) {
  return RunningCommand(arguments).finish(patience);
}

// A limit cannot be set between posix_spawn's fork and its exec, so a shell sets it.
CommandResult run_in_shell(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/bin/sh", "-c", script};
  const std::vector<std::string> program = program_with(arguments);
  words.insert(words.end(), program.begin(), program.end());
  return RunningCommand(RunningCommand::AnyProgram{}, std::move(words), nullptr).finish();
}

CommandResult run_program_within(std::uint64_t bytes, const std::vector<std::string>& arguments) {
  return run_in_shell("ulimit -v " + std::to_string(bytes / 1024) + " && exec \"$0\" \"$@\"",
                      arguments);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::size_t longest_line(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(text)) {
    longest = std::max(longest, line.size());
  }
  return longest;
}

}  // namespace mezzotint::testing
