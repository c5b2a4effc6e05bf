#include "tune/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/noise.h"

namespace mezzotint {
namespace {

constexpr std::size_t kMostFlushBytes = std::size_t{64} << 20;
// Times the op's own bytes: what other ops touch between two uses of a value grows with the values.
constexpr std::size_t kFlushFactor = 8;
constexpr std::uint64_t kSeed = 1;

// A pattern of noise as long as it takes for no pattern to matter, over and over.
void fill_with_noise(std::span<float> out) {
  constexpr std::size_t kPattern = std::size_t{1} << 16;
  const std::span<float> start = out.first(std::min(kPattern, out.size()));
  fill_normal({kSeed, 0, 0}, /*first_index=*/0, start);
  for (std::size_t at = start.size(); at < out.size(); at += kPattern) {
    std::memcpy(out.data() + at, start.data(), std::min(kPattern, out.size() - at) * sizeof(float));
  }
}

class NoiseParameters final : public ParameterSource {
 public:
  Status read(std::string_view /*name*/, std::span<float> out) override {
    fill_with_noise(out);
    return {};
  }
};

// Values that an op of this type can be given: moments have positive variances, and the only
// integers are rows of tables that have at least one.
void fill(const ValueType& type, std::byte* data) {
  const auto count = static_cast<std::size_t>(type.shape.elements());
  if (type.dtype == DType::kF32) {
    fill_with_noise({reinterpret_cast<float*>(data), count});
  } else if (type.dtype == DType::kF64) {
    std::fill_n(reinterpret_cast<double*>(data), count, 1.0);
  } else {
    std::memset(data, 0, static_cast<std::size_t>(type.bytes()));
  }
}

// Memory of the op's inputs and outputs.
class Operands {
 public:
  Status allocate(const Graph& graph) {
    const Op& op = graph.op(0);
    for (const ValueId id : graph.inputs()) {
      if (Status status = add(graph.value(id)); !status) {
        return status;
      }
      fill(graph.value(id).type, buffers_.back().data());
      data_[id] = buffers_.back().data();
    }
    for (const ValueId id : op.inputs) {
      inputs.push_back({data_[id]});  // none for parameters
    }
    for (const ValueId id : op.outputs) {
      if (Status status = add(graph.value(id)); !status) {
        return status;
      }
      // Touched, as memory that has been in use is.
      std::memset(buffers_.back().data(), 0, buffers_.back().size());
      outputs.push_back({buffers_.back().data()});
    }
    return {};
  }

  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  std::size_t bytes = 0;

 private:
  Status add(const Value& value) {
    bytes += static_cast<std::size_t>(value.type.bytes());
    auto buffer = AlignedBuffer::allocate(static_cast<std::size_t>(value.type.bytes()));
    if (!buffer) {
      return buffer.error();
    }
    buffers_.push_back(std::move(*buffer));
    return {};
  }

  std::vector<AlignedBuffer> buffers_;
  std::map<ValueId, std::byte*> data_;
};

double quantile(const std::vector<double>& sorted, double fraction) {
  const double at = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

OpTiming summarise_runs(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const double median = quantile(seconds, 0.5);
  const double range = quantile(seconds, 0.75) - quantile(seconds, 0.25);
  return {median, median > 0 ? range / median : 0, static_cast<int>(seconds.size())};
}

}  // namespace

bool is_steady(const OpTiming& timing, const StopwatchOptions& options) {
  return timing.spread <= options.most_spread || timing.seconds < options.matters_seconds;
}

Result<Stopwatch> Stopwatch::create(const Target& target, const ThreadTeam& team) {
  auto flush = AlignedBuffer::allocate(kMostFlushBytes);
  if (!flush) {
    return flush.error();
  }
  return Stopwatch(target, team, std::move(*flush));
}

Result<OpTiming> Stopwatch::measure(const Graph& graph, const Implementation& implementation,
                                    const StopwatchOptions& options,
                                    const CancelToken* cancel) const {
  auto kernel = implementation.prepare({graph, graph.op(0)}, target_);
  if (!kernel) {
    return kernel.error();
  }
  NoiseParameters parameters;
  if (Status status = (*kernel)->load(parameters); !status) {
    return status.error();
  }
  Operands operands;
  if (Status status = operands.allocate(graph); !status) {
    return status.error();
  }
  auto workspace = AlignedBuffer::allocate((*kernel)->workspace_bytes());
  if (!workspace) {
    return workspace.error();
  }
  if (workspace->size() > 0) {
    std::memset(workspace->data(), 0, workspace->size());
  }
  const ComputeScope scope(*team_);
  const std::size_t flushed =
      std::min(flush_.size(), kFlushFactor * (operands.bytes + (*kernel)->packed_bytes()));
  const auto run = [&] {
    std::memset(flush_.data(), 1, flushed);
    const auto start = std::chrono::steady_clock::now();
    (*kernel)->launch({operands.inputs, operands.outputs, workspace->data(), *team_});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto cancelled = [&] { return cancel != nullptr && cancel->requested(); };
  const Error stopped{ErrorCode::kCancelled, "stopped on request"};
  if (const double first = run(); options.lost_seconds > 0 && first > options.lost_seconds) {
    return OpTiming{first, 0, 1};
  }
  OpTiming best;
  for (int repetition = 0; repetition <= options.repetitions; ++repetition) {
    std::vector<double> seconds;
    const auto start = std::chrono::steady_clock::now();
    const auto is_enough = [&] {
      const auto runs = static_cast<int>(seconds.size());
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      return runs >= options.least_runs &&
             (runs >= options.most_runs || elapsed.count() >= options.enough_seconds);
    };
    while (!is_enough()) {
      if (cancelled()) {
        return stopped;
      }
      seconds.push_back(run());
    }
    const OpTiming timing = summarise_runs(std::move(seconds));
    if (best.runs == 0 || timing.spread < best.spread) {
      best = timing;
    }
    if (is_steady(best, options)) {
      break;
    }
  }
  return best;
}

}  // namespace mezzotint
