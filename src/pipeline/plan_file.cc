#include "pipeline/plan_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "formats/json_fields.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestFile = 4 << 20;
constexpr std::size_t kMostOps = 10000;
constexpr std::size_t kMostNotes = 1000;
constexpr std::size_t kLongestText = 1000;
constexpr std::int64_t kLargestSide = 4096;
constexpr std::int64_t kMostThreads = 1024;

// As tools that measure layouts call them.
constexpr std::pair<Layout, std::string_view> kLayouts[] = {
    {Layout::kRowMajor, "channels-first"}, {Layout::kChannelsLast, "channels-last"}};

std::string layout_text(Layout layout) {
  return std::string(kLayouts[layout == Layout::kRowMajor ? 0 : 1].second);
}

std::optional<Layout> layout_from_text(std::string_view text) {
  for (const auto& [layout, name] : kLayouts) {
    if (name == text) {
      return layout;
    }
  }
  return std::nullopt;
}

std::string precision_names() {
  std::string names;
  for (const Precision precision : kAllPrecisions) {
    const bool is_last = precision == *std::rbegin(kAllPrecisions);
    names += fmt::format("{}{}", names.empty() ? "" : is_last ? " or " : ", ", name_of(precision));
  }
  return names;
}

constexpr std::string_view kLayoutNames = "channels-last or channels-first";

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Fusions read_fusions(JsonFields& op) {
  Fusions fusions;
  for (const std::string& name : op.texts("fuse", std::size(kAllFusions), kLongestText)) {
    const auto fusion = fusion_from_name(name);
    if (!fusion || !fusions.insert(*fusion).second) {
      std::vector<std::string_view> names;
      for (const Fusion known : kAllFusions) {
        names.push_back(name_of(known));
      }
      op.refuse("fuse", fmt::format("a list of fusions, each once: {}", fmt::join(names, ", ")));
      break;
    }
  }
  return fusions;
}

PlanEntry read_entry(JsonFields& op) {
  PlanEntry entry;
  if (op.has("implementation")) {
    entry.implementation = op.text("implementation", kLongestText);
  }
  if (op.has("layout")) {
    entry.layout = op.named("layout", layout_from_text, kLayoutNames);
  }
  if (op.has("fuse")) {
    entry.fuse = read_fusions(op);
  }
  return entry;
}

PlanProvenance read_provenance(JsonFields& fields) {
  const auto figure = [&](const char* key) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return fields.has(key) ? std::optional(fields.number(key, 0, kInfinity)) : std::nullopt;
  };
  PlanProvenance provenance;
  provenance.processor = fields.text("processor", kLongestText);
  provenance.threads = static_cast<int>(fields.whole("threads", 0, kMostThreads));
  provenance.predicted_seconds = figure("predicted_seconds");
  provenance.measured_seconds = figure("measured_seconds");
  provenance.default_seconds = figure("default_seconds");
  provenance.relative_l2 = figure("relative_l2");
  provenance.notes = fields.texts("notes", kMostNotes, kLongestText);
  return provenance;
}

PlanFile read_fields(JsonFields& fields) {
  PlanFile file;
  PlanSubject& subject = file.subject;
  file.version = fields.text("version", kLongestText);
  file.backend = fields.text("backend", kLongestText);
  fields.object("model", [&](JsonFields& model) {
    subject.model = model.text("name", kLongestText);
    subject.model_sha256 = model.text("sha256", kLongestText);
    if (!is_sha256(subject.model_sha256)) {
      model.refuse("sha256", "64 hexadecimal digits");
    }
  });
  subject.grid = fields.three_wholes("grid", 1, kLargestSide);
  subject.precision = fields.named("precision", precision_from_name, precision_names());
  subject.isa = fields.named("isa", isa_from_name, "avx2, avx512 or amx");
  Plan& plan = file.plan;
  plan.precision = subject.precision;
  plan.layout = fields.named("layout", layout_from_text, kLayoutNames);
  fields.objects_by_name("ops", kMostOps, [&](const std::string& name, JsonFields& op) {
    plan.entries[name] = read_entry(op);
  });
  if (fields.has("provenance")) {
    fields.object("provenance", [&](JsonFields& part) { file.provenance = read_provenance(part); });
  }
  return file;
}

// In UTF-8, since names of files may hold other bytes, and as long as a reader allows.
std::string text_for_people(const std::string& text) {
  constexpr std::string_view kCut = "...";
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  auto whole = Json::parse(Json(text).dump(-1, ' ', false, replace)).get<std::string>();
  if (whole.size() <= kLongestText) {
    return whole;
  }
  std::size_t end = kLongestText - kCut.size();
  while ((static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80) {  // within a character
    --end;
  }
  return whole.substr(0, end).append(kCut);
}

nlohmann::ordered_json provenance_json(const PlanProvenance& provenance) {
  nlohmann::ordered_json json{{"processor", text_for_people(provenance.processor)},
                              {"threads", provenance.threads}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) {  // JSON has no other numbers
      json[key] = *value;
    }
  };
  add("predicted_seconds", provenance.predicted_seconds);
  add("measured_seconds", provenance.measured_seconds);
  add("default_seconds", provenance.default_seconds);
  add("relative_l2", provenance.relative_l2);
  json["notes"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(provenance.notes.size(), kMostNotes); ++i) {
    json["notes"].push_back(text_for_people(provenance.notes[i]));
  }
  return json;
}

