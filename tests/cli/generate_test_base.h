// What all tests of `mezzotint generate` share: a folder with a tiny model and a mask, flags that
// make a volume in a fraction of a second, and what a refusal must look like.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli_inputs.h"
#include "cli/cli_runner.h"

namespace mezzotint::testing {

class Flags {
 public:
  explicit Flags(std::string verb = "generate") : verb_(std::move(verb)) {}

  Flags& set(const std::string& flag, const std::string& value);
  Flags& set(const std::string& flag);  // one without a value
  Flags& erase(const std::string& flag);
  [[nodiscard]] const std::string& at(const std::string& flag) const;
  // verb --flag value ...
  [[nodiscard]] std::vector<std::string> words() const;

 private:
  std::string verb_;
  std::map<std::string, std::optional<std::string>> values_;
};

class GenerateTest : public ::testing::Test {
 protected:
  static constexpr Dims3 kDims{8, 10, 12};  // of the mask and the grid

  GenerateTest();

  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const {
    return folder_.path() / name;
  }
  // model.safetensors, mask.nii -> out.nii, 2 steps, one thread.
  [[nodiscard]] Flags usual() const;
  // `usual()` with one flag set.
  [[nodiscard]] Flags with(const std::string& flag, const std::string& value) const;
  static CommandResult run(const Flags& flags) { return run_program(flags.words()); }
  // Runs and returns the bytes of flags.at("--out").
  static std::string volume(const Flags& flags);

  // The exit code, one line on stderr with every one of `parts`, nothing on stdout, and not one
  // byte in the folder that was not there before. Returns the result for what else is to be seen.
  CommandResult expect_refused(const Flags& flags, const std::vector<std::string>& parts,
                               int exit_code = 1) const;

  // A calibration of two threads in cache/, so that no test waits for one.
  void keep_round_figures() const;

  TemporaryFolder folder_;
};

// "mezzotint: ..." and nothing else.
void expect_one_line(const std::string& err, const std::vector<std::string>& parts);

[[nodiscard]] std::filesystem::path demo_model();

}  // namespace mezzotint::testing
