// What a run tells: the screen, JSON lines, and the sidecar.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "cli/generate_test_base.h"
#include "mezzotint/version.h"

namespace mezzotint::testing {
namespace {

using Json = nlohmann::json;

class Report : public GenerateTest {
 protected:
  static std::vector<Json> events_of(const CommandResult& result) {
    std::vector<Json> events;
    for (const std::string& line : lines_of(result.out)) {
      events.push_back(Json::parse(line, nullptr, /*allow_exceptions=*/false));
      EXPECT_TRUE(events.back().is_object() && events.back().contains("event")) << line;
    }
    return events;
  }
};

TEST_F(Report, ScreenSaysItAllBeforeTheFirstStep) {
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string before = result.err.substr(0, result.err.find("step 1/2"));
  for (const char* part : {"whole-head", "M parameters", "brain", "tumour", "background", "8x10x12",
                           "dpmpp-2m, 2 of 50 timesteps, seed 0", "fp32 on ", "1 thread",
                           "predicted peak", "about "}) {
    EXPECT_NE(before.find(part), std::string::npos) << part << " is not in\n" << before;
  }
  EXPECT_NE(result.err.find("step 2/2  t = 0"), std::string::npos);
  EXPECT_EQ(result.err.find('\r'), std::string::npos) << "a bar where there is no terminal";
  EXPECT_EQ(result.out,
            in_folder("out.nii").string() + "\n" + in_folder("out.json").string() + "\n");
}

TEST_F(Report, TerminalsGetABar) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "no pseudo-terminal here";
  }
  RunningCommand command(usual().words(), ::ptsname(terminal));
  EXPECT_EQ(command.finish().exit_code, 0);
  std::string screen(1 << 16, '\0');
  const ssize_t count = ::read(terminal, screen.data(), screen.size());
  ::close(terminal);
  ASSERT_GT(count, 0);
  screen.resize(static_cast<std::size_t>(count));
  const std::string half = "\r[" + std::string(15, '#') + std::string(15, '.') + "] step 1/2";
  const std::string full = "\r[" + std::string(30, '#') + "] step 2/2";
  EXPECT_NE(screen.find(half), std::string::npos) << screen;
  EXPECT_NE(screen.find(full), std::string::npos) << screen;
}

TEST_F(Report, JsonLinesComeInOrder) {
  Flags flags = with("--preview", in_folder("out.png").string());
  flags.set("--json");
  const CommandResult result = run(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::vector<Json> events = events_of(result);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0]["event"], "overview");
  EXPECT_EQ(events[0]["recipe"], "whole-head");
  EXPECT_EQ(events[0]["grid"], Json({8, 10, 12}));
  EXPECT_EQ(events[0]["steps"], 2);
  for (int step = 1; step <= 2; ++step) {
    const Json& event = events[static_cast<std::size_t>(step)];
    EXPECT_EQ(event["event"], "step");
    EXPECT_EQ(event["step"], step);
    EXPECT_EQ(event["timestep"], step == 1 ? 49 : 0);
    EXPECT_GT(event["seconds"], 0.0);
  }
  EXPECT_EQ(events[3]["event"], "done");
  EXPECT_EQ(events[3]["volumes"], Json({in_folder("out.nii").string()}));
  EXPECT_EQ(events[3]["sidecar"], in_folder("out.json").string());
  EXPECT_EQ(events[3]["preview"], in_folder("out.png").string());
}

TEST_F(Report, JsonTellsFailuresToo) {
  const auto expect_event = [](const Flags& flags, int exit_code, const std::string& part) {
    const CommandResult result = run(flags);
    EXPECT_EQ(result.exit_code, exit_code);
    const std::vector<Json> events = events_of(result);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]["event"], "error");
    const std::string message = events[0]["message"];
    EXPECT_NE(message.find(part), std::string::npos) << message;
    expect_one_line(result.err, {part});
  };
  Flags flags = usual();
  flags.set("--json");
  flags.set("--steps", "0");
  expect_event(flags, 1, "0 steps: expected 1 to 50");
  flags.set("--size", "8x");
  expect_event(flags, 2, "--size: `8x`");
}

TEST_F(Report, SidecarHasWhatMakesTheSameBytesAgain) {
  Flags flags = with("--sampler", "ddim");
  flags.set("--eta", "0.25");
  flags.set("--seed", "18446744073709551615");
  const std::string bytes = volume(flags);
  const Json sidecar = Json::parse(read_text(in_folder("out.json")));
  EXPECT_EQ(sidecar["Synthetic"], true);
  EXPECT_EQ(sidecar["ForDiagnosis"], false);
  EXPECT_NE(sidecar["Description"].get<std::string>().find("Synthetic image"), std::string::npos);
  EXPECT_NE(sidecar["Description"].get<std::string>().find("Not for diagnosis"), std::string::npos);
  EXPECT_EQ(sidecar["GeneratedBy"][0], Json({{"Name", "Mezzotint"}, {"Version", kVersion}}));
  const auto hash_of = [&](const std::string& name) {
    const std::string content = read_text(in_folder(name));
    return sha256_hex(std::as_bytes(std::span(content)));
  };
  EXPECT_EQ(sidecar["Model"], Json({{"File", "model.safetensors"},
                                    {"Sha256", hash_of("model.safetensors")},
                                    {"Recipe", "whole-head"},
                                    {"Weights", "only"}}));
  EXPECT_EQ(sidecar["Mask"]["File"], "mask.nii");
  EXPECT_EQ(sidecar["Mask"]["Sha256"], hash_of("mask.nii"));
  EXPECT_EQ(sidecar["Grid"], Json({8, 10, 12}));
  EXPECT_EQ(sidecar["Frame"], "RAS+");
  EXPECT_EQ(sidecar["Sampler"], "ddim");
  EXPECT_EQ(sidecar["Eta"], 0.25);
  EXPECT_EQ(sidecar["TimestepSpacing"], "t");
  EXPECT_EQ(sidecar["Steps"], 2);
  EXPECT_EQ(sidecar["Timesteps"], Json({49, 0}));
  EXPECT_EQ(sidecar["ScheduleTimesteps"], 50);
  EXPECT_EQ(sidecar["Seed"], 18446744073709551615ULL);
  EXPECT_EQ(sidecar["Precision"], "fp32");
  EXPECT_EQ(sidecar["PlanSha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(sidecar["Sample"], 0);
  const auto written = std::as_bytes(std::span(bytes));
  EXPECT_EQ(sidecar["Volumes"],
            Json::array({{{"File", "out.nii"},
                          {"Modality", "t1"},
                          {"Sha256", sha256_hex(written)},
                          {"VoxelsSha256", sha256_hex(written.subspan(nifti1::kFirstVoxel))}}}));
  for (const char* key : {"LoadSeconds", "SampleSeconds", "PredictedPeakBytes", "PeakBytes"}) {
    EXPECT_GT(sidecar["Run"][key], 0) << key;
  }
}

}  // namespace
}  // namespace mezzotint::testing
