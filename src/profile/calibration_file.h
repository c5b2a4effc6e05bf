// Calibrations as files of the cache folder. docs/formats.md describes them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/thread_team.h"
#include "graph/machine.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "profile/calibrate.h"
#include "profile/calibration.h"

namespace mezzotint {

[[nodiscard]] std::string calibration_json(const Calibration& calibration);
// `name` begins each refusal: kUnsupported for another schema, kInvalidInput unless it is a
// complete calibration whose figures a machine can have, with float32's unit and a level of memory.
[[nodiscard]] Result<Calibration> read_calibration(std::string_view json, std::string_view name);

// "calibration-0123456789ab.json": follows from processor, ISA, threads and version.
[[nodiscard]] std::string calibration_file_name(const Calibration& calibration);

struct CalibrationRequest {
  std::filesystem::path cache;  // a folder; empty: the usual one, see base/cache_folder.h
  bool fresh = false;           // measure even if there is a file
  CalibrationEffort effort;
  // Told each of the notes at once, and before a measurement begins; both may be empty.
  std::function<void(const std::string& note)> on_note = {};
  std::function<void()> on_measure = {};
};

struct CachedCalibration {
  Calibration calibration;
  std::filesystem::path path;  // of its file; empty when there is none
  bool measured = false;       // now, and not read
  // Whole sentences: a file that was of no use and why, a cache that cannot be written.
  std::vector<std::string> notes;
};

// Reads the calibration of this machine, team and version from the cache, or measures and keeps it
// there. A file that is damaged or belongs to something else is replaced, and a cache that cannot
// be used, or that has something else in the file's place, only costs the next run the time: all
// are notes. Links are read, and replaced themselves. One that is not good
// (Calibration::is_good) is not kept, which is a note, too. Fails as calibrate() does.
[[nodiscard]] Result<CachedCalibration> cached_calibration(const Backend& backend,
                                                           const Machine& machine,
                                                           const ThreadTeam& team,
                                                           const CalibrationRequest& request,
                                                           const CancelToken* cancel = nullptr);

}  // namespace mezzotint
