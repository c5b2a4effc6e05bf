#include "pipeline/plan_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "formats/json_limits.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;
using Keys = std::initializer_list<std::string_view>;

constexpr std::string_view kKind = "mezzotint plan";
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

// Reads one object key by key and remembers the first thing that is wrong.
class ObjectReader {
 public:
  // Keys that are not `known` are wrong.
  ObjectReader(const Json& json, std::string where, Keys known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      fail("", "an object");
      return;
    }
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) == known.end()) {
        problem_ = fmt::format("{}unknown key {}; known are {}", where_, in_quotes(key),
                               fmt::join(known, ", "));
        return;
      }
    }
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool has(std::string_view key) const {
    return problem_.empty() && json_.contains(key);
  }

  // What is not of the expected kind, or missing, fails and reads as null.
  const Json& read(std::string_view key, bool (Json::*is_type)() const noexcept,
                   std::string_view expected) {
    static const Json nothing;
    if (!problem_.empty()) {
      return nothing;
    }
    const auto found = json_.find(key);
    if (found == json_.end() || !((*found).*is_type)()) {
      fail(key, expected);
      return nothing;
    }
    return *found;
  }

  std::string text(std::string_view key) {
    const Json& value = read(key, &Json::is_string, "a text");
    if (value.is_null()) {
      return "";
    }
    auto text = value.get<std::string>();
    if (text.size() > kLongestText) {
      fail(key, fmt::format("a text of at most {} bytes", kLongestText));
    }
    return text;
  }

  // A text that stands for a value.
  template <typename T>
  T named(std::string_view key, std::optional<T> (*from_name)(std::string_view),
          std::string_view expected) {
    const std::string name = text(key);
    const std::optional<T> value = problem_.empty() ? from_name(name) : std::nullopt;
    if (problem_.empty() && !value) {
      fail(key, expected);
    }
    return value.value_or(T{});
  }

  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const Json& value = read(key, &Json::is_number_integer, "a whole number");
    return value.is_null() ? least : checked(key, value, least, most, "");
  }

  std::array<std::int64_t, 3> sides(std::string_view key) {
    std::array<std::int64_t, 3> numbers{};
    const Json& value = read(key, &Json::is_array, "three whole numbers");
    for (std::size_t i = 0; i < numbers.size() && problem_.empty(); ++i) {
      if (value.size() != numbers.size() || !value[i].is_number_integer()) {
        fail(key, "three whole numbers");
        break;
      }
      numbers[i] = checked(key, value[i], 1, kLargestSide, "three sides, each ");
    }
    return numbers;
  }

  std::optional<double> number(std::string_view key) {
    if (!has(key)) {
      return std::nullopt;
    }
    const Json& value = read(key, &Json::is_number, "a number");
    const double number = value.is_null() ? 0 : value.get<double>();
    if (!std::isfinite(number) || number < 0) {
      fail(key, "a number of 0 or more");
    }
    return number;
  }

  void fail(std::string_view key, std::string_view expected) {
    if (problem_.empty()) {
      problem_ = key.empty() ? fmt::format("{}must be {}", where_, expected)
                             : fmt::format("{}\"{}\" must be {}", where_, key, expected);
    }
  }

 private:
  std::int64_t checked(std::string_view key, const Json& value, std::int64_t least,
                       std::int64_t most, std::string_view what) {
    // Beyond int64 it would wrap around.
    const bool fits = !value.is_number_unsigned() ||
                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
    const auto number = fits ? value.get<std::int64_t>() : most + 1;
    if (number < least || number > most) {
      fail(key, fmt::format("{}from {} to {}", what, least, most));
      return least;
    }
    return number;
  }

  const Json& json_;
  std::string where_;
  std::string problem_;
};

std::optional<Layout> layout_from_text(std::string_view text) {
  for (const auto& [layout, name] : kLayouts) {
    if (name == text) {
      return layout;
    }
  }
  return std::nullopt;
}

