// mezzotint generate: a volume from a mask.
#include "mezzotint/generate.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/generate_print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

struct GenerateArguments {
  GenerateRequest request;
  std::string size;
  std::string memory_limit;
  std::string checkpoint_every = "5min";
  std::optional<int> samples;
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
  const auto seconds = parse_duration(arguments.checkpoint_every, "--checkpoint-every");
  if (!seconds) {
    return seconds.error();
  }
  arguments.request.checkpoint_seconds = *seconds;
  return {};
}

// A failure's line with the mask that it was met at.
Error named(const BatchResult& failure) {
  const std::string mask = failure.volume.mask.string();
  Error error = failure.error;
  if (!error.message.starts_with(mask)) {
    error.message = fmt::format("{}, sample {}: {}", mask, failure.volume.sample, error.message);
  }
  return error;
}

int run_batch(const BatchRequest& request, GeneratePrinter& printer, const CancelToken& cancel) {
  const auto report = generate_batch(request, &printer, &cancel);
  printer.close();
  if (!report) {
    return printer.fail(report.error(), kExitFailed);
  }
  printer.print(*report);
  for (const BatchResult& failure : report->failures) {
    fail(named(failure));
  }
  return report->failures.empty() ? kExitOk : kExitFailed;
}

int run_generate(GenerateArguments& arguments, const CancelToken& cancel) {
  const std::unique_ptr<GeneratePrinter> printer =
      arguments.json ? make_json_lines() : make_screen();
  if (Status status = read_words(arguments); !status) {
    return printer->fail(status.error(), kExitUsage);
  }
  if (const BatchRequest batch{arguments.request, arguments.samples}; is_batch(batch)) {
    return run_batch(batch, *printer, cancel);
  }
  const auto report = generate(arguments.request, printer.get(), &cancel);
  printer->close();
  if (!report) {
    return printer->fail(report.error(), kExitFailed);
  }
  printer->print(*report);
  return kExitOk;
}

}  // namespace

Verb add_generate(CLI::App& program) {
  auto arguments = std::make_shared<GenerateArguments>();
  GenerateRequest& r = arguments->request;
  CLI::App* app = program.add_subcommand("generate", "Make a volume from a label mask");
  app->footer(
      "Examples:\n  mezzotint generate --model models/demo-brain32 --mask mask.nii.gz "
      "--out volume.nii.gz --preview volume.png\n"
      "  mezzotint generate --model models/demo-brain32 --mask masks/ --samples 4 --out volumes/");
  app->add_option("--model", r.model, "Checkpoint (.pt, .safetensors) or model folder")->required();
  app->add_option("--mask", r.mask, "NIfTI label mask, or a folder of them")->required();
  app->add_option("--label-map", r.label_map,
                  "What the mask's values mean: \"1=brain,2=tumour\" [the model's labels]")
      ->type_name("MAP");
  app->add_option(
         "--out", r.out,
         "Volume to write: .nii or .nii.gz; a .json goes beside it; of several, the folder")
      ->required();
  app->add_option("--preview", r.preview, "Picture to write: .png; of several, the folder");
  app->add_option("--export", r.export_form, "mask, or brats: the form of the challenge's files")
      ->capture_default_str();
  app->add_option("--sampler", r.sampler, "dpmpp-2m, ddim or ddpm")->capture_default_str();
  app->add_option("--steps", r.steps, "Sampler steps [25; ddpm: the whole schedule]");
  app->add_option("--eta", r.eta, "Noise of ddim: 0 (none) to 1")->capture_default_str();
  app->add_option("--spacing", r.timestep_spacing, "Timesteps even in t or logsnr")
      ->capture_default_str();
  app->add_option("--timesteps", r.timesteps, "Length of the noise schedule [the checkpoint's]");
  app->add_option("--seed", r.seed, "Seed of the noise")->capture_default_str();
  app->add_option("--samples", arguments->samples, "Volumes of each mask, into a folder");
  app->add_option("--sample", r.sample, "Which of the seed's volumes, the first of --samples")
      ->capture_default_str();
  app->add_option("--noise", r.noise, "Safetensors file to take the noise from instead");
  app->add_option("--precision", r.precision, "strict, fp32 or fast")->capture_default_str();
  app->add_option("--plan", r.plan, "Plan of mezzotint tune for this model, size and machine");
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
  app->add_option("--memory-limit", arguments->memory_limit,
                  "Stay below this, or refuse: 3.8GB, 4GiB");
  app->add_option(
         "--checkpoint-every", arguments->checkpoint_every,
         "Save the state this often, to go on after an interruption: 90s, 5min, 1h; 0 never")
      ->capture_default_str();
  app->add_flag("--overwrite", r.overwrite, "Replace existing files");
  app->add_flag("--json", arguments->json, "One JSON object per line on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_generate(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
