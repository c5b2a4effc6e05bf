// mezzotint bench: how fast is this op or network here, and is it right?
#include <memory>
#include <utility>

#include "cli/arguments.h"
#include "cli/bench_print.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "pipeline/machine.h"

namespace mezzotint::cli {
namespace {

struct BenchArguments {
  std::string problem;
  SubjectRequest subject;
  std::vector<std::filesystem::path> diff;

  std::string implementation;
  std::string precision = "fp32";
  std::optional<std::filesystem::path> plan;
  std::string size;
  std::string memory_limit;
  int threads = 0;
  int runs = 0;
  bool no_check = false;
  bool explain = false;
  bool json = false;

  std::vector<std::string> dump;
  std::filesystem::path out;
  bool overwrite = false;
  double tolerance = kDumpTolerance;
};

// What the arguments say once their words are understood.
struct Job {
  const BenchArguments& arguments;
  const CancelToken& cancel;
  Precision precision = Precision::kFp32;
  TimingOptions timing;
  std::optional<std::uint64_t> memory_limit;
  Machine machine;
  std::unique_ptr<Backend> backend;
};

int run_problem(const Job& job) {
  const auto problem = parse_problem(job.arguments.problem);
  if (!problem) {
    return fail(problem.error());
  }
  const ProblemOptions options{job.precision, job.arguments.implementation, job.timing,
                               job.memory_limit};
  if (job.arguments.explain) {
    const auto explanation = explain_problem(*problem, *job.backend, job.machine, options);
    if (!explanation) {
      return fail(explanation.error());
    }
    (job.arguments.json ? print_explanation_json : print_explanation)(*explanation);
    return kExitOk;
  }
  const auto report = bench_problem(*problem, *job.backend, job.machine, options, &job.cancel);
  if (!report) {
    return fail(report.error());
  }
  (job.arguments.json ? print_problem_json : print_problem)(*report, job.machine);
  if (!report->verdict.ok()) {
    return fail({ErrorCode::kNumerics, "wrong result: " + report->verdict.describe()});
  }
  return kExitOk;
}

int run_dump(const Job& job, Subject& subject) {
  const DumpOptions options{job.arguments.dump, job.precision, job.arguments.overwrite,
                            job.memory_limit};
  if (Status status = dump_activations(subject, *job.backend, job.machine, options,
                                       job.arguments.out, &job.cancel);
      !status) {
    return fail(status.error());
  }
  print_to(stdout, "{}\n", job.arguments.out.string());
  return kExitOk;
}

int run_model(const Job& job, const SubjectRequest& request) {
  auto subject = Subject::open(request);
  if (!subject) {
    return fail(subject.error());
  }
  Plan plan{job.precision};
  if (job.arguments.plan) {
    auto file =
        plan_for(*job.arguments.plan, subject->plan_subject(job.precision, job.machine.isa));
    if (!file) {
      return fail(file.error());
    }
    plan = std::move(file->plan);
  }
  if (job.arguments.explain) {
    const auto explanation = explain_model(*subject, *job.backend, job.machine, plan);
    if (!explanation) {
      return fail(explanation.error());
    }
    (job.arguments.json ? print_explanation_json : print_explanation)(*explanation);
    return kExitOk;
  }
  if (!job.arguments.dump.empty()) {
    return run_dump(job, *subject);
  }
  const ModelOptions options{plan, !job.arguments.no_check, job.timing, job.memory_limit};
  const auto report = bench_model(*subject, *job.backend, job.machine, options, &job.cancel);
  if (!report) {
    return fail(report.error());
  }
  if (job.arguments.json) {
    print_model_json(*report, job.machine, job.precision);
  } else {
    print_model(*report, job.machine);
  }
  if (!report->same_bytes) {
    return fail({ErrorCode::kNumerics,
                 "wrong result: the same program without in-place results predicts other bytes"});
  }
  if (!report->ok()) {
    return fail({ErrorCode::kNumerics, "wrong result: " + report->worst()->describe()});
  }
  return kExitOk;
}

int run_diff(const BenchArguments& arguments) {
  const auto difference = diff_dumps(arguments.diff[0], arguments.diff[1], arguments.tolerance);
  if (!difference) {
    return fail(difference.error());
  }
  (arguments.json ? print_diff_json : print_diff)(*difference);
  return difference->first() == nullptr ? kExitOk : kExitFailed;
}

int run_bench(const BenchArguments& arguments, const CancelToken& cancel) {
  const int jobs = (arguments.problem.empty() ? 0 : 1) + (arguments.subject.model ? 1 : 0) +
                   (arguments.subject.arch.empty() ? 0 : 1) + (arguments.diff.empty() ? 0 : 1);
  if (jobs != 1) {
    return usage_error(
        "bench needs one of --problem, --model, --arch and --diff; see mezzotint bench "
        "--help");
  }
  if (!arguments.diff.empty()) {
    return run_diff(arguments);
  }
  if (arguments.dump.empty() != arguments.out.empty()) {
    return usage_error("--dump OP and --out FILE go together");
  }
  if (!arguments.problem.empty() && !arguments.dump.empty()) {
    return usage_error("--dump needs --model or --arch");
  }
  if (arguments.problem.empty() && !arguments.implementation.empty()) {
    return usage_error("--implementation needs --problem");
  }
  if (arguments.plan && (!arguments.problem.empty() || !arguments.dump.empty())) {
    return usage_error("--plan needs --model or --arch, and goes without --dump");
  }
  if (arguments.explain && !arguments.memory_limit.empty()) {
    return usage_error("--explain lists what would run without --memory-limit: leave that out");
  }
  const auto precision = precision_from_name(arguments.precision);
  if (!precision) {
    return fail(precision.error());
  }
  SubjectRequest subject = arguments.subject;
  if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return usage_error(size.error().message);
    }
    subject.size = *size;
  }
  auto machine = this_machine(arguments.threads);
  if (!machine) {
    return fail(machine.error());
  }
  Job job{arguments, cancel, *precision, {}, std::nullopt, std::move(*machine), this_backend()};
  if (!arguments.memory_limit.empty()) {
    const auto limit = parse_bytes(arguments.memory_limit);
    if (!limit) {
      return usage_error(limit.error().message);
    }
    job.memory_limit = *limit;
  }
  if (arguments.runs > 0) {
    job.timing = {1, arguments.runs, arguments.runs, 0, 0};
  }
  return arguments.problem.empty() ? run_model(job, subject) : run_problem(job);
}

}  // namespace

