// mezzotint <verb>: parse, call the pipeline, print.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "mezzotint/version.h"
#include "pipeline/no_throw.h"

namespace mezzotint::cli {
namespace {

// Signal handlers reach nothing but globals.
CancelToken g_cancel;
volatile std::sig_atomic_t g_signal = 0;

extern "C" void on_signal(int number) {
  g_signal = number;
  g_cancel.request();
}

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction before {};
    // nohup has SIGHUP ignored, and so it stays.
    if (number != SIGHUP ||
        (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)) {
      sigaction(number, &action, nullptr);
    }
  }
  // A reader that went away must not kill the run half way: writes then fail and are reported.
  std::signal(SIGPIPE, SIG_IGN);
  // Nor a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

const Verb* verb_in_use(const std::vector<Verb>& verbs) {
  const auto used =
      std::find_if(verbs.begin(), verbs.end(), [](const Verb& verb) { return verb.app->parsed(); });
  return used == verbs.end() ? nullptr : &*used;
}

std::string help_command(const Verb* used) {
  return used != nullptr ? fmt::format("mezzotint {} --help", used->app->get_name())
                         : "mezzotint --help";
}

// CLI11 knows that something is unknown; this says what was probably meant.
std::string unknown_argument(const std::string& word, const Verb* used,
                             const std::vector<Verb>& verbs) {
  std::vector<std::string> known;
  if (used != nullptr) {
    known = option_names(*used->app);
  } else {
    for (const Verb& verb : verbs) {
      known.push_back(verb.app->get_name());
    }
  }
  const std::string near = nearest(word.substr(0, word.find('=')), known);
  return near.empty()
             ? fmt::format("unknown argument {}; see {}", in_quotes(word), help_command(used))
             : fmt::format("unknown argument {}; did you mean {}? See {}", in_quotes(word), near,
                           help_command(used));
}

// What is wrong with the words themselves, most telling first; empty: nothing. CLI11 would name a
// missing flag before an unknown one, which often is that flag misspelt, and takes -1 for the
// largest unsigned number.
std::string word_problem(const CLI::App& program, const std::vector<Verb>& verbs) {
  const Verb* used = verb_in_use(verbs);
  const std::vector<std::string> unknown = program.remaining(/*recurse=*/true);
  if (!unknown.empty()) {
    return unknown_argument(unknown.front(), used, verbs);
  }
  if (used == nullptr) {
    return "";
  }
  for (const CLI::Option* option : used->app->get_options()) {
    for (const std::string& word : option->results()) {
      const std::string expected = expected_number(option->get_type_name(), word);
      if (!expected.empty()) {
        return fmt::format("{}: {} is not {}; see {}", option->get_name(), in_quotes(word),
                           expected, help_command(used));
      }
      // "$UNSET". CLI11 would take it for a flag that is not there.
      if (word.empty()) {
        return fmt::format("{}: an empty word, expected a name or a value; see {}",
                           option->get_name(), help_command(used));
      }
    }
  }
  return "";
}

int run_verb(const Verb& verb) {
  install_signal_handlers();
  const Result<int> ran = no_throw([&]() -> Result<int> { return verb.run(g_cancel); });
  return ran ? *ran : fail(ran.error());
}

int run_words(int argc, const char* const* argv) {
  CLI::App program(
      "Generate 3D medical volumes with diffusion models, and see where the time goes.");
  program.name("mezzotint");
  program.set_version_flag("--version", std::string("mezzotint ") + kVersion);
  program.require_subcommand(0, 1);
  program.failure_message(CLI::FailureMessage::simple);
  const std::vector<Verb> verbs{add_generate(program), add_prepare(program), add_inspect(program),
                                add_bench(program),    add_profile(program), add_tune(program),
                                add_study(program),    add_compare(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const Verb* used = verb_in_use(verbs);
    print_to(stdout, "{}", used != nullptr ? used->app->help() : program.help());
    return kExitOk;
  } catch (const CLI::CallForVersion& version) {
    print_to(stdout, "{}\n", version.what());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    const std::string problem = word_problem(program, verbs);
    return usage_error(!problem.empty() ? problem
                                        : fmt::format("{}; see {}", error.what(),
                                                      help_command(verb_in_use(verbs))));
  }
  if (const std::string problem = word_problem(program, verbs); !problem.empty()) {
    return usage_error(problem);
  }
  if (const Verb* used = verb_in_use(verbs)) {
    return run_verb(*used);
  }
  print_to(stderr, "{}", program.help());
  return kExitUsage;
}

int main_with(int argc, const char* const* argv) {
  int code = run_words(argc, argv);
  if (code == kExitOk && !stdout_is_whole()) {
    code = fail(Error{ErrorCode::kResource, "standard output: not everything could be written"});
  }
  return g_signal != 0 && code != kExitOk ? 128 + static_cast<int>(g_signal) : code;
}

}  // namespace

int fail(const Error& error) {
  print_to(stderr, "mezzotint: {}\n", on_one_line(error.message));
  return kExitFailed;
}

int usage_error(const std::string& message) {
  fail({ErrorCode::kInvalidInput, message});
  return kExitUsage;
}

}  // namespace mezzotint::cli

// QEMU's user mode shows the emulated program under the first name and itself under the second.
// What it starts would run without it.
static bool is_emulated() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored) !=
         std::filesystem::read_symlink("/proc/thread-self/exe", ignored);
}

// Workers that spin while they wait are no faster here, and on a machine that others use as well
// they take the processor from those they wait for: the demo took 85 s instead of 5 s beside ten
// busy processes. OpenMP reads its policy before main() starts, so the program starts itself once
// more.
static void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && !is_emulated() &&
      setenv("OMP_WAIT_POLICY", "passive", 0) == 0) {
    execv("/proc/self/exe", argv);  // returns only on failure, and then the policy stays as it was
  }
}

// A standard stream that came closed would lend its number to the next file that is opened, and
// what is printed would end up in a volume. Nothing can be written to what is opened for reading,
// so that lost output is an error.
static void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      const int opened = open("/dev/null", stream == STDERR_FILENO ? O_RDWR : O_RDONLY);
      if (opened != stream) {
        std::_Exit(mezzotint::cli::kExitFailed);  // not even that: nothing could be said
      }
    }
  }
}

int main(int argc, char** argv) {
  open_standard_streams();
  wait_passively(argv);
  return mezzotint::cli::main_with(argc, argv);
}
