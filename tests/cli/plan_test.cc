// --plan: a plan is obeyed and named in the sidecar, or refused for what it is not made for.
#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <span>

#include "base/sha256.h"
#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

using Json = nlohmann::json;

// As docs/formats.md has it, without anything decided per op.
Json empty_plan(const std::string& sha256, const std::array<int, 3>& grid, const Json& isa) {
  return {{"kind", "mezzotint plan"},
          {"schema", 1},
          {"version", "0.1.0"},
          {"backend", "cpu"},
          {"model", {{"name", "model.safetensors"}, {"sha256", sha256}}},
          {"grid", grid},
          {"precision", "fp32"},
          {"isa", isa},
          {"layout", "channels-last"},
          {"ops", Json::object()}};
}

class GeneratePlan : public GenerateTest {
 protected:
  GeneratePlan() {
    default_bytes_ = volume(usual());
    sidecar_ = Json::parse(read_text(in_folder("out.json")));
    std::filesystem::remove(in_folder("out.nii"));
    std::filesystem::remove(in_folder("out.json"));
    plan_ = empty_plan(sidecar_.at("Model").at("Sha256"), {8, 10, 12}, sidecar_.at("Isa"));
  }
  Flags planned() const {
    write_text(in_folder("plan.json"), plan_.dump());
    return with("--plan", in_folder("plan.json").string());
  }

  std::string default_bytes_;
  Json sidecar_;  // of the default
  Json plan_;
};

TEST_F(GeneratePlan, IsNamedInTheSidecarAndOnTheScreen) {
  const CommandResult result = run(planned());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("plan.json"), std::string::npos) << result.err;
  EXPECT_TRUE(read_text(in_folder("out.nii")) == default_bytes_) << "an empty plan";
  const Json sidecar = Json::parse(read_text(in_folder("out.json")));
  EXPECT_EQ(sidecar.at("Plan").at("File"), "plan.json");
  const std::string text = plan_.dump();
  EXPECT_EQ(sidecar.at("Plan").at("Sha256"), sha256_hex(std::as_bytes(std::span(text))));
  EXPECT_EQ(sidecar.at("PlanSha256"), sidecar_.at("PlanSha256"));
  EXPECT_FALSE(sidecar_.contains("Plan"));
}

TEST_F(GeneratePlan, IsObeyed) {
  plan_["layout"] = "channels-first";
  const Flags flags = planned();
  const std::string bytes = volume(flags);
  EXPECT_FALSE(bytes == default_bytes_) << "moments are summed in another order";
  const Json sidecar = Json::parse(read_text(in_folder("out.json")));
  EXPECT_NE(sidecar.at("PlanSha256"), sidecar_.at("PlanSha256"));
  EXPECT_TRUE(volume(Flags(flags).set("--threads", "2").set("--overwrite")) == bytes);
}

TEST_F(GeneratePlan, ServesABatch) {
  Flags flags = planned().set("--samples", "2").set("--out", in_folder("volumes").string());
  const CommandResult result = run(flags);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(read_text(in_folder("volumes/mask_sample0.nii.gz")).size() > 100);
  EXPECT_EQ(Json::parse(read_text(in_folder("volumes/mask_sample1.json"))).at("Plan").at("File"),
            "plan.json");
}

TEST_F(GeneratePlan, IsRefusedForAnythingElse) {
  const std::string tune = "mezzotint tune --model " + in_folder("model.safetensors").string() +
                           " --size 8x10x12 --precision fp32 --out " +
                           in_folder("new-plan.json").string();
  const Json plan = plan_;
  const auto refuse = [&](const char* key, const Json& value,
                          const std::vector<std::string>& parts) {
    plan_ = plan;
    plan_[Json::json_pointer(key)] = value;
    expect_refused(planned(), parts);
  };
  refuse("/model/sha256", std::string(64, '0'),
         {"plan.json: this plan is for model ", "here it is `model.safetensors` (SHA-256 ", tune});
  refuse("/grid", {8, 10, 14}, {"is for size 8x10x14, here it is 8x10x12", tune});
  refuse("/precision", "strict", {"is for precision strict, here it is fp32", tune});
  refuse("/isa", sidecar_.at("Isa") == "amx" ? "avx2" : "amx",
         {"is for instruction set ", "here it is ", tune});
  const std::string make = "; make one with " + tune;
  refuse("/schema", 2, {"plan.json: is a mezzotint plan of schema 2, this version reads 1" + make});
  refuse("/kind", "profile", {"plan.json: is no mezzotint plan" + make});
  refuse("/ops/out.2", {{"kernel", "x"}}, {"`ops.out.2.kernel`: unknown key", make});
  refuse("/ops/nowhere", Json::object(),
         {"plan.json: the model has no op `nowhere`: make another with " + tune});
  refuse("/ops/out.2", {{"implementation", "x"}},
         {"plan.json: op out.2", "the plan asks for `x`", tune});
  refuse("/ops/out.2", {{"fuse", {"upsample"}}},
         {"plan.json: op out.2 cannot fuse upsample", tune});
  expect_refused(with("--plan", in_folder("none.json").string()), {"none.json"});
}

