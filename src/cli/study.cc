// mezzotint study: the published experiments on a model, on this machine.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/quote.h"
#include "cli/arguments.h"
#include "cli/calibrate.h"
#include "cli/columns.h"
#include "cli/print.h"
#include "cli/study_print.h"
#include "cli/verb.h"
#include "pipeline/machine.h"
#include "pipeline/study.h"
#include "report/study_json.h"

namespace mezzotint::cli {
namespace {

struct StudyArguments {
  std::string study;
  StudyRequest request;
  std::string size;
  std::string memory_limit;
  bool no_tune = false;
  int threads = 0;
  bool json = false;
};

int run_study(StudyArguments arguments, const CancelToken& cancel) {
  StudyRequest& request = arguments.request;
  if (arguments.study != "med-ddpm") {
    return usage_error(fmt::format("study: {} is not med-ddpm", in_quotes(arguments.study)));
  }
  if (request.subject.model.has_value() == !request.subject.arch.empty()) {
    return usage_error("study needs one of --model and --arch; see mezzotint study --help");
  }
  if (request.overwrite && !request.out) {
    return usage_error("--overwrite needs --out FOLDER");
  }
  request.tune = !arguments.no_tune;
  if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return usage_error(size.error().message);
    }
    request.subject.size = *size;
  }
  if (!arguments.memory_limit.empty()) {
    const auto limit = parse_bytes(arguments.memory_limit);
    if (!limit) {
      return usage_error(limit.error().message);
    }
    request.memory_limit = *limit;
  }
  const auto machine = this_machine(arguments.threads);
  if (!machine) {
    return fail(machine.error());
  }
  const auto backend = this_backend();
  std::size_t said = 0;
  const auto study = study_med_ddpm(
      request, *backend, *machine,
      [&] {
        auto cached =
            calibrate_machine(*backend, *machine,
                              {request.cache, false, request.force, request.memory_limit}, cancel);
        said = cached ? cached->notes.size() : 0;
        return cached;
      },
      [](std::string_view what) { print_to(stderr, "{}\n", what); }, &cancel);
  if (!study) {
    return fail(study.error());
  }
  if (arguments.json) {
    print_to(stdout, "{}", study_json(*study));
  } else {
    print_study(*study, said);
  }
  return kExitOk;
}

}  // namespace

Verb add_study(CLI::App& program) {
  auto arguments = std::make_shared<StudyArguments>();
  StudyArguments& a = *arguments;
  StudyRequest& r = a.request;
  CLI::App* app = program.add_subcommand(
      "study", "Repeat the published experiments: layouts, narrow operands, Winograd");
  app->footer(
      "Examples:\n"
      "  mezzotint study med-ddpm --model models/demo-brain32 --mask mask.nii.gz\n"
      "  mezzotint study med-ddpm --model models/demo-brain32 --out study/\n"
      "  mezzotint study med-ddpm --arch whole-head:64 --size 64 --no-tune");
  app->add_option("study", a.study, "med-ddpm")->required();
  app->add_option("--model", r.subject.model, "Checkpoint (.pt, .safetensors) or model folder");
  app->add_option("--arch", r.subject.arch,
                  "Published network with random weights: whole-head or brats, :base channels");
  app->add_option("--mask", r.mask, "NIfTI label mask: compares finished volumes, too");
  app->add_option("--size", a.size, "Grid: 64 or 128x128x96 [the recipe's]");
  app->add_option("--weights", r.subject.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", r.subject.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--plan", r.plan, "Plan of mezzotint tune, instead of tuning here");
  app->add_flag(
      "--no-tune", a.no_tune,
      "Leave the tuned variant out; tuning takes up to ten minutes, a second time seconds");
  app->add_option("--steps", r.steps, "Of the volumes' chains")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app->add_option("--rounds", r.rounds, "All variants in turn, so often")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--threads", a.threads, "0: all processors")->capture_default_str();
  app->add_option("--memory-limit", a.memory_limit, "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_option("--cache", r.cache, "Folder where calibration and timings are kept")
      ->type_name("FOLDER");
  app->add_flag("--force", r.force, "Accept measurements of a busy machine");
  app->add_option("--out", r.out, "Folder for study.json, report.html and each variant's profile")
      ->type_name("FOLDER");
  app->add_flag("--overwrite", r.overwrite, "Replace files of an earlier study in that folder");
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_study(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
