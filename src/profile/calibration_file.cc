#include "profile/calibration_file.h"

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "formats/json_fields.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 10;
constexpr std::size_t kMostEntries = 16;  // of units, and of levels
constexpr std::size_t kLongestText = 1000;
constexpr std::int64_t kMostThreads = 1 << 20;
// What no processor is beyond: operations and bytes per second, and seconds of a loop.
constexpr double kLeastRate = 1e6;
constexpr double kMostRate = 1e16;
constexpr double kLeastStart = 1e-10;
constexpr double kMostStart = 1;
constexpr double kMostTook = 1e6;  // seconds

double read_rate(JsonFields& fields, std::string_view key) {
  return fields.number(key, kLeastRate, kMostRate);
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

UnitPeak read_unit(JsonFields& fields) {
  UnitPeak peak;
  peak.unit = fields.named("unit", math_unit_from_name, "a known unit");
  peak.elements = fields.text("elements", kLongestText);
  if (!fields.has("absent")) {
    peak.one_thread = read_rate(fields, "flops_one_thread");
    peak.all_threads = read_rate(fields, "flops_all_threads");
    return peak;
  }
  peak.absent = fields.text("absent", kLongestText);
  if (peak.absent.empty()) {
    fields.refuse("absent", "a reason");
  }
  return peak;
}

Json json_of(const MemoryLevel& level) {
  return {{"name", level.name},
          {"capacity_bytes", level.bytes},
          {"caches", level.caches},
          {"bytes_per_second_one_thread", level.one_thread},
          {"bytes_per_second_all_threads", level.all_threads}};
}

MemoryLevel read_level(JsonFields& fields) {
  MemoryLevel level;
  level.name = fields.text("name", kLongestText);
  level.bytes = static_cast<std::uint64_t>(fields.whole("capacity_bytes", 0, INT64_MAX));
  level.caches = static_cast<int>(fields.whole("caches", 1, kMostThreads));
  level.one_thread = read_rate(fields, "bytes_per_second_one_thread");
  level.all_threads = read_rate(fields, "bytes_per_second_all_threads");
  return level;
}

Calibration read_fields(JsonFields& fields) {
  Calibration calibration;
  calibration.processor = fields.text("processor", kLongestText);
  calibration.isa = fields.text("isa", kLongestText);
  calibration.threads = static_cast<int>(fields.whole("threads", 1, kMostThreads));
  calibration.version = fields.text("version", kLongestText);
  fields.objects("units", kMostEntries,
                 [&](JsonFields& unit) { calibration.units.push_back(read_unit(unit)); });
  fields.objects("levels", kMostEntries,
                 [&](JsonFields& level) { calibration.levels.push_back(read_level(level)); });
  calibration.start_seconds = fields.number("loop_start_seconds", kLeastStart, kMostStart);
  calibration.task_seconds = fields.number("task_seconds", 0, kMostStart);
  calibration.spread = fields.number("spread", 0, kMostCalibrationSpread);
  calibration.took_seconds = fields.number("took_seconds", 0, kMostTook);
  if (calibration.find(MathUnit::kFma) == nullptr || calibration.levels.empty()) {
    fields.fail("has no figure of fma or no level of memory");
  }
  return calibration;
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

// What is in the place of the file and can be neither read nor replaced; empty: nothing is.
std::string obstacle(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    return "";
  }
  return fmt::format("{}: is {}, expected a file; remove it, or pass another folder with --cache",
                     path.string(),
                     std::filesystem::is_directory(status) ? "a folder" : "not a regular file");
}

// kNotFound: nothing was kept yet.
Result<Calibration> read_kept(const std::filesystem::path& path, const Calibration& subject) {
  const auto text = read_text_file(path, kMostBytes);
  if (!text) {
    return text.error();
  }
  auto kept = read_calibration(*text, path.string());
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
  Json json{{"kind", Calibration::kKind},
            {"schema", Calibration::kSchema},
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
  Calibration calibration;
  const Status status =
      read_json(json, name, kMostBytes, {Calibration::kKind, Calibration::kSchema, ""},
                [&](JsonFields& fields) { calibration = read_fields(fields); });
  return status ? Result<Calibration>(std::move(calibration)) : status.error();
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
  const auto note = [&](std::string text) {
    if (request.on_note) {
      request.on_note(text);
    }
    result.notes.push_back(std::move(text));
  };
  const auto not_kept = [&](std::string_view why) {
    note(fmt::format("The calibration is not kept: {}.", why));
    result.path.clear();
  };
  const Calibration subject = subject_of(machine, team);
  const auto folder = make_cache_folder(request.cache);
  if (!folder) {
    not_kept(folder.error().message);
  } else {
    result.path = *folder / calibration_file_name(subject);
    if (const std::string what = obstacle(result.path); !what.empty()) {
      not_kept(what);
    }
  }
  if (!result.path.empty() && !request.fresh) {
    auto kept = read_kept(result.path, subject);
    if (kept) {
      result.calibration = *std::move(kept);
      return result;
    }
    if (kept.error().code != ErrorCode::kNotFound) {
      note(fmt::format("The calibration is measured anew: {}.", kept.error().message));
    }
  }
  if (request.on_measure) {
    request.on_measure();
  }
  auto measured = calibrate(backend, machine, team, cancel, request.effort);
  if (!measured) {
    return measured.error();
  }
  result.calibration = *std::move(measured);
  result.measured = true;
  if (!result.calibration.is_good()) {
    note(why_not_kept(result.calibration));
    result.path.clear();
  } else if (!result.path.empty()) {
    if (Status status = keep(result.calibration, result.path); !status) {
      not_kept(status.error().message);
    }
  }
  return result;
}

}  // namespace mezzotint
