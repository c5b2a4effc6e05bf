// mezzotint generate: a volume from a mask.
#include "mezzotint/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
}

std::string duration(double seconds) {
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  const long whole = std::lround(seconds);
  if (whole < 3600) {
    return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

// The overview and progress for a person, on stderr: a bar on a terminal, lines elsewhere.
class ScreenObserver final : public GenerateObserver {
 public:
  void on_overview(const GenerateOverview& o) override {
    const auto line = [](const char* key, const std::string& value) {
      print_to(stderr, "  {:<10} {}\n", key, on_one_line(value));
    };
    print_to(stderr, "mezzotint generate\n");
    line("model", fmt::format("{}: {}, {:.2f} M parameters, {}", o.model, o.recipe,
                              static_cast<double>(o.parameters) / 1e6, o.weights));
    line("mask", o.mask);
    line("volume", fmt::format("{}x{}x{}: {}", o.grid[0], o.grid[1], o.grid[2], o.fit));
    if (o.modalities.size() > 1) {
      line("paints", fmt::format("{}", fmt::join(o.modalities, ", ")));
    }
    line("sampler", o.sampler);
    line("precision", fmt::format("{} on {} ({}), {} thread{}", o.precision, o.isa, o.processor,
                                  o.threads, o.threads == 1 ? "" : "s"));
    line("memory", fmt::format("{} predicted peak", gigabytes(o.predicted_peak_bytes)));
    line("time", fmt::format("about {} ({} x {})", duration(o.steps * o.predicted_step_seconds),
                             o.steps, duration(o.predicted_step_seconds)));
    for (const std::string& note : o.notes) {
      line("note", note);
    }
  }

  void on_resumed(const GenerateResumed& r) override {
    resumed_ = r.step;
    print_to(stderr, "going on after step {} of {}\n", r.step, r.steps);
  }

  void on_step(const GenerateProgress& p) override {
    const std::string numbers =
        fmt::format("step {}/{}  t = {}  {:.2f} s/step  {} left", p.step, p.steps, p.timestep,
                    p.elapsed_seconds / (p.step - resumed_), duration(p.left_seconds));
    if (!terminal_) {
      print_to(stderr, "{}\n", numbers);
      return;
    }
    constexpr int kWidth = 30;
    const int done = kWidth * p.step / p.steps;
    print_to(stderr, "\r[{}{}] {}\033[K{}", std::string(static_cast<std::size_t>(done), '#'),
             std::string(static_cast<std::size_t>(kWidth - done), '.'), numbers,
             p.step == p.steps ? "\n" : "");
    std::fflush(stderr);
    open_line_ = p.step != p.steps;
  }

  // Ends the bar's line before anything else is printed.
  void close() {
    if (open_line_) {
      print_to(stderr, "\n");
    }
    open_line_ = false;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool open_line_ = false;
  int resumed_ = 0;  // steps that an earlier run has done
};

void print_event(const nlohmann::ordered_json& event) {
  print_to(stdout, "{}\n",
           event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::fflush(stdout);
}

// One JSON object per line on stdout, each with "event".
class JsonObserver final : public GenerateObserver {
 public:
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
                 {"notes", o.notes},
                 {"sampler", o.sampler},
                 {"steps", o.steps},
                 {"precision", o.precision},
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
};

std::vector<std::string> words_of(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

void print_json_report(const GenerateReport& r) {
  nlohmann::ordered_json event{{"event", "done"},
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

void print_report(const GenerateReport& r) {
  for (const std::filesystem::path& volume : r.volumes) {
    print_to(stdout, "{}\n", volume.string());
  }
  if (r.mask) {
    print_to(stdout, "{}\n", r.mask->string());
  }
  print_to(stdout, "{}\n", r.sidecar.string());
  if (r.preview) {
    print_to(stdout, "{}\n", r.preview->string());
  }
  print_to(stderr, "done in {} (loading {}, sampling {}), peak memory {}\n",
           duration(r.total_seconds), duration(r.load_seconds), duration(r.sample_seconds),
           gigabytes(r.peak_bytes));
}

struct GenerateArguments {
  GenerateRequest request;
  std::string size;
  std::string memory_limit;
  std::string checkpoint_every = "5min";
  bool json = false;
};

// The words of the command line that the request holds as numbers.
Status read_words(GenerateArguments& arguments) {
  if (arguments.size == "mask") {
    arguments.request.size_of_mask = true;
  } else if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return size.error();
    }
    arguments.request.size = *size;
  }
  if (!arguments.memory_limit.empty()) {
    const auto limit = parse_bytes(arguments.memory_limit);
    if (!limit) {
      return limit.error();
    }
    arguments.request.memory_limit = *limit;
  }
  const auto seconds = parse_duration(arguments.checkpoint_every);
  if (!seconds) {
    return seconds.error();
  }
  arguments.request.checkpoint_seconds = *seconds;
  return {};
}

int fail_as_asked(const GenerateArguments& arguments, const Error& error, int code) {
  if (arguments.json) {
    print_event({{"event", "error"}, {"message", error.message}});
  }
  fail(error);
  return code;
}

int run_generate(GenerateArguments& arguments, const CancelToken& cancel) {
  if (Status status = read_words(arguments); !status) {
    return fail_as_asked(arguments, status.error(), kExitUsage);
  }
  ScreenObserver screen;
  JsonObserver json;
  GenerateObserver& observer = arguments.json ? static_cast<GenerateObserver&>(json) : screen;
  const auto report = generate(arguments.request, &observer, &cancel);
  screen.close();
  if (!report) {
    return fail_as_asked(arguments, report.error(), kExitFailed);
  }
  if (arguments.json) {
    print_json_report(*report);
  } else {
    print_report(*report);
  }
  return kExitOk;
}

}  // namespace

Verb add_generate(CLI::App& program) {
  auto arguments = std::make_shared<GenerateArguments>();
  GenerateRequest& r = arguments->request;
  CLI::App* app = program.add_subcommand("generate", "Make a volume from a label mask");
  app->footer(
      "Example:\n  mezzotint generate --model models/demo-brain32 --mask mask.nii.gz "
      "--out volume.nii.gz --preview volume.png");
  app->add_option("--model", r.model, "Checkpoint (.pt, .safetensors) or model folder")->required();
  app->add_option("--mask", r.mask, "NIfTI label mask")->required();
  app->add_option("--label-map", r.label_map,
                  "What the mask's values mean: \"1=brain,2=tumour\" [the model's labels]")
      ->type_name("MAP");
  app->add_option("--out", r.out, "Volume to write: .nii or .nii.gz; a .json goes beside it")
      ->required();
  app->add_option("--preview", r.preview, "Picture to write: .png");
  app->add_option("--sampler", r.sampler, "dpmpp-2m, ddim or ddpm")->capture_default_str();
  app->add_option("--steps", r.steps, "Sampler steps [25; ddpm: the whole schedule]");
  app->add_option("--eta", r.eta, "Noise of ddim: 0 (none) to 1")->capture_default_str();
  app->add_option("--spacing", r.timestep_spacing, "Timesteps even in t or logsnr")
      ->capture_default_str();
  app->add_option("--timesteps", r.timesteps, "Length of the noise schedule [the checkpoint's]");
  app->add_option("--seed", r.seed, "Seed of the noise")->capture_default_str();
  app->add_option("--noise", r.noise, "Safetensors file to take the noise from instead");
  app->add_option("--precision", r.precision, "strict or fp32")->capture_default_str();
  app->add_option("--weights", r.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", r.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--size", arguments->size,
                  "Grid of the model: 128, 128x128x96 or mask, its own [the recipe's, else mask]");
  app->add_option("--resize", r.resize,
                  "How the mask comes to that grid: auto, pad, resample or reference")
      ->capture_default_str();
  app->add_flag("--as-stored", r.as_stored, "Keep the axes of the mask's file");
  app->add_option("--threads", r.threads, "0: all processors")->capture_default_str();
  app->add_option("--memory-limit", arguments->memory_limit, "Refuse above this: 3.8GB, 4GiB");
  app->add_option(
         "--checkpoint-every", arguments->checkpoint_every,
         "Save the state this often, to go on after an interruption: 90s, 5min, 1h; 0 never")
      ->capture_default_str();
  app->add_flag("--overwrite", r.overwrite, "Replace existing files");
  app->add_flag("--json", arguments->json, "One JSON object per line on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_generate(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
