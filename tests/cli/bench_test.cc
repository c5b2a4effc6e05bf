// mezzotint bench as a user runs it: what it prints and how it exits.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "formats/safetensors.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;  // stdout and stderr
};

// `words` go through the shell as they are.
Outcome bench(const std::string& words) {
  const std::string command = std::string(MEZZOTINT_PROGRAM) + " bench " + words + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    outcome.text.append(chunk.data(), count);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(BenchProgram, measures_a_problem) {
  const Outcome outcome = bench("--json --runs 3 --threads 1 --problem 'conv3d c4 k8 d5 h6 w7'");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const auto json = nlohmann::json::parse(outcome.text);
  EXPECT_EQ(json.at("problem"), "conv3d n1 c4 k8 d5 h6 w7 f3 s1 p1 fp32");
  EXPECT_EQ(json.at("checked"), true);
  EXPECT_EQ(json.at("runs"), 3);
  EXPECT_EQ(json.at("threads"), 1);
  EXPECT_GT(json.at("median_seconds"), 0.0);
  EXPECT_GE(json.at("spread"), 0.0);
  EXPECT_LE(json.at("max_error"), json.at("bound"));
  EXPECT_GT(json.at("peak_bytes"), 0);
  for (const char* key : {"implementation", "gflops", "isa", "processor"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(BenchProgram, measures_a_network) {
  const Outcome outcome = bench("--json --runs 1 --arch whole-head:32 --size 16");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const auto json = nlohmann::json::parse(outcome.text);
  EXPECT_EQ(json.at("checked"), true);
  EXPECT_EQ(json.at("same_bytes"), true);
  EXPECT_GT(json.at("median_seconds"), 0.0);
  EXPECT_EQ(json.at("spread"), 0.0);
  EXPECT_GT(json.at("peak_bytes"), 0);
  EXPECT_GT(json.at("predicted_peak_bytes"), 0);
  EXPECT_GT(json.at("ops").size(), 100U);
}

TEST(BenchProgram, explains_what_could_compute_an_op) {
  const Outcome outcome = bench("--explain --problem 'conv3d c4 k8 d5 h6 w7'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.text.find("\n  * "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("no: "), std::string::npos) << outcome.text;
}

// In both forms, each with what the convolutions beside it have against it.
TEST(BenchProgram, explains_what_stays_unfused) {
  const std::string words = "--explain --arch whole-head:32 --size 16";
  const Outcome outcome = bench(words);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.text.find("\nwhat stays unfused at each step, and why\n"), std::string::npos);
  const auto json = nlohmann::json::parse(bench(words + " --json").text);
  for (const auto& op : json.at("unfused")) {
    EXPECT_NE(outcome.text.find(op.at("op").get<std::string>() + " (" +
                                op.at("kind").get<std::string>() + ")"),
              std::string::npos);
    for (const auto& declined : op.at("declined")) {
      EXPECT_TRUE(declined.contains("refusal") ||
                  declined.at("fused_seconds") > declined.at("apart_seconds"));
    }
  }
}

TEST(BenchProgram, refuses_a_problem_above_the_limit) {
  const Outcome outcome = bench("--memory-limit 1MB --problem 'conv3d c4 k8 d5 h6 w7'");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("--memory-limit allows 1 MB"), std::string::npos) << outcome.text;
}

struct Slip {
  const char* words;
  int code;
  const char* message;
};

void PrintTo(const Slip& slip, std::ostream* out) {
  *out << "bench " << slip.words;
}

class BenchSlip : public ::testing::TestWithParam<Slip> {};

TEST_P(BenchSlip, ends_with_one_line) {
  const Outcome outcome = bench(GetParam().words);
  EXPECT_EQ(outcome.code, GetParam().code);
  EXPECT_EQ(outcome.text, std::string("mezzotint: ") + GetParam().message + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Words, BenchSlip,
    ::testing::Values(
        Slip{
            "", 2,
            "bench needs one of --problem, --model, --arch and --diff; see mezzotint bench --help"},
        Slip{
            "--problem 'silu c1 d1 h1 w1' --arch brats", 2,
            "bench needs one of --problem, --model, --arch and --diff; see mezzotint bench --help"},
        Slip{"--problem 'linear c1'", 1, "problem: linear needs k, as in `k64`"},
        Slip{"--arch brats --dump eps", 2, "--dump OP and --out FILE go together"},
        Slip{"--problem 'silu c1 d1 h1 w1' --dump eps --out x", 2,
             "--dump needs --model or --arch"},
        Slip{"--arch whole-head:32 --size 16 --dump out.2.weight --out absent/dump", 1,
             "dump: `out.2.weight` is not a result: name an op or a module, or all"},
        Slip{"--arch whole-head:32 --size 16 --dump x --out absent/dump", 1,
             "dump: `x` is not a result: name an op or a module, or all"},
        Slip{"--arch brats --implementation x", 2, "--implementation needs --problem"},
        Slip{"--arch brats --explain --memory-limit 1GB", 2,
             "--explain lists what would run without --memory-limit: leave that out"},
        Slip{"--arch brats --precision half", 1, "precision: `half` is not strict, fp32 or fast"},
        Slip{"--arch brats --size 4x4", 2,
             "--size: `4x4` is neither one side (64) nor three (64x48x32)"},
        Slip{"--arch whole-head:32 --size 20", 1,
             "grid 20 x 20 x 20 (D x H x W): each side must be a multiple of 16; use 16 x 16 x 16 "
             "or 32 x 32 x 32"}));

class BenchDiff : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("bench_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  void write(const std::string& name, const std::vector<std::pair<std::string, float>>& tensors) {
    std::vector<TensorToWrite> to_write;
    for (const auto& [key, value] : tensors) {
      to_write.push_back({key, DType::kF32, {1}, std::as_bytes(std::span(&value, 1))});
    }
    auto file = OutputFile::create(path(name), false, 0);
    ASSERT_TRUE(file);
    ASSERT_TRUE(write_safetensors(*file, to_write, {}));
    ASSERT_TRUE(file->commit());
  }

 private:
  fs::path folder_;
};

TEST_F(BenchDiff, of_two_equal_dumps_exits_with_0) {
  for (const char* name : {"a", "b"}) {
    const Outcome dump =
        bench("--arch whole-head:32 --size 16 --dump eps,input_blocks.1 --out " + path(name));
    ASSERT_EQ(dump.code, 0) << dump.text;
  }
  const Outcome outcome = bench("--tolerance 0 --diff " + path("a") + " " + path("b"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("no departure"), std::string::npos) << outcome.text;
  const Outcome again = bench("--arch whole-head:32 --size 16 --dump eps --out " + path("a"));
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.text.find("--overwrite"), std::string::npos) << again.text;
}

TEST_F(BenchDiff, a_dump_never_replaces_the_checkpoint) {
  const std::string model = path("model.pt");
  fs::copy_file(fs::path(MEZZOTINT_SOURCE_DIR) / "models" / "demo-brain32" / "model.pt", model);
  const auto size = fs::file_size(model);
  const Outcome outcome =
      bench("--overwrite --size 16 --dump eps --model " + model + " --out " + model);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.text,
            "mezzotint: " + model + ": is read and would be overwritten: choose another name\n");
  EXPECT_EQ(fs::file_size(model), size);
}

TEST_F(BenchDiff, names_the_first_op_that_departs_and_exits_with_1) {
  write("a", {{"first", 1.0F}, {"second", 2.0F}, {"third", 9.0F}});
  write("b", {{"first", 1.0F}, {"second", 2.1F}, {"third", 3.0F}});
  const Outcome outcome = bench("--diff " + path("a") + " " + path("b"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.text.find("first to depart: second: relative L2 0.0476, max error 0.1\n"), 0U)
      << outcome.text;
  const Outcome json = bench("--json --diff " + path("a") + " " + path("b"));
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(nlohmann::json::parse(json.text).at("first").at("name"), "second");
  EXPECT_EQ(bench("--tolerance 3 --diff " + path("a") + " " + path("b")).code, 0);
}

}  // namespace
}  // namespace mezzotint
