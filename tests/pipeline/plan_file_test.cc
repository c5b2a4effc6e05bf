#include "pipeline/plan_file.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "formats/ckpt_files.h"

namespace mezzotint::testing {
namespace {

PlanFile example() {
  PlanFile file;
  file.subject = {"model.pt", std::string(64, 'a'), {16, 24, 32}, Precision::kStrict, Isa::kAvx512};
  file.version = "0.1.0";
  file.backend = "cpu: oneDNN 3.0";
  file.plan.precision = Precision::kStrict;
  file.plan.layout = Layout::kRowMajor;
  file.plan.entries["eps"] = {"onednn.conv", Layout::kChannelsLast,
                              Fusions{Fusion::kNormalise, Fusion::kReorderOut}};
  file.plan.entries["a \"b\""] = {"", Layout::kRowMajor, Fusions{}};
  file.plan.entries["open"] = {};
  file.provenance = {"Some CPU", 2, 0.5, 0.25, std::nullopt, 1e-6, {"first", "second"}};
  return file;
}

Result<PlanFile> read(std::string_view text) {
  const TemporaryFile file(text);
  return read_plan(file.path());
}

// The example with one piece of its text replaced.
Result<PlanFile> read_with(std::string_view piece, std::string_view replacement) {
  std::string text = plan_json(example());
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return read(text.replace(at, piece.size(), replacement));
}

TEST(PlanFile, ReadsBackAsWritten) {
  const PlanFile written = example();
  const TemporaryFile file(plan_json(written));
  const auto read = read_plan(file.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->plan.entries, written.plan.entries);
  EXPECT_EQ(read->plan.layout, written.plan.layout);
  EXPECT_EQ(read->plan.precision, written.plan.precision);
  EXPECT_EQ(read->subject.model, written.subject.model);
  EXPECT_EQ(read->subject.grid, written.subject.grid);
  EXPECT_EQ(read->provenance.threads, 2);
  EXPECT_EQ(read->provenance.measured_seconds, 0.25);
  EXPECT_EQ(read->provenance.default_seconds, std::nullopt);
  EXPECT_EQ(read->provenance.notes, written.provenance.notes);
  EXPECT_EQ(read->name, file.path().filename().string());
  EXPECT_EQ(read->sha256.size(), 64u);
  EXPECT_EQ(plan_json(*read), plan_json(written));
}

// What is written is read again, whatever paths and names went into it.
TEST(PlanFile, CutsTextsForPeople) {
  PlanFile plan = example();
  plan.provenance.processor = std::string(1001, 'p');
  plan.provenance.notes = {std::string(1000, 'n'), "x" + std::string(600, '\xE9')};
  std::string umlauts;
  for (int i = 0; i < 501; ++i) {
    umlauts += "\u00FC";
  }
  plan.provenance.notes.push_back(umlauts);
  plan.provenance.notes.resize(1001);
  plan.provenance.relative_l2 = std::numeric_limits<double>::infinity();
  const auto again = read(plan_json(plan));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->provenance.processor, std::string(997, 'p') + "...");
  ASSERT_EQ(again->provenance.notes.size(), 1000u);
  EXPECT_EQ(again->provenance.notes[0], plan.provenance.notes[0]);
  EXPECT_EQ(again->provenance.notes[1].size(), 1000u);  // x and 332 replacement characters
  EXPECT_EQ(again->provenance.notes[2], umlauts.substr(0, 996) + "...");
  EXPECT_EQ(again->provenance.relative_l2, std::nullopt);
}

TEST(PlanFile, ProvenanceMayBeLeftOut) {
  std::string text = plan_json(example());
  text.erase(text.find(",\n  \"provenance\""));
  const auto plan = read(text + "}");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->provenance.notes.empty());
}

