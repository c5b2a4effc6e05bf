// Activations of one evaluation in a file, and the comparison of two such files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/file.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"

namespace mezzotint {

// The file is safetensors: x, condition and t first, then the activations in the order in which
// they are computed, row-major float32. Its metadata, all texts: "order" (the activations' names,
// separated by spaces), "model", "model_sha256", "size" (x, y, z), "t", "precision", "isa",
// "threads", "version", "implementations" (op=implementation, separated by spaces).
// A file with the same tensor names from another program can be compared with it; so can that
// program take its x, condition and t.

struct DumpOptions {
  // Ops or modules, such as "input_blocks.3" or "eps". Naming one that was fused away keeps it,
  // which splits the fusion. {"all"}: every activation that the program really makes.
  std::vector<std::string> names;
  Precision precision = Precision::kFp32;
  bool overwrite = false;
  std::optional<std::uint64_t> memory_limit;  // bytes
};

// Evaluates once and writes the activations to `out`, complete or not at all. kInvalidInput when a
// name is not a float32 result of an op, or when `out` is a file that the subject reads.
Status dump_activations(Subject& subject, const Backend& backend, const Machine& machine,
                        const DumpOptions& options, const std::filesystem::path& out,
                        const CancelToken* cancel = nullptr);

struct TensorDifference {
  std::string name;
  double relative_l2 = 0;  // infinity when sizes differ, or when either is not finite
  double max_error = 0;
  std::string note;  // when there is more to say than numbers
};

struct DumpDifference {
  double tolerance = 0;
  std::vector<TensorDifference> tensors;  // in both files, in order of execution
  std::vector<std::string> only_in_a;
  std::vector<std::string> only_in_b;

  // The first in order of execution whose relative_l2 is above the tolerance; null when none is.
  [[nodiscard]] const TensorDifference* first() const;
  [[nodiscard]] std::vector<const TensorDifference*> worst(std::size_t count) const;
};

inline constexpr double kDumpTolerance = 1e-5;

// |a - b| / |b| per tensor: `b` is the one to be believed. The order of execution is that of
// `order` in a's metadata, else in b's, else of a's tensors. kInvalidInput when no name is in both.
Result<DumpDifference> diff_dumps(const std::filesystem::path& a, const std::filesystem::path& b,
                                  double tolerance = kDumpTolerance);

}  // namespace mezzotint
