// Runs the built program as a user would: its words, its two streams, its exit code, its memory.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint::testing {

struct CommandResult {
  int exit_code = 0;  // negative: killed by that signal, as after a crash or a timeout
  std::string out;
  std::string err;
  std::uint64_t peak_bytes = 0;  // high-water mark of its resident set
};

// How long a program may say nothing before a wait for it gives up.
inline constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(2);

// One child process. When finish() gives up, it kills the child.
class RunningCommand {
 public:
  // The program with `arguments`; its stdin is empty, its stderr goes to the file `err_path` if one
  // is given.
  explicit RunningCommand(const std::vector<std::string>& arguments,
                          const char* err_path = nullptr);
  struct AnyProgram {};
  // words[0] is the program's path.
  RunningCommand(AnyProgram tag, std::vector<std::string> words, const char* err_path);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  // True when stderr has `text`, false when the program ended without it.
  bool wait_for_stderr(std::string_view text);
  void send(int signal);
  // Closes our end of its stdout, as a reader does that has seen enough.
  void close_stdout();
  CommandResult finish(std::chrono::milliseconds patience = kPatience);

 private:
  bool pump(std::chrono::milliseconds patience = kPatience);

  pid_t child_ = -1;
  int out_ = -1;
  int err_ = -1;
  CommandResult result_;
};

CommandResult run_program(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds patience = kPatience);

// The same by way of a shell script in which `"$0" "$@"` is the program with its arguments.
CommandResult run_in_shell(const std::string& script, const std::vector<std::string>& arguments);

// The same where the address space ends at `bytes` (RLIMIT_AS).
CommandResult run_program_within(std::uint64_t bytes, const std::vector<std::string>& arguments);

// Lines without their line breaks.
std::vector<std::string> lines_of(std::string_view text);

// In bytes.
std::size_t longest_line(std::string_view text);

}  // namespace mezzotint::testing
