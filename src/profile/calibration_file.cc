#include "profile/calibration_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "mezzotint calibration";
constexpr int kSchema = 1;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 10;
constexpr std::size_t kMostEntries = 16;  // of units, and of levels
constexpr std::int64_t kMostThreads = 1 << 20;
// What no processor is beyond: operations and bytes per second, and seconds of a loop.
constexpr double kLeastRate = 1e6;
constexpr double kMostRate = 1e16;
constexpr double kLeastStart = 1e-10;
constexpr double kMostStart = 1;
constexpr double kMostTook = 1e6;  // seconds

// Takes members out of an object; the first that is missing or unfit is the reason.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::string& reason)
      : object_(object), where_(std::move(where)), reason_(reason) {
    if (!object.is_object()) {
      refuse("expected an object");
    }
  }

  std::string text(const char* key) {
    const Json* found = find(key);
    if (found == nullptr || !found->is_string()) {
      refuse(key, "text");
      return "";
    }
    return found->get<std::string>();
  }
  double figure(const char* key, double least, double most) {
    const Json* found = find(key);
    const bool is_number = found != nullptr && found->is_number();
    const double value = is_number ? found->get<double>() : std::nan("");
    if (!(value >= least && value <= most)) {
      refuse(key, fmt::format("a number from {:g} to {:g}", least, most));
      return least;
    }
    return value;
  }
  double rate(const char* key) { return figure(key, kLeastRate, kMostRate); }
  std::int64_t count(const char* key, std::int64_t least, std::int64_t most) {
    const Json* found = find(key);
    const bool fits = found != nullptr && found->is_number_integer() &&
                      (!found->is_number_unsigned() || found->get<std::uint64_t>() < INT64_MAX);
    const std::int64_t value = fits ? found->get<std::int64_t>() : least - 1;
    if (value < least || value > most) {
      refuse(key, fmt::format("a whole number from {} to {}", least, most));
      return least;
    }
    return value;
  }
  const Json& list(const char* key) {
    const Json* found = find(key);
    if (found == nullptr || !found->is_array() || found->size() > kMostEntries) {
      refuse(key, fmt::format("a list of at most {}", kMostEntries));
      return none_;
    }
    return *found;
  }
  [[nodiscard]] bool has(const char* key) const { return find(key) != nullptr; }
  void refuse(const char* key, std::string_view expected) {
    refuse(fmt::format("expected {} as `{}`", expected, key));
  }

 private:
  const Json* find(const char* key) const {
    if (!object_.is_object()) {
      return nullptr;
    }
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void refuse(const std::string& why) {
    if (reason_.empty()) {
      reason_ = where_ + why;
    }
  }

  const Json none_ = Json::array();
  const Json& object_;
  std::string where_;
  std::string& reason_;
};

// Of a key that an object has twice, either value may have been meant.
Json parse_without_duplicates(std::string_view json, std::string& reason) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !keys.back().insert(parsed.get<std::string>()).second && reason.empty()) {
      reason = fmt::format("has the key {} twice", in_quotes(parsed.get<std::string>()));
    }
    return true;
  };
  return Json::parse(json, look, /*allow_exceptions=*/false);
}

Json json_of(const UnitPeak& peak) {
  Json json{{"unit", name_of(peak.unit)}, {"elements", peak.elements}};
  if (!peak.absent.empty()) {
    json["absent"] = peak.absent;
    return json;
  }
  json["flops_one_thread"] = peak.one_thread;
  json["flops_all_threads"] = peak.all_threads;
  return json;
}

UnitPeak read_unit(const Json& json, std::string where, std::string& reason) {
  Fields fields(json, std::move(where), reason);
  UnitPeak peak;
  if (const auto unit = math_unit_from_name(fields.text("unit"))) {
    peak.unit = *unit;
  } else {
    fields.refuse("unit", "a known unit");
  }
  peak.elements = fields.text("elements");
  if (fields.has("absent")) {
    peak.absent = fields.text("absent");
    if (peak.absent.empty()) {
      fields.refuse("absent", "a reason");
    }
    return peak;
  }
  peak.one_thread = fields.rate("flops_one_thread");
  peak.all_threads = fields.rate("flops_all_threads");
  return peak;
}

Json json_of(const MemoryLevel& level) {
  return {{"name", level.name},
          {"capacity_bytes", level.bytes},
          {"bytes_per_second_one_thread", level.one_thread},
          {"bytes_per_second_all_threads", level.all_threads}};
}

MemoryLevel read_level(const Json& json, std::string where, std::string& reason) {
  Fields fields(json, std::move(where), reason);
  MemoryLevel level;
  level.name = fields.text("name");
  level.bytes = static_cast<std::uint64_t>(fields.count("capacity_bytes", 0, INT64_MAX - 1));
  level.one_thread = fields.rate("bytes_per_second_one_thread");
  level.all_threads = fields.rate("bytes_per_second_all_threads");
  return level;
}

// What a calibration is of, without figures.
Calibration subject_of(const Machine& machine, const ThreadTeam& team) {
  Calibration subject;
  subject.processor = machine.processor;
  subject.isa = name_of(machine.isa);
  subject.threads = team.size();
  subject.version = kVersion;
  return subject;
}

bool same_subject(const Calibration& a, const Calibration& b) {
  return a.processor == b.processor && a.isa == b.isa && a.threads == b.threads &&
         a.version == b.version;
}

