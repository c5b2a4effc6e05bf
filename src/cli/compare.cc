// mezzotint compare: profiles or plans against the first of them.
#include <memory>
#include <optional>
#include <variant>

#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/compare_print.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "pipeline/compare.h"
#include "report/compare_json.h"
#include "report/plan_comparison_json.h"

namespace mezzotint::cli {
namespace {

struct CompareArguments {
  std::vector<std::filesystem::path> files;
  std::optional<std::filesystem::path> out;
  bool overwrite = false;
  bool json = false;
};

int run_compare(const CompareArguments& arguments) {
  if (arguments.overwrite && !arguments.out) {
    return usage_error("--overwrite needs --out FOLDER or FILE.html");
  }
  const auto files = compared_files(arguments.files);
  if (!files) {
    return usage_error(files.error().message);
  }
  std::optional<ComparisonFiles> outputs;
  if (arguments.out) {
    auto created = ComparisonFiles::create(*arguments.out, arguments.overwrite, *files);
    if (!created) {
      return fail(created.error());
    }
    outputs = std::move(*created);
  }
  const auto comparison = compare_files(*files);
  if (!comparison) {
    return fail(comparison.error());
  }
  if (outputs) {
    if (Status status = outputs->write(*comparison); !status) {
      return fail(status.error());
    }
  }
  if (arguments.json) {
    print_to(stdout, "{}",
             std::visit([](const auto& of) { return comparison_json(of); }, *comparison));
    return kExitOk;
  }
  std::visit([](const auto& of) { print_comparison(of); }, *comparison);
  if (outputs) {
    print_to(stdout, "\n");
    for (const std::filesystem::path& path : outputs->paths()) {
      print_to(stdout, "{}\n", on_one_line(path.string()));
    }
  }
  return kExitOk;
}

}  // namespace

Verb add_compare(CLI::App& program) {
  auto arguments = std::make_shared<CompareArguments>();
  CompareArguments& a = *arguments;
  CLI::App* app = program.add_subcommand(
      "compare", "Compare profiles or plans with the first, and see what explains the difference");
  app->footer(
      "Examples:\n"
      "  mezzotint compare before/ after/\n"
      "  mezzotint compare fp32/profile.json fast/profile.json tuned/profile.json --out "
      "report.html\n"
      "  mezzotint compare plan.json other-plan.json --json");
  app->add_option("files", a.files,
                  "2 to 16 profiles (profile.json, or folders with one) or plans; the first is the "
                  "base")
      ->required()
      ->type_name("FILE");
  app->add_option("--out", a.out, "Page FILE.html, or a folder for compare.json and compare.html")
      ->type_name("PATH");
  app->add_flag("--overwrite", a.overwrite, "Replace files of an earlier comparison");
  app->add_flag("--json", a.json, "One JSON object on stdout");
  return {app, [arguments](const CancelToken& /*cancel*/) { return run_compare(*arguments); }};
}

}  // namespace mezzotint::cli
