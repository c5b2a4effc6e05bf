// mezzotint tune: the fastest plan on this machine within the precision's bounds.
#include <memory>

#include "cli/arguments.h"
#include "cli/print.h"
#include "cli/tune_print.h"
#include "cli/verb.h"
#include "pipeline/machine.h"

namespace mezzotint::cli {
namespace {

struct TuneArguments {
  TuneRequest request;
  std::string size;
  std::string precision = "fp32";
  std::string max_seconds = "600";
  std::string memory_limit;
  int threads = 0;
  bool json = false;
};

int run_tune(const TuneArguments& arguments, const CancelToken& cancel) {
  TuneRequest request = arguments.request;
  if (request.subject.model.has_value() == !request.subject.arch.empty()) {
    return usage_error("tune needs one of --model and --arch; see mezzotint tune --help");
  }
  if (request.out.empty()) {
    return usage_error("tune needs --out, the file for the plan; see mezzotint tune --help");
  }
  const auto precision = precision_from_name(arguments.precision);
  if (!precision) {
    return fail(precision.error());
  }
  request.precision = *precision;
  if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return usage_error(size.error().message);
    }
    request.subject.size = *size;
  }
  const auto seconds = parse_duration(arguments.max_seconds, "--max-seconds");
  if (!seconds) {
    return usage_error(seconds.error().message);
  }
  request.max_seconds = *seconds;
  if (!arguments.memory_limit.empty()) {
    const auto limit = parse_bytes(arguments.memory_limit);
    if (!limit) {
      return usage_error(limit.error().message);
    }
    request.memory_limit = *limit;
  }
  auto machine = this_machine(arguments.threads);
  if (!machine) {
    return fail(machine.error());
  }
  TuneScreen screen;
  request.on_note = [&](const std::string& note) {
    screen.close();
    print_to(stderr, "note: {}\n", on_one_line(note));
  };
  const auto tuned = tune_model(
      request, *this_backend(), *machine,
      [&](const TuneProgress& progress) { screen.show(progress); }, &cancel);
  screen.close();
  if (!tuned) {
    return fail(tuned.error());
  }
  (arguments.json ? print_tune_json : print_tune)(tuned->report, *machine);
  return kExitOk;
}

}  // namespace

Verb add_tune(CLI::App& program) {
  auto arguments = std::make_shared<TuneArguments>();
  TuneArguments& a = *arguments;
  TuneRequest& r = a.request;
  CLI::App* app = program.add_subcommand("tune", "Find the fastest plan for a network here");
  app->footer(
      "Examples:\n"
      "  mezzotint tune --model models/demo-brain32 --out plan.json\n"
      "  mezzotint tune --arch whole-head:64 --size 64 --out plan.json\n"
      "  mezzotint generate --plan plan.json ...");
  app->add_option("--model", r.subject.model, "Checkpoint (.pt, .safetensors) or model folder");
  app->add_option("--arch", r.subject.arch,
                  "Published network with random weights: whole-head or brats, :base channels");
  app->add_option("--size", a.size, "Grid: 64 or 128x128x96 [the recipe's]");
  app->add_option("--precision", a.precision, "What the plan may use: strict, fp32 or fast")
      ->capture_default_str();
  app->add_option("--out", r.out, "File for the plan (JSON)");
  app->add_flag("--overwrite", r.overwrite, "Replace an existing file");
  app->add_option("--mask", r.mask, "Mask to check the plan on [the first of the model's masks]");
  app->add_option("--weights", r.subject.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", r.subject.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--seed", r.subject.seed, "Seed of random weights")->capture_default_str();
  app->add_option("--threads", a.threads, "0: all processors")->capture_default_str();
  app->add_option("--cache", r.cache, "Folder for timings [~/.cache/mezzotint]");
  app->add_option(
         "--max-seconds", a.max_seconds,
         "Time for all of it; a plan that is not checked by then is not written: 600, 10min")
      ->capture_default_str();
  app->add_option("--memory-limit", a.memory_limit, "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_flag("--force", r.force, "Use and keep timings of a busy machine");
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_tune(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