std::optional<Precision> precision_from_text(std::string_view text) {
  const auto precision = precision_from_name(text);
  return precision ? std::optional(*precision) : std::nullopt;
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

class PlanReader {
 public:
  explicit PlanReader(const Json& json)
      : root_(json, "",
              {"kind", "schema", "version", "backend", "model", "grid", "precision", "isa",
               "layout", "ops", "provenance"}) {}

  Result<PlanFile> read() {
    plan_.version = root_.text("version");
    plan_.backend = root_.text("backend");
    PlanSubject& subject = plan_.subject;
    subject.grid = root_.sides("grid");
    subject.precision = root_.named("precision", precision_from_text, precision_names());
    subject.isa = root_.named("isa", isa_from_name, "avx2, avx512 or amx");
    plan_.plan.precision = subject.precision;
    plan_.plan.layout = root_.named("layout", layout_from_text, kLayoutNames);
    note(root_);
    read_model(root_.read("model", &Json::is_object, "an object"));
    read_ops(root_.read("ops", &Json::is_object, "an object"));
    note(root_);
    if (root_.has("provenance")) {
      read_provenance(root_.read("provenance", &Json::is_object, "an object"));
    }
    if (!problem_.empty()) {
      return invalid_input("{}", problem_);
    }
    return std::move(plan_);
  }

 private:
  void note(const ObjectReader& reader) {
    if (problem_.empty()) {
      problem_ = reader.problem();
    }
  }

  void read_model(const Json& json) {
    if (!problem_.empty() || json.is_null()) {
      return;
    }
    ObjectReader model(json, "model: ", {"name", "sha256"});
    plan_.subject.model = model.text("name");
    plan_.subject.model_sha256 = model.text("sha256");
    if (!is_sha256(plan_.subject.model_sha256)) {
      model.fail("sha256", "64 hexadecimal digits");
    }
    note(model);
  }

  void read_ops(const Json& json) {
    if (!problem_.empty() || json.is_null()) {
      return;
    }
    if (json.size() > kMostOps) {
      root_.fail("ops", fmt::format("at most {} ops", kMostOps));
      return;
    }
    for (const auto& [name, value] : json.items()) {
      plan_.plan.entries[name] = read_entry(name, value);
      if (!problem_.empty()) {
        return;
      }
    }
  }

  PlanEntry read_entry(std::string_view name, const Json& json) {
    ObjectReader op(json, fmt::format("op {}: ", in_quotes(name)),
                    {"implementation", "layout", "fuse"});
    PlanEntry entry;
    if (op.has("implementation")) {
      entry.implementation = op.text("implementation");
    }
    if (op.has("layout")) {
      entry.layout = op.named("layout", layout_from_text, kLayoutNames);
    }
    if (op.has("fuse")) {
      entry.fuse = read_fusions(op);
    }
    note(op);
    return entry;
  }

  static Fusions read_fusions(ObjectReader& op) {
    constexpr std::string_view kExpected = "a list of fusions, each once";
    Fusions fusions;
    for (const Json& each : op.read("fuse", &Json::is_array, kExpected)) {
      const auto fusion =
          each.is_string() ? fusion_from_name(each.get_ref<const std::string&>()) : std::nullopt;
      if (!fusion || !fusions.insert(*fusion).second) {
        std::vector<std::string_view> names;
        for (const Fusion known : kAllFusions) {
          names.push_back(name_of(known));
        }
        op.fail("fuse", fmt::format("{}: {}", kExpected, fmt::join(names, ", ")));
        break;
      }
    }
    return fusions;
  }

  void read_provenance(const Json& json) {
    if (!problem_.empty() || json.is_null()) {
      return;
    }
    ObjectReader reader(json, "provenance: ",
                        {"processor", "threads", "predicted_seconds", "measured_seconds",
                         "default_seconds", "relative_l2", "notes"});
    PlanProvenance& found = plan_.provenance;
    found.processor = reader.text("processor");
    found.threads = static_cast<int>(reader.integer("threads", 0, kMostThreads));
    found.predicted_seconds = reader.number("predicted_seconds");
    found.measured_seconds = reader.number("measured_seconds");
    found.default_seconds = reader.number("default_seconds");
    found.relative_l2 = reader.number("relative_l2");
    const Json& notes = reader.read("notes", &Json::is_array, "a list of texts");
    if (notes.size() > kMostNotes) {
      reader.fail("notes", fmt::format("at most {} texts", kMostNotes));
    }
    for (const Json& each : notes) {
      if (!reader.problem().empty()) {
        break;
      }
      if (!each.is_string() || each.get_ref<const std::string&>().size() > kLongestText) {
        reader.fail("notes", fmt::format("texts of at most {} bytes", kLongestText));
        break;
      }
      found.notes.push_back(each.get<std::string>());
    }
    note(reader);
  }

  ObjectReader root_;
  PlanFile plan_;
  std::string problem_;
};

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
  json["kind"] = kKind;
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

Result<PlanFile> read_plan(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kLargestFile);
  if (!bytes) {
    return bytes.error();
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (json_kind(text) != kKind) {
    return invalid_input("{}: is no plan of mezzotint: mezzotint tune makes one", path.string());
  }
  if (const std::string problem = json_beyond_limits(text, kLargestFile); !problem.empty()) {
    return invalid_input("{}: {}", path.string(), problem);
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto schema = json.find("schema");
  const bool has_schema = schema != json.end() && schema->is_number_integer();
  if (!has_schema || *schema != PlanFile::kSchema) {
    return unsupported(
        "{}: is a plan of schema {}, this version reads {}: make it again with "
        "mezzotint tune",
        path.string(), has_schema ? schema->dump() : "unknown", PlanFile::kSchema);
  }
  auto plan = PlanReader(json).read();
  if (!plan) {
    return make_error(plan.error().code, "{}: {}", path.string(), plan.error().message);
  }
  plan->name = path.filename().string();
  plan->sha256 = sha256_hex(*bytes);
  return plan;
}

Status check_plan_fits(const PlanFile& plan, const PlanSubject& here) {
  const PlanSubject& made = plan.subject;
  const auto refuse = [&](std::string_view what, std::string_view in_file, std::string_view now) {
    return invalid_input(
        "{}: this plan is for {} {}, here it is {}: make another with mezzotint tune --size {} "
        "--precision {} --out FILE",
        plan.name, what, in_file, now, size_text(here.grid), name_of(here.precision));
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

Result<PlanFile> plan_for(const std::filesystem::path& path, const PlanSubject& here) {
  auto plan = read_plan(path);
  if (!plan) {
    return plan;
  }
  if (Status status = check_plan_fits(*plan, here); !status) {
    return status.error();
  }
  return plan;
}

}  // namespace mezzotint
