// mezzotint prepare: a usable mask from what people have.
#include "pipeline/prepare.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace mezzotint::cli {
namespace {

struct PrepareArguments {
  PrepareRequest request;
  bool json = false;
};

void print_screen(const PrepareRequest& request, const PrepareReport& report) {
  const auto line = [](const char* key, const std::string& value) {
    print_to(stderr, "  {:<8} {}\n", key, on_one_line(value));
  };
  print_to(stderr, "mezzotint prepare\n");
  line("recipe", report.recipe);
  line("mask", request.mask.string());
  line("before", report.before);
  for (const std::string& step : report.done) {
    line("done", step);
  }
  if (report.done.empty()) {
    line("done", "nothing: the mask is usable as it is, its labels were copied");
  }
  line("after", report.after);
  for (const std::string& note : report.notes) {
    line("note", note);
  }
  print_to(stdout, "{}\n", report.out.string());
  if (report.preview) {
    print_to(stdout, "{}\n", report.preview->string());
  }
}

void print_json(const PrepareReport& report) {
  nlohmann::ordered_json json{{"recipe", report.recipe}, {"out", report.out.string()}};
  if (report.preview) {
    json["preview"] = report.preview->string();
  }
  json["before"] = nlohmann::ordered_json::array();
  for (const StoredValue& stored : report.before_values) {
    json["before"].push_back({{"value", stored.value}, {"voxels", stored.voxels}});
  }
  json["after"] = nlohmann::ordered_json::array();
  for (const PreparedLabel& label : report.after_labels) {
    json["after"].push_back(
        {{"label", label.label}, {"name", label.name}, {"voxels", label.voxels}});
  }
  json["done"] = report.done;
  json["notes"] = report.notes;
  print_to(stdout, "{}\n",
           json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int run_prepare(const PrepareArguments& arguments, const CancelToken& cancel) {
  const PrepareRequest& request = arguments.request;
  if (request.recipe.has_value() == request.model.has_value()) {
    return usage_error("pass either --recipe or --model; see mezzotint prepare --help");
  }
  const auto report = prepare(request, &cancel);
  if (!report) {
    return fail(report.error());
  }
  if (arguments.json) {
    print_json(*report);
  } else {
    print_screen(request, *report);
  }
  return kExitOk;
}

}  // namespace

Verb add_prepare(CLI::App& program) {
  auto arguments = std::make_shared<PrepareArguments>();
  PrepareRequest& r = arguments->request;
  CLI::App* app = program.add_subcommand("prepare", "Make a label mask that a model can use");
  app->footer(
      "Examples:\n"
      "  mezzotint prepare --recipe brats --mask seg.nii.gz --t1 t1.nii.gz --out mask.nii.gz\n"
      "  mezzotint prepare --recipe whole-head --mask brain_mask.nii.gz --tumour tumour.nii.gz "
      "--out mask.nii.gz --preview mask.png\n"
      "  mezzotint prepare --recipe whole-head --mask aseg.nii.gz --label-map \"*=brain\" "
      "--out mask.nii.gz");
  app->add_option("--recipe", r.recipe, "Whose labels are wanted: whole-head or brats");
  app->add_option("--model", r.model, "The same, told by a checkpoint or model folder");
  app->add_option("--mask", r.mask, "NIfTI: labels, or a mask of the brain")->required();
  app->add_option("--t1", r.t1, "Skull-stripped T1 on the mask's grid: shows where brain is");
  app->add_option("--tumour", r.tumour, "Mask of the tumour on the mask's grid");
  app->add_option("--label-map", r.label_map,
                  "What the mask's values mean: \"1=brain,2=tumour,*=background\"")
      ->type_name("MAP");
  app->add_option("--out", r.out, "Mask to write: .nii or .nii.gz")->required();
  app->add_option("--preview", r.preview, "Picture to write: .png");
  app->add_flag("--overwrite", r.overwrite, "Replace existing files");
  app->add_flag("--json", arguments->json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& cancel) { return run_prepare(*arguments, cancel); }};
}

}  // namespace mezzotint::cli
