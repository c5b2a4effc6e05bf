// A chain that can be interrupted: what it holds after a step, in a file beside the volume.
//
// The file has two slots, written in turn: the values first, then, when they are on the disk, the
// step and a hash of both. Whenever a process or the machine stops, one slot is whole.
// docs/formats.md gives the layout.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "base/locked_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// "scan.nii.gz" -> "scan.part", in the same folder. As long as the sidecar's name, so that a name
// that leaves room for that leaves room for both.
[[nodiscard]] std::filesystem::path run_state_path(const std::filesystem::path& out);

// Which chain a state belongs to.
struct ChainShape {
  std::string identity;        // run_sha256: 64 hexadecimal digits
  int steps = 0;               // of the whole chain
  std::uint64_t elements = 0;  // floats of x
  std::uint64_t carried = 0;   // floats of carried_values(): 0 or as many

  bool operator==(const ChainShape&) const = default;
};

// What a state file says.
struct RunStateContent {
  ChainShape shape;
  int step = 0;  // finished ones in the newest whole slot; 0: there is none yet
  int slot = 0;  // which one that is
};

// Whether it begins as a state file does, of whatever version.
[[nodiscard]] bool is_run_state(const InputFile& file);
// Checks all of it, for any content whatever, and allocates nothing of a size that the file states.
// kInvalidInput when it is damaged or no state file, kUnsupported when another version wrote it.
Result<RunStateContent> read_run_state(const InputFile& file);
// x and the carried values after `content.step` steps, which is not 0. After the last step there is
// nothing to carry, and `carried` stays as it is. kInvalidInput when a value is not finite.
Status read_values(const InputFile& file, const RunStateContent& content, std::span<float> x,
                   std::span<float> carried);

class RunState {
 public:
  struct Options {
    std::filesystem::path out;  // the volume
    ChainShape shape;
    // Starts anew where a state of another run, or a damaged one, would be refused.
    bool overwrite = false;
    double save_seconds = 0;  // time between two saves; 0: a state is gone on with, but none made
  };

  // Takes the state that an interrupted run has left, or creates a file with all its space
  // reserved, and holds it: a second run to the same volume is refused (kResource) while this
  // object lives. Nothing when save_seconds is 0 and there is none. kInvalidInput for a state of
  // another run, a damaged one and for a file that is no state at all, which stays in any case.
  static Result<std::optional<RunState>> open(const Options& options);

  RunState(RunState&&) noexcept = default;
  RunState& operator=(RunState&&) noexcept = default;
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;
  // Removes the file when it holds no step.
  ~RunState();

  // Finished steps that the file holds; 0: none.
  [[nodiscard]] int step() const { return step_; }
  // The file holds steps and is still where the next run will look.
  [[nodiscard]] bool is_kept() const;

  // As read_values().
  Status load(std::span<float> x, std::span<float> carried) const;
  // When this returns, the state is on the disk. An error leaves the state of the step before.
  Status save(int step, std::span<const float> x, std::span<const float> carried);
  // The same when save_seconds have passed since the last time. kResource when the file is no
  // longer where the next run, and the volume, would be.
  Status save_when_due(int step, std::span<const float> x, std::span<const float> carried);
  // The volume is there, or never will be.
  void remove();

 private:
  using Clock = std::chrono::steady_clock;

  RunState(LockedFile file, const Options& options, const RunStateContent& content);
  static Result<std::optional<RunState>> take_over(LockedFile file, const Options& options);
  static Result<std::optional<RunState>> create(const std::filesystem::path& path,
                                                const Options& options);

  std::optional<LockedFile> file_;  // until it is removed
  ChainShape shape_;
  double save_seconds_;
  int step_;
  int slot_;
  Clock::time_point saved_;
};

}  // namespace mezzotint
