#include "pipeline/inspect_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/figures.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/json_limits.h"
#include "pipeline/plan_file.h"
#include "profile/calibration_file.h"
#include "report/compare.h"
#include "report/profile_json.h"
#include "report/study.h"
#include "tune/timing_cache.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kProbe = std::size_t{64} << 10;  // the kind is the first key
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostCalibrationBytes = std::uint64_t{64} << 10;
constexpr std::size_t kMostText = 400;
constexpr std::size_t kMostLabel = 8;
constexpr std::size_t kMostOfAList = 12;

// Its first bytes, at most so many, without a part of a character of UTF-8.
std::string_view start_of(std::string_view text, std::size_t most) {
  std::size_t end = std::min(most, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end);
}

std::string cut(std::string_view text) {
  return fmt::format("{}{}", start_of(text, kMostText), text.size() > kMostText ? "..." : "");
}

void add(RecordSummary& summary, std::string name, std::string_view text) {
  summary.facts.push_back({std::move(name), cut(text)});
}

// Each under the name, or a count of those that are too many.
void add_all(RecordSummary& summary, const std::string& name,
             const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < std::min(texts.size(), kMostOfAList); ++i) {
    add(summary, name, texts[i]);
  }
  if (texts.size() > kMostOfAList) {
    add(summary, name, fmt::format("and {} more", texts.size() - kMostOfAList));
  }
}

// The folder that a file is in, for a shell.
std::string folder_word(const fs::path& path) {
  return path.has_parent_path() ? shell_word(path.parent_path().string()) : ".";
}

// "12 kernels.winograd-f4, 3 onednn.conv": the most frequent first.
std::string counted(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> list(counts.begin(), counts.end());
  std::ranges::stable_sort(list, std::greater(), &std::pair<std::string, int>::second);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(list.size(), kMostOfAList); ++i) {
    parts.push_back(fmt::format("{} {}", list[i].second, cut(list[i].first)));
  }
  return fmt::format("{}{}", fmt::join(parts, ", "), list.size() > kMostOfAList ? ", ..." : "");
}

// Plans -----------------------------------------------------------------------------------------

void add_choices(RecordSummary& summary, const Plan& plan) {
  std::map<std::string, int> implementations;
  int laid_out = 0;
  int fused = 0;
  for (const auto& [name, entry] : plan.entries) {
    ++implementations[entry.implementation.empty() ? "left to the cost table"
                                                   : entry.implementation];
    laid_out += entry.layout && *entry.layout != plan.layout ? 1 : 0;
    fused += entry.fuse ? 1 : 0;
  }
  add(summary, "ops",
      plan.entries.empty()
          ? "none decided: all are left to the cost table"
          : fmt::format("{} decided: {}", plan.entries.size(), counted(implementations)));
  add(summary, "layout",
      fmt::format("{}; {} ops in the other one; what is fused is stated for {}",
                  plan.layout == Layout::kRowMajor ? "channels-first" : "channels-last", laid_out,
                  fused));
}

void add_speed(RecordSummary& summary, const PlanProvenance& provenance) {
  if (provenance.measured_seconds && provenance.default_seconds) {
    add(summary, "speed",
        fmt::format("{} an evaluation, the default plan beside it {}",
                    format_duration(*provenance.measured_seconds),
                    format_duration(*provenance.default_seconds)));
  } else if (provenance.predicted_seconds) {
    add(summary, "speed",
        fmt::format("{} an evaluation by its timings; it was not raced",
                    format_duration(*provenance.predicted_seconds)));
  }
  if (provenance.relative_l2) {
    add(summary, "error",
        fmt::format("relative L2 {:.2g} from the strict plan, at most", *provenance.relative_l2));
  }
}

Result<RecordSummary> tell_plan(const fs::path& path) {
  const auto plan = read_plan(path);
  if (!plan) {
    return plan.error();
  }
  const PlanSubject& subject = plan->subject;
  RecordSummary summary;
  summary.schema = PlanFile::kSchema;
  summary.version = plan->version;
  summary.model = subject.model;
  summary.model_sha256 = subject.model_sha256;
  summary.grid = subject.grid;
  summary.precision = name_of(subject.precision);
  summary.isa = name_of(subject.isa);
  summary.processor = plan->provenance.processor;
  summary.threads = plan->provenance.threads;
  add_choices(summary, plan->plan);
  add_speed(summary, plan->provenance);
  add_all(summary, "note", plan->provenance.notes);
  const std::string words =
      fmt::format("--model MODEL --size {} --precision {} --plan {}", fmt::join(subject.grid, "x"),
                  summary.precision, shell_word(path.string()));
  summary.commands = {"mezzotint generate " + words + " --mask MASK --out OUT.nii.gz",
                      "mezzotint profile " + words};
  return summary;
}

// Profiles --------------------------------------------------------------------------------------