TEST_F(GeneratePlan, IsNotReplacedByWhatItHelpsToMake) {
  write_text(in_folder("out.json"), plan_.dump());
  expect_refused(with("--plan", in_folder("out.json").string()).set("--overwrite"),
                 {"out.json: is read and would be overwritten"});
}

TEST_F(GeneratePlan, IsNotReplacedByTheProfileOfIt) {
  std::filesystem::create_directory(in_folder("report"));
  const std::string plan = (in_folder("report") / "profile.json").string();
  write_text(plan, plan_.dump());
  expect_refused(Flags("profile")
                     .set("--model", in_folder("model.safetensors").string())
                     .set("--size", "8x10x12")
                     .set("--plan", plan)
                     .set("--out", in_folder("report").string())
                     .set("--overwrite"),
                 {"profile.json: is read and would be overwritten"});
}

// A state goes on with the plan that it began with.
TEST_F(GeneratePlan, AnotherPlanIsAnotherRun) {
  plan_["grid"] = {24, 24, 24};
  const Flags slow =
      planned().set("--size", "24").set("--steps", "8").set("--checkpoint-every", "0.000001");
  RunningCommand command(slow.words());
  ASSERT_TRUE(command.wait_for_stderr("step 3/8"));
  command.send(SIGKILL);
  ASSERT_EQ(command.finish().exit_code, -SIGKILL) << "it was over before it was killed";
  plan_["layout"] = "channels-first";
  planned();
  expect_refused(slow, {"out.part: holds step ", " of 8 of another run"});
  plan_["layout"] = "channels-last";
  planned();
  const CommandResult result = run(slow);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("going on after step "), std::string::npos) << result.err;
}

class BenchPlan : public GenerateTest {
 protected:
  BenchPlan() { write_text(in_folder("plan.json"), R"({"kind": "mezzotint plan"})"); }
};

TEST_F(BenchPlan, IsObeyedAndExplained) {
  const Flags bench = Flags("bench").set("--arch", "whole-head:32").set("--size", "16");
  const Json plain =
      Json::parse(run(Flags(bench).set("--runs", "1").set("--json").set("--no-check")).out);
  const std::string name = plain.at("model");
  Json plan = empty_plan(sha256_hex(std::as_bytes(std::span(name))), {16, 16, 16}, plain.at("isa"));
  plan["layout"] = "channels-first";
  write_text(in_folder("plan.json"), plan.dump());
  const Flags planned = Flags(bench).set("--plan", in_folder("plan.json").string());

  const CommandResult timed = run(Flags(planned).set("--runs", "1").set("--json"));
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  const Json report = Json::parse(timed.out);
  EXPECT_EQ(report.at("checked"), true);
  EXPECT_EQ(report.at("same_bytes"), true);
  const auto reorders = [](const Json& ops) {
    return std::ranges::count_if(
        ops, [](const Json& op) { return op.at("op").get<std::string>().ends_with(".row_major"); });
  };
  EXPECT_EQ(reorders(plain.at("ops")), 0);
  EXPECT_GT(reorders(report.at("ops")), 20);

  const CommandResult explained = run(Flags(planned).set("--explain").set("--json"));
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_EQ(reorders(Json::parse(explained.out).at("ops")), reorders(report.at("ops")));

  expect_refused(Flags(planned).set("--seed", "1"), {"plan.json: this plan is for model"});
}

TEST_F(BenchPlan, GoesWithANetwork) {
  const std::string plan = in_folder("plan.json").string();
  const std::string message = "--plan needs --model or --arch, and goes without --dump";
  expect_refused(Flags("bench").set("--problem", "silu").set("--plan", plan), {message}, 2);
  expect_refused(Flags("bench")
                     .set("--arch", "whole-head:32")
                     .set("--dump", "eps")
                     .set("--out", in_folder("dump.safetensors").string())
                     .set("--plan", plan),
                 {message}, 2);
}

}  // namespace
}  // namespace mezzotint::testing
