// A plan in a file: what `tune` writes and --plan reads. JSON; docs/formats.md gives its keys.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/system.h"
#include "graph/plan.h"
#include "mezzotint/result.h"

namespace mezzotint {

// What a plan is made for; it is of no use for anything else.
struct PlanSubject {
  std::string model;                   // for messages
  std::string model_sha256;            // Model::sha256, Subject::hash()
  std::array<std::int64_t, 3> grid{};  // x, y, z
  Precision precision = Precision::kFp32;
  Isa isa = Isa::kAvx2;
};

// How it was found. All for people; nothing here decides anything.
struct PlanProvenance {
  std::string processor;
  int threads = 0;
  std::optional<double> predicted_seconds;  // of an evaluation
  std::optional<double> measured_seconds;
  std::optional<double> default_seconds;  // measured with the default plan beside it
  std::optional<double> relative_l2;      // of an evaluation, the worst that was measured
  std::vector<std::string> notes;         // one line each
};

struct PlanFile {
  static constexpr int kSchema = 1;

  PlanSubject subject;
  std::string version;  // of mezzotint
  std::string backend;  // Backend::description()
  Plan plan;            // its precision is the subject's
  PlanProvenance provenance;
  // When it was read: the file's name without its folder, and its hash.
  std::string name;
  std::string sha256;
};

// The file's content, ending in a newline, which read_plan() takes: texts for people are cut where
// they are longer than it allows.
[[nodiscard]] std::string plan_json(const PlanFile& plan);

// Whatever the file holds: one error, or a plan whose every key was understood. kUnsupported for
// another schema. Whether ops and implementations of these names exist is for compile() to say.
Result<PlanFile> read_plan(const std::filesystem::path& path);

// kInvalidInput when it was made for something else than `here`, which the line names.
Status check_plan_fits(const PlanFile& plan, const PlanSubject& here);

// Reads and checks.
Result<PlanFile> plan_for(const std::filesystem::path& path, const PlanSubject& here);

}  // namespace mezzotint