Result<RecordSummary> tell_profile(const fs::path& path) {
  const auto text = read_text_file(path, kMostBytes);
  if (!text) {
    return text.error();
  }
  const auto profile = read_profile(*text, path.string());
  if (!profile) {
    return profile.error();
  }
  RecordSummary summary;
  summary.schema = Profile::kSchema;
  summary.version = profile->version;
  summary.model = profile->model;
  summary.grid = profile->grid;
  summary.precision = profile->precision;
  summary.isa = profile->machine.isa;
  summary.processor = profile->machine.processor;
  summary.threads = profile->machine.threads;
  add_all(summary, "verdict", profile->verdict.sentences);
  add(summary, "time",
      fmt::format("{} an evaluation at timestep {}, the median of {} runs",
                  format_duration(profile->plain_seconds.median), profile->timestep,
                  profile->runs));
  std::map<std::string, int> implementations;
  for (const OpProfile& op : profile->ops) {
    ++implementations[op.implementation];
  }
  add(summary, "ops", fmt::format("{}: {}", profile->ops.size(), counted(implementations)));
  add(summary, "plan", profile->plan.empty() ? "the default" : profile->plan);
  add_all(summary, "warning", profile->warnings);
  summary.commands = {
      fmt::format("mezzotint compare {} OTHER.profile.json", shell_word(path.string()))};
  return summary;
}

// Comparisons and studies -----------------------------------------------------------------------

// Of files that only people read: what is missing or of another type is left out.
std::string whole_text_at(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>()
                                                                       : "";
}

std::string text_at(const Json& json, const char* key) {
  return cut(whole_text_at(json, key));
}

const Json& list_at(const Json& json, const char* key) {
  static const Json nothing = Json::array();
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_array() ? *found : nothing;
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& each : list_at(json, key)) {
    if (each.is_string()) {
      texts.push_back(cut(each.get<std::string>()));
    }
  }
  return texts;
}

std::optional<std::array<std::int64_t, 3>> grid_at(const Json& json) {
  std::array<std::int64_t, 3> grid{};
  const Json& list = list_at(json, "grid");
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (list.size() != grid.size() || !list[i].is_number_integer()) {
      return std::nullopt;
    }
    grid[i] = list[i].get<std::int64_t>();
  }
  return grid;
}

// Of this schema, by this verb.
Result<Json> read_report(const fs::path& path, int expected, std::string_view verb) {
  const auto text = read_text_file(path, kMostBytes);
  if (!text) {
    return text.error();
  }
  if (const std::string problem = json_beyond_limits(*text, kMostBytes); !problem.empty()) {
    return invalid_input("{}: {}: make it again with mezzotint {}", path.string(), problem, verb);
  }
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto schema = json.find("schema");
  if (schema == json.end() || *schema != expected) {
    const bool known = schema != json.end() && schema->is_number_integer();
    return unsupported(
        "{}: is of schema {}, this version reads {}: make it again with mezzotint {}",
        path.string(), known ? schema->dump() : "unknown", expected, verb);
  }
  return json;
}

std::string label_of(const Json& each) {
  return std::string(start_of(text_at(each, "label"), kMostLabel));
}

// Of as many files, from the first on, as have names and make no endless line; none for fewer than
// two.
std::vector<std::string> compare_again(const std::vector<std::string>& files) {
  std::string command = "mezzotint compare";
  std::size_t named = 0;
  for (const std::string& file : files) {
    const std::string word = shell_word(file);
    if (file.empty() || command.size() + 1 + word.size() > kMostText) {
      break;
    }
    command += ' ' + word;
    ++named;
  }
  return named < 2 ? std::vector<std::string>() : std::vector{command};
}

Result<RecordSummary> tell_comparison(const fs::path& path) {
  const auto json = read_report(path, Comparison::kSchema, "compare");
  if (!json) {
    return json.error();
  }
  RecordSummary summary;
  summary.schema = Comparison::kSchema;
  summary.model = text_at(*json, "model");
  summary.grid = grid_at(*json);
  const std::string of = text_at(*json, "of");
  std::vector<std::string> files;
  for (const Json& each : list_at(*json, of == "plans" ? "plans" : "profiles")) {
    files.push_back(whole_text_at(each, "file"));
    add(summary, label_of(each), files.back());
  }
  summary.facts.insert(summary.facts.begin(),
                       RecordFact{"of", fmt::format("{} {}", summary.facts.size(), of)});
  if (summary.facts.size() > kMostOfAList) {
    summary.facts.resize(kMostOfAList);
  }
  add_all(summary, "found", texts_at(*json, "sentences"));
  for (const Json& each : list_at(*json, "differences")) {
    if (summary.facts.size() < 2 * kMostOfAList) {
      const auto sentences = texts_at(each, "sentences");
      add(summary, "found",
          label_of(each) + ": " + (sentences.empty() ? "nothing" : sentences.front()));
    }
  }
  summary.commands = compare_again(files);
  return summary;
}

std::string variant_text(const Json& variant) {
  if (const std::string absent = text_at(variant, "absent"); !absent.empty()) {
    return "not run: " + absent;
  }
  const auto seconds = variant.find("seconds");
  if (seconds == variant.end() || !seconds->is_object() || !seconds->contains("median") ||
      !(*seconds)["median"].is_number()) {
    return "no time";
  }
  return format_duration((*seconds)["median"].get<double>()) + " an evaluation";
}

