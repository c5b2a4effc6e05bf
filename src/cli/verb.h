// What a verb of the command line is made of.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // bad input, or work that failed
inline constexpr int kExitUsage = 2;

// Runs after parsing; returns the exit code. Errors have been printed.
using Run = std::function<int(const CancelToken& cancel)>;

struct Verb {
  CLI::App* app = nullptr;
  Run run;
};

Verb add_generate(CLI::App& program);
Verb add_inspect(CLI::App& program);
Verb add_bench(CLI::App& program);
Verb add_prepare(CLI::App& program);
Verb add_profile(CLI::App& program);
Verb add_study(CLI::App& program);
Verb add_compare(CLI::App& program);
Verb add_tune(CLI::App& program);

// One line on stderr, "mezzotint: ...", and the exit code for it.
int fail(const Error& error);
// The same for words that make no sense together or at all.
int usage_error(const std::string& message);

}  // namespace mezzotint::cli