Verb add_bench(CLI::App& program) {
  auto arguments = std::make_shared<BenchArguments>();
  BenchArguments& a = *arguments;
  CLI::App* app =
      program.add_subcommand("bench", "Check and time one op, or one evaluation of a network");
  app->footer(
      "Examples:\n"
      "  mezzotint bench --problem \"conv3d n1 c64 k64 d32 h32 w32 f3 s1 p1 fp32\"\n"
      "  mezzotint bench --model models/demo-brain32 --size 64\n"
      "  mezzotint bench --arch whole-head:64 --size 64 --dump all --out ours.safetensors\n"
      "  mezzotint bench --diff ours.safetensors theirs.safetensors");
  app->add_option("--problem", a.problem, "One op and its sizes, as in the example");
  app->add_option("--model", a.subject.model, "Checkpoint (.pt, .safetensors) or model folder");
  app->add_option("--arch", a.subject.arch,
                  "Published network with random weights: whole-head or brats, :base channels");
  app->add_option("--diff", a.diff, "Two dumps; the second is the one to be believed")
      ->expected(2)
      ->type_name("A B");
  app->add_option("--size", a.size, "Grid: 64 or 128x128x96 [the recipe's]");
  app->add_option("--timestep", a.subject.timestep, "Timestep of the evaluation [the middle]");
  app->add_option("--seed", a.subject.seed, "Seed of random inputs and weights")
      ->capture_default_str();
  app->add_option("--input", a.subject.input, "Safetensors with x, condition, t instead");
  app->add_option("--weights", a.subject.weights, "ema or model")->capture_default_str();
  app->add_option("--variant", a.subject.variant, "med-ddpm: what weights without a prefix are")
      ->capture_default_str();
  app->add_option("--precision", a.precision, "strict or fp32")->capture_default_str();
  app->add_option("--plan", a.plan, "Plan of mezzotint tune for this model, size and machine");
  app->add_option("--implementation", a.implementation, "Force one; --explain lists them");
  app->add_option("--threads", a.threads, "0: all processors")->capture_default_str();
  app->add_option("--runs", a.runs, "Timed runs [10 and half a second, or 3 s]")
      ->check(CLI::Range(1, 1'000'000));
  app->add_option("--memory-limit", a.memory_limit, "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_flag("--no-check", a.no_check, "Time a network without checking its ops");
  app->add_flag("--explain", a.explain,
                "List what could compute each op or why not, and what stays unfused");
  app->add_option("--dump", a.dump, "Write activations of these ops or modules, or all")
      ->delimiter(',')
      ->type_name("OP[,OP...]");
  app->add_option("--out", a.out, "Safetensors file for --dump");
  app->add_flag("--overwrite", a.overwrite, "Replace an existing file");
  app->add_option("--tolerance", a.tolerance, "Relative L2 that --diff accepts")
      ->capture_default_str();
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_bench(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