Result<RecordSummary> tell_study(const fs::path& path) {
  const auto json = read_report(path, Study::kSchema, "study");
  if (!json) {
    return json.error();
  }
  RecordSummary summary;
  summary.schema = Study::kSchema;
  summary.version = text_at(*json, "version");
  summary.model = text_at(*json, "model");
  summary.grid = grid_at(*json);
  summary.processor = text_at(*json, "machine");
  std::vector<std::string> variants;
  for (const Json& each : list_at(*json, "variants")) {
    if (each.is_object()) {
      variants.push_back(text_at(each, "name") + ": " + variant_text(each));
    }
  }
  add_all(summary, "variant", variants);
  add_all(summary, "found", texts_at(*json, "findings"));
  summary.commands = {fmt::format("mezzotint compare {}/*.profile.json", folder_word(path))};
  return summary;
}

// Caches ----------------------------------------------------------------------------------------

Result<RecordSummary> tell_calibration(const fs::path& path) {
  const auto text = read_text_file(path, kMostCalibrationBytes);
  if (!text) {
    return text.error();
  }
  const auto calibration = read_calibration(*text, path.string());
  if (!calibration) {
    return calibration.error();
  }
  RecordSummary summary;
  summary.schema = Calibration::kSchema;
  summary.version = calibration->version;
  summary.isa = calibration->isa;
  summary.processor = calibration->processor;
  summary.threads = calibration->threads;
  for (const UnitPeak& unit : calibration->units) {
    add(summary, "unit",
        unit.absent.empty()
            ? fmt::format("{} ({}): {:.4g} GFLOP/s, with one thread {:.4g}", name_of(unit.unit),
                          cut(unit.elements), unit.all_threads / 1e9, unit.one_thread / 1e9)
            : fmt::format("{}: {}", name_of(unit.unit), cut(unit.absent)));
  }
  for (const MemoryLevel& level : calibration->levels) {
    add(summary, "memory",
        fmt::format("{}: {:.4g} GB/s, with one thread {:.4g}", cut(level.name),
                    level.all_threads / 1e9, level.one_thread / 1e9));
  }
  add(summary, "loop",
      fmt::format("{:.3g} us to start one, {:.3g} us for each further task",
                  1e6 * calibration->start_seconds, 1e6 * calibration->task_seconds));
  add(summary, "spread",
      fmt::format("{:.0f} %, measured in {:.0f} s", 100 * calibration->spread.value_or(0),
                  calibration->took_seconds));
  summary.commands = {fmt::format("mezzotint profile --model MODEL --cache {}", folder_word(path))};
  return summary;
}

Result<RecordSummary> tell_timings(const fs::path& path) {
  const auto timings = summarize_timings(path);
  if (!timings) {
    return timings.error();
  }
  RecordSummary summary;
  summary.schema = timings->form;
  add(summary, "for", timings->scope);
  add(summary, "holds",
      fmt::format("{} timings of ops, {} comparisons", timings->timings, timings->comparisons));
  if (timings->damaged > 0) {
    add(summary, "damaged", fmt::format("{} lines, which mezzotint tune drops", timings->damaged));
  }
  summary.commands = {
      fmt::format("mezzotint tune --model MODEL --out PLAN.json --cache {}", folder_word(path))};
  return summary;
}

struct Form {
  std::string_view in_file;  // under "kind"
  std::string_view kind;
  std::string_view what;
  Result<RecordSummary> (*tell)(const fs::path& path);
};

constexpr Form kForms[] = {
    {PlanFile::kKind, "plan", "a plan of mezzotint tune", tell_plan},
    {Profile::kKind, "profile", "a profile of mezzotint profile", tell_profile},
    {Comparison::kKind, "comparison", "a comparison of mezzotint compare", tell_comparison},
    {Study::kKind, "study", "a study of mezzotint study", tell_study},
    {Calibration::kKind, "calibration", "what a machine attains, kept for mezzotint profile",
     tell_calibration},
};
constexpr Form kTimings = {"", "timings", "timings of ops, kept for mezzotint tune", tell_timings};

const Form* form_of(std::string_view start) {
  if (is_timings(start)) {
    return &kTimings;
  }
  const auto kind = json_kind(start);
  const auto found =
      std::ranges::find_if(kForms, [&](const Form& form) { return kind && form.in_file == *kind; });
  return found == std::end(kForms) ? nullptr : &*found;
}

}  // namespace

Result<std::optional<RecordSummary>> inspect_record(const fs::path& path) {
  const auto file = InputFile::open(path);
  const auto start = file ? file->start(kProbe) : file.error();
  if (!start) {
    return std::optional<RecordSummary>();
  }
  const Form* form = form_of({reinterpret_cast<const char*>(start->data()), start->size()});
  if (form == nullptr) {
    return std::optional<RecordSummary>();
  }
  auto summary = form->tell(path);
  if (!summary) {
    return summary.error();
  }
  summary->kind = form->kind;
  summary->what = form->what;
  return std::optional(std::move(*summary));
}

}  // namespace mezzotint