TEST(PlanFile, RefusesOtherFiles) {
  for (const char* text :
       {"", "[]", "{", "{}", R"({"kind": "mezzotint profile"})", "\x89PNG",
        R"({"a": {"kind": "mezzotint plan"}})", R"([{"kind": "mezzotint plan"}])"}) {
    expect_error(read(text), "is no mezzotint plan; make one with mezzotint tune");
  }
  const auto newer = read_with("\"schema\": 1", "\"schema\": 2");
  expect_error(newer, "is a mezzotint plan of schema 2, this version reads 1; make one with");
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  expect_error(read_with("\"schema\": 1", "\"schema\": \"x\""), "`schema`: expected a whole");
  expect_error(read_with("\"schema\": 1", "\"schema\": 1.0"), "`schema`: expected a whole");
  expect_error(read_with("\"schema\": 1,", ""), "`schema`: is missing");
  expect_error(read(plan_json(example()) + '\0'), "not JSON at byte ");
}

// What a reader passed over would not be obeyed.
TEST(PlanFile, RefusesWhatItDoesNotKnow) {
  expect_error(read_with("\"grid\"", "\"gird\""), "`grid`: is missing");
  expect_error(read_with("\"implementation\"", "\"kernel\""),
               "`ops.eps.kernel`: unknown key; known are implementation");
  expect_error(read_with("\"grid\"", "\"colour\": 1, \"grid\""), "`colour`: unknown key; known");
  expect_error(read_with("\"sha256\"", "\"md5\""), "`model.sha256`: is missing");
  expect_error(read_with("\"sha256\"", "\"md5\": \"\", \"sha256\""), "`model.md5`: unknown key");
  expect_error(read_with("\"threads\"", "\"date\""), "`provenance.threads`: is missing");
  expect_error(read_with("\"threads\"", "\"date\": 1, \"threads\""), "`provenance.date`: unknown");
  expect_error(read_with("\"open\"", "\"eps\""), "`eps` is there twice");
  expect_error(read_with("normalise", "normalize"),
               "`ops.eps.fuse`: expected a list of fusions, each once: concat, normalise,");
  expect_error(read_with("reorder-out", "normalise"), "each once");
  expect_error(read_with("channels-last", "nchw"),
               "`ops.eps.layout`: expected channels-last or channels-first");
  expect_error(read_with("\"strict\"", "\"fp8\""),
               "`precision`: expected strict, fp32 or fast, found `fp8`");
  expect_error(read_with("\"avx512\"", "\"sse\""), "`isa`: expected avx2, avx512 or amx");
}

TEST(PlanFile, RefusesValuesOfAnotherKind) {
  expect_error(read_with("\"onednn.conv\"", "3"), "`ops.eps.implementation`: expected a text");
  expect_error(read_with("\"0.1.0\"", "null"), "`version`: expected a text");
  expect_error(read_with("    24,", "    24.5,"), "`grid`: expected three whole numbers");
  expect_error(read_with("    24,", "    0,"),
               "`grid`: expected three whole numbers from 1 to 4096");
  expect_error(read_with("    24,", "    18446744073709551615,"),
               "`grid`: expected three whole numbers from 1 to");
  expect_error(read_with("    24,", ""), "`grid`: expected three whole numbers");
  expect_error(read_with("\"threads\": 2", "\"threads\": -1"),
               "`provenance.threads`: expected a whole number from 0 to");
  expect_error(read_with("0.25", "-0.25"),
               "`provenance.measured_seconds`: expected a number of 0 or more");
  expect_error(read_with("\"first\"", "1"), "`provenance.notes[0]`: expected a text");
  expect_error(read_with("\"open\": {}", "\"open\": []"), "`ops.open`: expected an object");
  expect_error(read_with(std::string(64, 'a'), "abc"),
               "`model.sha256`: expected 64 hexadecimal digits");
}

TEST(PlanFile, HasLimits) {
  expect_error(read_with("\"onednn.conv\"", '"' + std::string(1001, 'x') + '"'),
               "`ops.eps.implementation`: expected a text of at most 1000 bytes");
  std::string ops;
  for (int i = 0; i <= 10000; ++i) {
    ops += fmt::format("\"{}\": {{}}, ", i);
  }
  expect_error(read_with("\"open\": {}", ops + "\"open\": {}"),
               "`ops`: expected an object of at most 10000");
  expect_error(read(std::string((4 << 20) + 1, ' ')), "4194304");
}

