// Timings of single ops on this machine, kept in a file: docs/formats.md has its form.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "base/locked_file.h"
#include "mezzotint/result.h"
#include "tune/stopwatch.h"

namespace mezzotint {

// What timings are valid for, in one line: Mezzotint's version, the backend with its libraries,
// processor, ISA and number of threads.
[[nodiscard]] std::string timing_scope(const Backend& backend, const Machine& machine);

// What a file holds, for who asks about it.
struct TimingsSummary {
  int form = 0;
  std::string scope;  // timing_scope(), as the file has it
  int timings = 0;    // of single ops
  int comparisons = 0;
  int damaged = 0;  // lines
};

// Whether a file that begins so is one of timings, of whatever form.
[[nodiscard]] bool is_timings(std::string_view start);

// Reads without holding the file. kUnsupported for another form.
[[nodiscard]] Result<TimingsSummary> summarize_timings(const std::filesystem::path& path);

// One process at a time holds a file. Each timing is on disk, whole, before the next is measured;
// a process that is killed loses at most the line it was writing.
class TimingCache {
 public:
  // In `folder`, which exists. A file of this scope is read: lines that are damaged are dropped,
  // and a file that is none of ours, another scope's, or larger than 64 MB is written anew; note()
  // says so. What is no regular file is refused and left alone. The line says what to do; kResource
  // when another process holds the file or it cannot be written.
  static Result<TimingCache> open(const std::filesystem::path& folder, const std::string& scope);

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  // What was dropped, in a sentence; empty when nothing was.
  [[nodiscard]] const std::string& note() const { return note_; }
  [[nodiscard]] std::size_t size() const { return timings_.size(); }

  // `op`: the text of a one_op_graph.
  [[nodiscard]] std::optional<OpTiming> find(std::string_view op,
                                             std::string_view implementation) const;
  Status add(std::string_view op, std::string_view implementation, const OpTiming& timing);

  // `sides`: what was compared, in words that name nothing else.
  [[nodiscard]] std::optional<PairedTiming> find_pairs(std::string_view sides) const;
  Status add_pairs(std::string_view sides, const PairedTiming& timing);

 private:
  TimingCache(LockedFile file, std::uint64_t end) : file_(std::move(file)), end_(end) {}

  LockedFile file_;
  std::uint64_t end_ = 0;  // where the next line goes
  std::string note_;
  std::map<std::string, OpTiming, std::less<>> timings_;  // "<hash of the op> <implementation>"
};

}  // namespace mezzotint
