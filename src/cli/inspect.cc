// mezzotint inspect: what is in this file?
#include "pipeline/inspect.h"

#include <memory>

#include "cli/arguments.h"
#include "cli/inspect_print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

struct InspectArguments {
  InspectRequest request;
  std::string size;
  bool no_check = false;
  bool json = false;
};

int run_inspect(const InspectArguments& arguments, const CancelToken& cancel) {
  InspectRequest request = arguments.request;
  request.check = !arguments.no_check;
  if (!arguments.size.empty()) {
    const auto size = parse_size(arguments.size);
    if (!size) {
      return usage_error(size.error().message);
    }
    request.size = *size;
  }
  const auto report = inspect(request, &cancel);
  if (!report) {
    return fail(report.error());
  }
  (arguments.json ? print_report_json : print_report)(*report);
  return report->problem ? fail(*report->problem) : kExitOk;
}

}  // namespace

Verb add_inspect(CLI::App& program) {
  auto arguments = std::make_shared<InspectArguments>();
  InspectArguments& a = *arguments;
  CLI::App* app = program.add_subcommand("inspect", "Tell what is in a file");
  app->footer(
      "Examples:\n"
      "  mezzotint inspect model-250.pt\n"
      "  mezzotint inspect models/demo-brain32 --size 64\n"
      "  mezzotint inspect mask.nii.gz --model models/demo-brain32");
  app->add_option("file", a.request.path,
                  "Checkpoint, model folder, NIfTI image, noise, dump, sidecar or state of a run, "
                  "plan, profile, comparison, study or cache; the content decides")
      ->required()
      ->type_name("FILE|FOLDER");
  app->add_option("--size", a.size, "Grid to tell costs for: 64 or 128x128x96 [the model's]");
  app->add_option("--weights", a.request.weights, "ema or model [ema, else model]");
  app->add_option("--variant", a.request.variant,
                  "Network of plain keys under a group: auto or med-ddpm [auto]");
  app->add_option("--model", a.request.model, "Judge an image as a mask for this model too");
  app->add_flag("--no-check", a.no_check, "Leave the values of weights unread");
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_inspect(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