// Who copies or frees such values level by level runs out of stack.
TEST(PlanFile, RefusesTheDeepestFile) {
  constexpr std::size_t kLevels = 2000000;
  const std::string nested = std::string(kLevels, '[') + std::string(kLevels, ']');
  expect_error(read("{\"kind\":" + nested + '}'),
               "is no mezzotint plan; make one with mezzotint tune");
  expect_error(read("{\"a\":" + nested + ",\"kind\":\"mezzotint plan\"}"), "nested deeper than 16");
  expect_error(read_with("\"schema\": 1", "\"schema\": " + nested), "nested deeper than 16");
}

// As many objects as fit into a file: in quadratic time this would not end.
TEST(PlanFile, RefusesTheDensestFile) {
  std::string ops;
  while (ops.size() < (4 << 20) - 4096) {
    ops += fmt::format("\"{}\":{{}},", ops.size());
  }
  expect_error(read_with("\"open\": {}", ops + "\"open\": {}"),
               "`ops`: expected an object of at most 10000");
}

// The line names what the plan is for, what was asked of it, and how to get another.
TEST(PlanFile, FitsOnlyWhatItIsFor) {
  PlanFile plan = example();
  plan.plan.source.file = "plans/my plan.json";
  PlanSubject right = plan.subject;
  right.words = "--model model.pt --weights model";
  EXPECT_TRUE(check_plan_fits(plan, right).ok());

  PlanSubject other = right;
  other.model = "renamed.pt";
  EXPECT_TRUE(check_plan_fits(plan, other).ok());
  other.model_sha256 = std::string(64, 'b');
  expect_error(
      check_plan_fits(plan, other),
      "plans/my plan.json: this plan is for model `model.pt` (SHA-256 aaaaaaaaaaaa...), here it is "
      "`renamed.pt` (SHA-256 bbbbbbbbbbbb...): make another with mezzotint tune "
      "--model model.pt --weights model --size 16x24x32 --precision strict --out "
      "'plans/new-my plan.json'");
  other = right;
  other.grid = {32, 24, 16};
  expect_error(check_plan_fits(plan, other), "for size 16x24x32, here it is 32x24x16: make");
  other = right;
  other.precision = Precision::kFp32;
  expect_error(check_plan_fits(plan, other), "for precision strict, here it is fp32: make");
  other = right;
  other.isa = Isa::kAvx2;
  expect_error(check_plan_fits(plan, other), "for instruction set avx512, here it is avx2: make");
}

// Before the model is open, its size is not known.
TEST(PlanFile, NamesTheCommandThatMakesAnother) {
  PlanSubject here;
  here.words = "--arch brats:32";
  here.precision = Precision::kFast;
  EXPECT_EQ(tune_command(here, "plan.json"),
            "mezzotint tune --arch brats:32 --precision fast --out new-plan.json");
  const TemporaryFile file("{}");
  expect_error(read_plan(file.path(), "mezzotint tune X"),
               "is no mezzotint plan; make one with mezzotint tune X");
}

TEST(PlanFile, ThatCannotBeObeyedIsNamedWithWhatToDo) {
  Plan plan;
  EXPECT_EQ(plan.refusal(ErrorCode::kInvalidInput, "op a cannot", "leave it out").message,
            "plan: op a cannot: leave it out");
  plan.source = {"p.json", "mezzotint tune X"};
  EXPECT_EQ(plan.refusal(ErrorCode::kInvalidInput, "op a cannot", "leave it out").message,
            "p.json: op a cannot: leave it out, or make another with mezzotint tune X");
  EXPECT_EQ(plan.refusal(ErrorCode::kUnsupported, "op a cannot").message,
            "p.json: op a cannot: make another with mezzotint tune X");
}

}  // namespace
}  // namespace mezzotint::testing
