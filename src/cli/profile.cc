// mezzotint profile: where does the time of an evaluation go, and what would help?
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "cli/arguments.h"
#include "cli/calibrate.h"
#include "cli/columns.h"
#include "cli/print.h"
#include "cli/profile_print.h"
#include "cli/verb.h"
#include "pipeline/machine.h"
#include "pipeline/plan_file.h"
#include "pipeline/profile_files.h"
#include "pipeline/profile_model.h"
#include "report/profile_json.h"

namespace mezzotint::cli {
namespace {

struct ProfileArguments {
  SubjectRequest subject;
  std::string precision = "fp32";
  std::string size;
  std::string memory_limit;
  int threads = 0;
  int steps = 0;
  std::optional<std::filesystem::path> plan;
  std::filesystem::path cache;
  bool recalibrate = false;
  bool force = false;
  bool json = false;
  std::optional<std::filesystem::path> out;
  bool overwrite = false;
};

// The words that name the same network at the same size, for a shell.
std::string words_of(const ProfileArguments& arguments) {
  std::string words = network_words(arguments.subject);
  if (!arguments.size.empty()) {
    words += " --size " + arguments.size;
  }
  return words;
}

// What the arguments say once their words are understood.
struct Job {
  const ProfileArguments& arguments;
  const CancelToken& cancel;
  ProfileOptions options;
  Machine machine;
  std::unique_ptr<Backend> backend;
};

// The first `said` warnings are on stderr already.
int print_results(const Job& job, const Profile& profile, std::size_t said,
                  std::optional<ProfileFiles>& files) {
  if (files) {
    if (Status status = files->write(profile); !status) {
      return fail(status.error());
    }
  }
  if (job.arguments.json) {
    print_to(stdout, "{}", profile_json(profile));
    return kExitOk;
  }
  print_profile(profile);
  for (std::size_t i = said; i < profile.warnings.size(); ++i) {
    print_to(stderr, "{}", wrap(on_one_line("warning: " + profile.warnings[i]), 0));
  }
  if (files) {
    print_to(stdout, "\n");
    for (const std::filesystem::path& path : files->paths()) {
      print_to(stdout, "{}\n", on_one_line(path.string()));
    }
  }
  return kExitOk;
}

int run_job(Job& job, const SubjectRequest& request) {
  auto subject = Subject::open(request);
  if (!subject) {
    return fail(subject.error());
  }
  if (job.arguments.plan) {
    auto plan = plan_for(*job.arguments.plan,
                         subject->plan_subject(job.options.plan.precision, job.machine.isa));
    if (!plan) {
      return fail(plan.error());
    }
    job.options.plan = std::move(plan->plan);
    job.options.plan_name = std::move(plan->name);
  }
  std::optional<ProfileFiles> files;
  if (job.arguments.out) {
    std::vector<std::filesystem::path> inputs = subject->files();
    if (job.arguments.plan) {
      inputs.push_back(*job.arguments.plan);
    }
    auto created = ProfileFiles::create(*job.arguments.out, job.arguments.overwrite, inputs);
    if (!created) {
      return fail(created.error());
    }
    files = std::move(*created);
  }
  job.options.announce = [&](std::uint64_t predicted_bytes) {
    print_to(
        stderr, "{}",
        wrap(fmt::format("measuring {} at {}, {} of memory predicted", on_one_line(subject->name()),
                         grid_text(subject->grid()), format_bytes(predicted_bytes)),
             0));
  };
  std::size_t said = 0;
  const auto calibrate = [&] {
    auto cached = calibrate_machine(*job.backend, job.machine,
                                    {job.arguments.cache, job.arguments.recalibrate,
                                     job.options.force, job.options.memory_limit},
                                    job.cancel);
    said = cached ? cached->notes.size() : 0;
    return cached;
  };
  auto profile =
      profile_model(*subject, *job.backend, job.machine, calibrate, job.options, &job.cancel);
  if (!profile) {
    return fail(profile.error());
  }
  return print_results(job, *profile, said, files);
}

int run_profile(const ProfileArguments& arguments, const CancelToken& cancel) {
  if (arguments.subject.model.has_value() == !arguments.subject.arch.empty()) {
    return usage_error("profile needs one of --model and --arch; see mezzotint profile --help");
  }
  if (arguments.overwrite && !arguments.out) {
    return usage_error("--overwrite needs --out FOLDER");
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
  auto machine = this_machine(arguments.threads);
  if (!machine) {
    return fail(machine.error());
  }
  Job job{arguments, cancel, std::move(options), std::move(*machine), this_backend()};
  return run_job(job, request);
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
      "  mezzotint profile --model models/demo-brain32 --out report/\n"
      "  mezzotint profile --arch whole-head:64 --size 64 --json");
  app->add_option("--model", a.subject.model, "Checkpoint (.pt, .safetensors) or model folder");
  app->add_option("--arch", a.subject.arch,
                  "Published network with random weights: whole-head or brats, :base channels");
  app->add_option("--size", a.size, "Grid: 64 or 128x128x96 [the recipe's]");
  app->add_option("--timestep", a.subject.timestep, "Timestep of the evaluation [the middle]");
  app->add_option("--weights", a.subject.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", a.subject.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--precision", a.precision, "strict, fp32 or fast")->capture_default_str();
  app->add_option("--plan", a.plan, "Plan of mezzotint tune for this model, size and machine");
  app->add_option("--threads", a.threads, "0: all processors")->capture_default_str();
  app->add_option("--steps", a.steps, "Evaluations to listen to [5 to 15, by their time]")
      ->check(CLI::Range(1, 1'000'000));
  app->add_option("--memory-limit", a.memory_limit, "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_option("--cache", a.cache, "Folder where the machine's calibration is kept")
      ->type_name("FOLDER");
  app->add_flag("--recalibrate", a.recalibrate, "Measure anew what the machine attains");
  app->add_flag("--force", a.force, "Accept measurements of a busy machine");
  app->add_option("--out", a.out, "Folder for profile.json, trace.json and report.html")
      ->type_name("FOLDER");
  app->add_flag("--overwrite", a.overwrite, "Replace files of an earlier profile in that folder");
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_profile(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
