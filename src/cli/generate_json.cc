// One JSON object per line on stdout, each with "event".
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/generate_print.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_event(const Json& event) {
  print_to(stdout, "{}\n", event.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

std::vector<std::string> words_of(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

class JsonLines final : public GeneratePrinter {
 public:
  void on_volume(const BatchVolume& v) override {
    print_event({{"event", "volume"},
                 {"volume", v.index + 1},
                 {"volumes", v.count},
                 {"mask", v.mask.string()},
                 {"sample", v.sample},
                 {"out", v.out.string()}});
  }

  void on_overview(const GenerateOverview& o) override {
    print_event({{"event", "overview"},
                 {"model", o.model},
                 {"recipe", o.recipe},
                 {"parameters", o.parameters},
                 {"weights", o.weights},
                 {"modalities", o.modalities},
                 {"grid", o.grid},
                 {"mask", o.mask},
                 {"fit", o.fit},
                 {"output", o.output},
                 {"notes", o.notes},
                 {"sampler", o.sampler},
                 {"steps", o.steps},
                 {"precision", o.precision},
                 {"plan", o.plan},
                 {"isa", o.isa},
                 {"processor", o.processor},
                 {"threads", o.threads},
                 {"predicted_peak_bytes", o.predicted_peak_bytes},
                 {"predicted_step_seconds", o.predicted_step_seconds}});
  }

  void on_resumed(const GenerateResumed& r) override {
    print_event({{"event", "resumed"}, {"step", r.step}, {"steps", r.steps}});
  }

  void on_step(const GenerateProgress& p) override {
    print_event({{"event", "step"},
                 {"step", p.step},
                 {"steps", p.steps},
                 {"timestep", p.timestep},
                 {"seconds", p.step_seconds},
                 {"left_seconds", p.left_seconds}});
  }

  void on_result(const BatchResult& r) override {
    switch (r.outcome) {
      case BatchOutcome::kMade: print(r.report); break;
      case BatchOutcome::kThere: {
        Json event{{"event", "there"}};
        if (!r.note.empty()) {
          event["note"] = r.note;
        }
        print_event(event);
        break;
      }
      case BatchOutcome::kFailed:
        print_event({{"event", "error"}, {"message", r.error.message}});
        break;
    }
  }

  void print(const GenerateReport& r) override {
    Json event{{"event", "done"},
               {"volumes", words_of(r.volumes)},
               {"sidecar", r.sidecar.string()},
               {"load_seconds", r.load_seconds},
               {"sample_seconds", r.sample_seconds},
               {"total_seconds", r.total_seconds},
               {"predicted_peak_bytes", r.predicted_peak_bytes},
               {"peak_bytes", r.peak_bytes}};
    if (r.mask) {
      event["mask"] = r.mask->string();
    }
    if (r.preview) {
      event["preview"] = r.preview->string();
    }
    print_event(event);
  }

  void print(const BatchReport& r) override {
    Json failed = Json::array();
    for (const BatchResult& failure : r.failures) {
      failed.push_back({{"mask", failure.volume.mask.string()},
                        {"sample", failure.volume.sample},
                        {"message", failure.error.message}});
    }
    print_event({{"event", "batch"},
                 {"made", r.made},
                 {"there", r.there},
                 {"failed", failed},
                 {"total_seconds", r.total_seconds}});
  }

  int fail(const Error& error, int exit_code) override {
    print_event({{"event", "error"}, {"message", error.message}});
    cli::fail(error);
    return exit_code;
  }
};

}  // namespace

std::unique_ptr<GeneratePrinter> make_json_lines() {
  return std::make_unique<JsonLines>();
}

}  // namespace mezzotint::cli
