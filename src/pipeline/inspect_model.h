// What mezzotint inspect tells of files of tensors, above all of checkpoints.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "formats/tensor_file.h"
#include "graph/machine.h"
#include "imaging/labels.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "models/med_ddpm.h"
#include "pipeline/network_cost.h"

namespace mezzotint {

struct DTypeUse {
  DType dtype = DType::kF32;
  std::int64_t tensors = 0;
  std::uint64_t bytes = 0;  // as stored
};

struct GroupSummary {
  std::string name;  // "" where the file has no groups
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
  std::vector<DTypeUse> types;  // most bytes first
};

struct TensorsSummary {
  std::filesystem::path file;
  std::int64_t files = 1;        // with the shards that it names
  std::uint64_t file_bytes = 0;  // of all of them
  std::string format;            // tensor_format()'s
  std::int64_t tensors = 0;
  std::int64_t group_count = 0;
  std::vector<GroupSummary> groups;  // the first kListedGroups in file order
  std::vector<TensorInfo> first;     // the first kListedTensors
};

// Trainers save two or three; a file may have as many as tensors.
inline constexpr std::size_t kListedGroups = 16;
inline constexpr std::size_t kListedTensors = 10;

// Reads no values.
[[nodiscard]] TensorsSummary summarize(const TensorFile& file, std::string_view format);

struct ModelSummary {
  std::string sha256;                   // of the checkpoint
  std::string weights;                  // "ema" or "model": what `generate --weights` has to say
  bool weights_default = true;          // `generate` takes them unless --weights says otherwise
  std::string group;                    // that holds them; "": the file has no groups
  std::string recipe;                   // "whole-head", "brats", "generic"
  std::vector<std::string> modalities;  // of the image channels; empty: unknown
  MedDdpmConfig config;
  std::int64_t parameters = 0;
  bool finite = false;                              // every weight was read, and is finite
  std::optional<std::array<std::int64_t, 3>> grid;  // x, y, z, without --size; nothing: unknown
  std::optional<std::array<double, 3>> spacing_mm;
  std::string frame;
  std::vector<LabelName> labels;
  std::optional<std::string> licence;
  std::optional<int> timesteps;   // length of the schedule; nothing: `generate` needs --timesteps
  bool schedule_checked = false;  // the file holds the buffers, and they are the cosine schedule's
  std::optional<std::int64_t> step;  // training steps done

  std::array<std::int64_t, 3> cost_grid{};   // x, y, z; what follows is for this grid
  std::vector<LevelCost> levels;             // see level_costs(); empty: no grid is known
  std::optional<MemoryPlan> memory;          // nothing: beyond this machine's memory
  std::uint64_t memory_bytes = 0;            // what this machine allows; 0: unknown
  std::optional<std::int64_t> largest_cube;  // side, 0: not even the smallest; nothing: unknown
  std::vector<std::string> notes;            // one line each: what does not fit
};

struct ModelQuestions {
  std::optional<std::string> weights;
  std::string variant = "auto";
  std::optional<std::array<std::int64_t, 3>> size;  // x, y, z
  bool check = true;
};

struct ModelAnswer {
  ModelSummary summary;
  std::optional<Error> problem;  // a size that cannot be; a weight that is damaged or not finite
};

// The errors are open_model()'s, and kCancelled.
Result<ModelAnswer> inspect_model(const std::filesystem::path& path,
                                  const ModelQuestions& questions, const CancelToken* cancel);

}  // namespace mezzotint