// kNotFound: nothing was kept yet.
Result<Calibration> read_kept(const std::filesystem::path& path, const Calibration& subject) {
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    return bytes.error();
  }
  auto kept = read_calibration({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                               path.string());
  if (kept && !same_subject(*kept, subject)) {
    return invalid_input("{}: is of {}, {}, {} threads, version {}", path.string(),
                         in_quotes(kept->processor), in_quotes(kept->isa), kept->threads,
                         in_quotes(kept->version));
  }
  return kept;
}

// A whole sentence.
std::string why_not_kept(const Calibration& calibration) {
  if (!calibration.limited.empty()) {
    return fmt::format("The calibration is incomplete and not kept: {}.", calibration.limited);
  }
  if (!calibration.spread) {
    return "The calibration is not kept: this machine is too busy for more than one round of it.";
  }
  return fmt::format(
      "The calibration is not kept: this machine is busy, rates spread by {:.0f} %, at most {:.0f} "
      "% are needed.",
      100 * *calibration.spread, 100 * kMostCalibrationSpread);
}

Status keep(const Calibration& calibration, const std::filesystem::path& path) {
  const std::string text = calibration_json(calibration);
  auto file = OutputFile::create(path, /*overwrite=*/true, text.size());
  if (!file) {
    return file.error();
  }
  if (Status status = file->write(std::as_bytes(std::span(text))); !status) {
    return status;
  }
  return file->commit();
}

}  // namespace

std::string calibration_json(const Calibration& calibration) {
  Json json{{"format", kFormat},
            {"schema", kSchema},
            {"processor", calibration.processor},
            {"isa", calibration.isa},
            {"threads", calibration.threads},
            {"version", calibration.version},
            {"units", Json::array()},
            {"levels", Json::array()},
            {"loop_start_seconds", calibration.start_seconds},
            {"task_seconds", calibration.task_seconds},
            {"spread", calibration.spread ? Json(*calibration.spread) : Json(nullptr)},
            {"took_seconds", calibration.took_seconds}};
  for (const UnitPeak& peak : calibration.units) {
    json["units"].push_back(json_of(peak));
  }
  for (const MemoryLevel& level : calibration.levels) {
    json["levels"].push_back(json_of(level));
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

Result<Calibration> read_calibration(std::string_view json, std::string_view name) {
  std::string reason;
  const Json root = parse_without_duplicates(json, reason);
  Fields fields(root, "", reason);
  if (fields.text("format") != kFormat) {
    return invalid_input("{}: is not a calibration", name);
  }
  if (fields.count("schema", 0, INT64_MAX - 1) != kSchema) {
    return invalid_input("{}: is of another schema, expected {}", name, kSchema);
  }
  Calibration calibration;
  calibration.processor = fields.text("processor");
  calibration.isa = fields.text("isa");
  calibration.threads = static_cast<int>(fields.count("threads", 1, kMostThreads));
  calibration.version = fields.text("version");
  for (const Json& unit : fields.list("units")) {
    const auto where = fmt::format("units[{}]: ", calibration.units.size());
    calibration.units.push_back(read_unit(unit, where, reason));
  }
  for (const Json& level : fields.list("levels")) {
    const auto where = fmt::format("levels[{}]: ", calibration.levels.size());
    calibration.levels.push_back(read_level(level, where, reason));
  }
  calibration.start_seconds = fields.figure("loop_start_seconds", kLeastStart, kMostStart);
  calibration.task_seconds = fields.figure("task_seconds", 0, kMostStart);
  calibration.spread = fields.figure("spread", 0, kMostCalibrationSpread);
  calibration.took_seconds = fields.figure("took_seconds", 0, kMostTook);
  if (!reason.empty()) {
    return invalid_input("{}: {}", name, reason);
  }
  if (calibration.find(MathUnit::kFma) == nullptr || calibration.levels.empty()) {
    return invalid_input("{}: has no figure of fma or no level of memory", name);
  }
  return calibration;
}

std::string calibration_file_name(const Calibration& calibration) {
  const std::string subject = fmt::format("{}\n{}\n{}\n{}", calibration.processor, calibration.isa,
                                          calibration.threads, calibration.version);
  return fmt::format("calibration-{:.12}.json", sha256_hex(std::as_bytes(std::span(subject))));
}

Result<CachedCalibration> cached_calibration(const Backend& backend, const Machine& machine,
                                             const ThreadTeam& team,
                                             const CalibrationRequest& request,
                                             const CancelToken* cancel) {
  CachedCalibration result;
  const Calibration subject = subject_of(machine, team);
  const auto folder = make_cache_folder(request.cache);
  if (folder) {
    result.path = *folder / calibration_file_name(subject);
  } else {
    result.notes.push_back(fmt::format("The calibration is not kept: {}.", folder.error().message));
  }
  if (folder && !request.fresh) {
    auto kept = read_kept(result.path, subject);
    if (kept) {
      result.calibration = *std::move(kept);
      return result;
    }
    if (kept.error().code != ErrorCode::kNotFound) {
      result.notes.push_back(
          fmt::format("The calibration was measured anew: {}.", kept.error().message));
    }
  }
  auto measured = calibrate(backend, machine, team, cancel, request.effort);
  if (!measured) {
    return measured.error();
  }
  result.calibration = *std::move(measured);
  result.measured = true;
  if (!result.calibration.is_good()) {
    result.path.clear();
    result.notes.push_back(why_not_kept(result.calibration));
  } else if (folder) {
    if (Status status = keep(result.calibration, result.path); !status) {
      result.notes.push_back(
          fmt::format("The calibration is not kept: {}.", status.error().message));
      result.path.clear();
    }
  }
  return result;
}

}  // namespace mezzotint
