// Writes pages for the test in a browser: of the sample profile, of one whose texts would do harm
// if they were taken for markup, of one that holds nothing, and of comparisons and studies of such.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "report/compare_html.h"
#include "report/profile_html.h"
#include "report/sample_profile.h"
#include "report/sample_study.h"
#include "report/study_html.h"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.good();
}

mezzotint::Comparison three_profiles() {
  using namespace mezzotint;
  return compare_profiles({{"before/profile.json", sample_profile()},
                           {"after/profile.json", faster_profile()},
                           {"again/profile.json", sample_profile()}});
}

mezzotint::Comparison hostile_profiles() {
  using namespace mezzotint;
  return compare_profiles({{"a", faster_profile()}, {"b", hostile_profile()}});
}

mezzotint::Comparison no_ops() {
  using namespace mezzotint;
  return compare_profiles({{"a", Profile()}, {"b", Profile()}});
}

mezzotint::PlanComparison two_plans() {
  using namespace mezzotint;
  PlanComparison plans;
  plans.model = "whole-head.pt";
  plans.grid = {128, 128, 128};
  ComparedPlan base;
  base.name = "plan.json";
  base.version = "0.1.0";
  base.measured_seconds = 0.0412;
  base.notes = {"put back: out.2"};
  ComparedPlan other = base;
  other.name = "other.json";
  other.relative_l2 = 1.2e-6;
  plans.plans = {base, other};
  plans.ops = {{"out.2", {PlanEntry{"onednn"}, std::nullopt}}};
  plans.sentences = plan_sentences(plans);
  return plans;
}

mezzotint::Study hostile_study() {
  mezzotint::Study study = mezzotint::sample_study();
  const std::string text = mezzotint::hostile_profile().model;
  study.model = study.machine = study.rows[0].meaning = study.rows[2].absent = text;
  study.findings.push_back(text);
  study.rows[0].profile.warnings.push_back(text);
  return study;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace mezzotint;
  if (count != 2) {
    fmt::print(stderr, "usage: write_reports FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const Profile plain = sample_profile();
  const bool good = write(folder / "sample.html", profile_html(plain)) &&
                    write(folder / "hostile.html", profile_html(hostile_profile())) &&
                    write(folder / "empty.html", profile_html(Profile())) &&
                    write(folder / "compare.html", comparison_html(three_profiles())) &&
                    write(folder / "compare-hostile.html", comparison_html(hostile_profiles())) &&
                    write(folder / "compare-empty.html", comparison_html(no_ops())) &&
                    write(folder / "plans.html", comparison_html(two_plans())) &&
                    write(folder / "study.html", study_html(sample_study())) &&
                    write(folder / "study-hostile.html", study_html(hostile_study())) &&
                    write(folder / "study-empty.html", study_html(Study()));
  return good ? 0 : 1;
}