nlohmann::ordered_json entry_json(const PlanEntry& entry) {
  auto json = nlohmann::ordered_json::object();
  if (!entry.implementation.empty()) {
    json["implementation"] = entry.implementation;
  }
  if (entry.layout) {
    json["layout"] = layout_text(*entry.layout);
  }
  if (entry.fuse) {
    json["fuse"] = nlohmann::ordered_json::array();
    for (const Fusion fusion : *entry.fuse) {
      json["fuse"].push_back(name_of(fusion));
    }
  }
  return json;
}

// "64x64x64"
std::string size_text(const std::array<std::int64_t, 3>& grid) {
  return fmt::format("{}", fmt::join(grid, "x"));
}

}  // namespace

std::string plan_json(const PlanFile& plan) {
  const PlanSubject& subject = plan.subject;
  nlohmann::ordered_json json;
  json["kind"] = PlanFile::kKind;
  json["schema"] = PlanFile::kSchema;
  json["version"] = plan.version;
  json["backend"] = plan.backend;
  json["model"] = {{"name", text_for_people(subject.model)}, {"sha256", subject.model_sha256}};
  json["grid"] = subject.grid;
  json["precision"] = name_of(subject.precision);
  json["isa"] = name_of(subject.isa);
  json["layout"] = layout_text(plan.plan.layout);
  json["ops"] = nlohmann::ordered_json::object();
  for (const auto& [name, entry] : plan.plan.entries) {
    json["ops"][name] = entry_json(entry);
  }
  json["provenance"] = provenance_json(plan.provenance);
  // Names of ops may hold bytes that are not UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string tune_command(const PlanSubject& here, const std::filesystem::path& path) {
  std::string command = fmt::format("mezzotint tune {}", here.words);
  if (here.grid[0] > 0) {
    command += fmt::format(" --size {}", size_text(here.grid));
  }
  const auto beside = path.parent_path() / ("new-" + path.filename().string());
  return fmt::format("{} --precision {} --out {}", command, name_of(here.precision),
                     shell_word(beside.string()));
}

Result<PlanFile> read_plan(const std::filesystem::path& path, const std::string& again) {
  const auto text = read_text_file(path, kLargestFile);
  if (!text) {
    return text.error();
  }
  PlanFile plan;
  const std::string remedy = "make one with " + again;
  const JsonForm form{PlanFile::kKind, PlanFile::kSchema, remedy};
  if (Status status = read_json(*text, path.string(), kLargestFile, form,
                                [&](JsonFields& fields) { plan = read_fields(fields); });
      !status) {
    return status.error();
  }
  plan.name = path.filename().string();
  plan.plan.source = {path.string(), again};
  plan.sha256 = sha256_hex(std::as_bytes(std::span(*text)));
  return plan;
}

Status check_plan_fits(const PlanFile& plan, const PlanSubject& here) {
  const PlanSubject& made = plan.subject;
  const auto refuse = [&](std::string_view what, std::string_view in_file, std::string_view now) {
    const std::string& file = plan.plan.source.file;
    return invalid_input("{}: this plan is for {} {}, here it is {}: make another with {}", file,
                         what, in_file, now, tune_command(here, file));
  };
  if (made.model_sha256 != here.model_sha256) {
    const auto model = [](const PlanSubject& subject) {
      return fmt::format("{} (SHA-256 {}...)", in_quotes(subject.model),
                         std::string_view(subject.model_sha256).substr(0, 12));
    };
    return refuse("model", model(made), model(here));
  }
  if (made.grid != here.grid) {
    return refuse("size", size_text(made.grid), size_text(here.grid));
  }
  if (made.precision != here.precision) {
    return refuse("precision", name_of(made.precision), name_of(here.precision));
  }
  if (made.isa != here.isa) {
    return refuse("instruction set", name_of(made.isa), name_of(here.isa));
  }
  return {};
}

Result<Plan> fitting_plan(const PlanFile& file, const PlanSubject& here) {
  if (Status status = check_plan_fits(file, here); !status) {
    return status.error();
  }
  Plan plan = file.plan;
  plan.source.again = tune_command(here, plan.source.file);
  return plan;
}

Result<PlanFile> plan_for(const std::filesystem::path& path, const PlanSubject& here) {
  auto plan = read_plan(path, tune_command(here, path));
  if (!plan) {
    return plan;
  }
  if (Status status = check_plan_fits(*plan, here); !status) {
    return status.error();
  }
  return plan;
}

}  // namespace mezzotint
