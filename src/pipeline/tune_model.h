// Finds a faster plan for a network on this machine, checks it against its precision's bounds,
// and writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/plan_file.h"
#include "tune/report.h"

namespace mezzotint {

struct TuneRequest {
  SubjectRequest subject;
  Precision precision = Precision::kFp32;
  std::filesystem::path out;  // the plan's file; empty: none is written
  bool overwrite = false;
  std::filesystem::path cache;                // a folder; empty: cache_folder()
  std::optional<std::filesystem::path> mask;  // what it is tried on: tune_condition()
  double max_seconds = 600;  // of all of it; docs/tune.md says what is left out first
  std::optional<std::uint64_t> memory_limit;
  bool force = false;  // also on a busy machine: MeasuringOptions::force
  StopwatchOptions stopwatch;
  // Told what the report's notes will say of the cache, before it is used; may be empty.
  std::function<void(const std::string& note)> on_note = {};
};

struct TuneProgress {
  std::string stage;  // "exploring", "measuring", "confirming", "checking a chain", ...
  int done = 0;
  int count = 0;  // 0: not known
};
using OnTuneProgress = std::function<void(const TuneProgress&)>;

// The plan that was chosen, and how.
struct TunedPlan {
  PlanFile file;
  TuneReport report;
};

// kResource before any work when two plans beside each other do not fit the memory, or the plan's
// file or the cache cannot be written. kCancelled leaves the cache and no plan.
Result<TunedPlan> tune_model(const TuneRequest& request, const Backend& backend,
                             const Machine& machine, const OnTuneProgress& on_progress,
                             const CancelToken* cancel);

}  // namespace mezzotint
