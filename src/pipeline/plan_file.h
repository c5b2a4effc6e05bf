// A plan in a file: what `tune` writes and --plan reads. JSON; docs/formats.md gives its keys.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
  // That name the network on a command line: "--model models/demo-brain32". Not in a file.
  std::string words = {};
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
  static constexpr std::string_view kKind = "mezzotint plan";
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

// "mezzotint tune --model M --size 64x64x64 --precision fp32 --out new-plan.json": what makes a
// plan for `here` and leaves the one in `path`. Without a size where the grid is not known yet (0).
[[nodiscard]] std::string tune_command(const PlanSubject& here, const std::filesystem::path& path);

// Whatever the file holds: one error, or a plan whose every key was understood. kUnsupported for
// another schema. Whether ops and implementations of these names exist is for compile() to say.
// `again`, for errors: what makes another.
Result<PlanFile> read_plan(const std::filesystem::path& path,
                           const std::string& again = "mezzotint tune");

// kInvalidInput when it was made for something else than `here`, which the line names.
Status check_plan_fits(const PlanFile& plan, const PlanSubject& here);

// The plan of a file that was read before `here` was known: checked, and errors of it later on give
// the command for `here`.
Result<Plan> fitting_plan(const PlanFile& file, const PlanSubject& here);

// Reads and checks; errors of the plan later on, too, give the command for `here`.
Result<PlanFile> plan_for(const std::filesystem::path& path, const PlanSubject& here);

}  // namespace mezzotint
