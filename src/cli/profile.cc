// mezzotint profile: where does the time of an evaluation go, and what would help?
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/print.h"
#include "cli/profile_print.h"
#include "cli/verb.h"
#include "pipeline/machine.h"
#include "pipeline/profile_model.h"

namespace mezzotint::cli {
namespace {

struct ProfileArguments {
  SubjectRequest subject;
  std::string precision = "fp32";
  std::string size;
  std::string memory_limit;
  int threads = 0;
  int steps = 0;
  bool force = false;
};

// The words that name the same network at the same size, for a shell.
std::string words_of(const ProfileArguments& arguments) {
  const SubjectRequest& subject = arguments.subject;
  std::string words = subject.model ? "--model " + shell_word(subject.model->string())
                                    : "--arch " + shell_word(subject.arch);
  if (!arguments.size.empty()) {
    words += " --size " + arguments.size;
  }
  if (subject.weights != SubjectRequest().weights) {
    words += " --weights " + shell_word(subject.weights);
  }
  return words;
}

int run_profile(const ProfileArguments& arguments, const CancelToken& cancel) {
  if (arguments.subject.model.has_value() == !arguments.subject.arch.empty()) {
    return usage_error("profile needs one of --model and --arch; see mezzotint profile --help");
  }
  const auto precision = precision_from_name(arguments.precision);
  if (!precision) {
    return fail(precision.error());
  }
  SubjectRequest request = arguments.subject;
  if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return usage_error(size.error().message);
    }
    request.size = *size;
  }
  ProfileOptions options;
  options.plan.precision = *precision;
  options.force = arguments.force;
  options.words = words_of(arguments);
  if (!arguments.memory_limit.empty()) {
    const auto limit = parse_bytes(arguments.memory_limit);
    if (!limit) {
      return usage_error(limit.error().message);
    }
    options.memory_limit = *limit;
  }
  if (arguments.steps > 0) {
    options.timing = {1, arguments.steps, arguments.steps, 0, 0};
  }
  const auto machine = this_machine(arguments.threads);
  if (!machine) {
    return fail(machine.error());
  }
  auto subject = Subject::open(request);
  if (!subject) {
    return fail(subject.error());
  }
  print_to(stderr, "{}",
           wrap(fmt::format("measuring {} at {}", on_one_line(subject->name()),
                            grid_text(subject->grid())),
                0));
  Calibration calibration;
  calibration.processor = machine->processor;
  calibration.isa = name_of(machine->isa);
  calibration.threads = machine->threads;
  const auto profile =
      profile_model(*subject, *this_backend(), *machine, calibration, options, &cancel);
  if (!profile) {
    return fail(profile.error());
  }
  print_profile(*profile);
  return kExitOk;
}

}  // namespace

Verb add_profile(CLI::App& program) {
  auto arguments = std::make_shared<ProfileArguments>();
  ProfileArguments& a = *arguments;
  CLI::App* app =
      program.add_subcommand("profile", "See where the time of an evaluation goes, and why");
  app->footer(
      "Examples:\n"
      "  mezzotint profile --model models/demo-brain32\n"
      "  mezzotint profile --arch whole-head:64 --size 64");
  app->add_option("--model", a.subject.model, "Checkpoint (.pt, .safetensors) or model folder");
  app->add_option("--arch", a.subject.arch,
                  "Published network with random weights: whole-head or brats, :base channels");
  app->add_option("--size", a.size, "Grid: 64 or 128x128x96 [the recipe's]");
  app->add_option("--timestep", a.subject.timestep, "Timestep of the evaluation [the middle]");
  app->add_option("--weights", a.subject.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", a.subject.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--precision", a.precision, "strict, fp32 or fast")->capture_default_str();
  app->add_option("--threads", a.threads, "0: all processors")->capture_default_str();
  app->add_option("--steps", a.steps, "Evaluations to listen to [5 to 15, by their time]")
      ->check(CLI::Range(1, 1'000'000));
  app->add_option("--memory-limit", a.memory_limit, "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_flag("--force", a.force, "Accept measurements of a busy machine");
  return {app, [arguments](const CancelToken& cancel) { return run_profile(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
