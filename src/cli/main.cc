// mezzotint <verb>: parse, call the pipeline, print.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/verb.h"
#include "mezzotint/version.h"

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
  for (const int number : {SIGINT, SIGTERM}) {
    sigaction(number, &action, nullptr);
  }
  // A reader that went away must not kill the run half way: writes then fail and are reported.
  std::signal(SIGPIPE, SIG_IGN);
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

int usage_error(const std::string& message) {
  fmt::print(stderr, "mezzotint: {}\n", message);
  return kExitUsage;
}

// CLI11 knows that something is unknown; this says what was probably meant.
int unknown_argument(const CLI::App& program, const std::vector<Verb>& verbs) {
  const std::vector<std::string> extra = program.remaining(/*recurse=*/true);
  const std::string word = extra.empty() ? "" : extra.front();
  const auto used =
      std::find_if(verbs.begin(), verbs.end(), [](const Verb& verb) { return verb.app->parsed(); });
  std::vector<std::string> known;
  if (used != verbs.end()) {
    known = option_names(*used->app);
  } else {
    for (const Verb& verb : verbs) {
      known.push_back(verb.app->get_name());
    }
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string near = nearest(name, known);
  const std::string help = used != verbs.end()
                               ? fmt::format("mezzotint {} --help", used->app->get_name())
                               : "mezzotint --help";
  return usage_error(near.empty()
                         ? fmt::format("unknown argument {}; see {}", in_quotes(word), help)
                         : fmt::format("unknown argument {}; did you mean {}? See {}",
                                       in_quotes(word), near, help));
}

int main_with(int argc, const char* const* argv) {
  CLI::App program(
      "Generate 3D medical volumes with diffusion models, and see where the time goes.");
  program.name("mezzotint");
  program.set_version_flag("--version", std::string("mezzotint ") + kVersion);
  program.require_subcommand(0, 1);
  program.failure_message(CLI::FailureMessage::simple);
  const std::vector<Verb> verbs{add_generate(program), add_bench(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto used = std::find_if(verbs.begin(), verbs.end(),
                                   [](const Verb& verb) { return verb.app->parsed(); });
    fmt::print("{}", used != verbs.end() ? used->app->help() : program.help());
    return kExitOk;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return kExitOk;
  } catch (const CLI::ExtrasError&) {
    return unknown_argument(program, verbs);
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  install_signal_handlers();
  for (const Verb& verb : verbs) {
    if (verb.app->parsed()) {
      const int code = verb.run(g_cancel);
      return g_signal != 0 && code != kExitOk ? 128 + static_cast<int>(g_signal) : code;
    }
  }
  fmt::print(stderr, "{}", program.help());
  return kExitUsage;
}

}  // namespace

int fail(const Error& error) {
  fmt::print(stderr, "mezzotint: {}\n", error.message);
  return kExitFailed;
}

}  // namespace mezzotint::cli

int main(int argc, char** argv) {
  return mezzotint::cli::main_with(argc, argv);
}
