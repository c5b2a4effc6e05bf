#include "tune/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/noise.h"
#include "profile/profile.h"

namespace mezzotint {
namespace {

constexpr std::size_t kMostFlushBytes = std::size_t{64} << 20;
// Times the op's own bytes: what other ops touch between two uses of a value grows with the values.
constexpr std::size_t kFlushFactor = 8;
constexpr std::uint64_t kSeed = 1;
constexpr double kLostFactor = 3;
// Timed in turns: more would only be further apart.
constexpr std::size_t kMostTogether = 24;
// Of operands and weights that are in memory for that.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

// Memory of inputs and outputs. Ops that are timed in turns share it: the n-th input of so many
// bytes is the same for all.
class OperandPool {
 public:
  Result<std::byte*> input(const ValueType& type, int rank) { return get({type, rank, true}); }
  Result<std::byte*> output(const ValueType& type, int rank) { return get({type, rank, false}); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Wish {
    const ValueType& type;
    int rank;
    bool is_input;
  };

  Result<std::byte*> get(const Wish& wish) {
    const auto bytes = static_cast<std::size_t>(wish.type.bytes());
    AlignedBuffer& buffer = buffers_[{bytes, wish.type.dtype, wish.rank, wish.is_input}];
    if (buffer.size() == 0) {
      auto made = AlignedBuffer::allocate(bytes);
      if (!made) {
        return made.error();
      }
      buffer = std::move(*made);
      bytes_ += bytes;
      // Outputs are touched, as memory that has been in use is.
      if (wish.is_input) {
        fill(wish.type, buffer.data());
      } else {
        std::memset(buffer.data(), 0, bytes);
      }
    }
    return buffer.data();
  }

  std::map<std::tuple<std::size_t, DType, int, bool>, AlignedBuffer> buffers_;
  std::uint64_t bytes_ = 0;
};

OpTiming summarise_runs(std::vector<double> seconds) {
  const auto runs = static_cast<int>(seconds.size());
  const Spread spread = spread_of(std::move(seconds));
  return {spread.median, spread.relative(), runs};
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

namespace {

// Ops with all that they need to run.
class TimedOps {
 public:
  TimedOps(const Target& target, const ThreadTeam& team, std::span<std::byte> flush,
           std::uint64_t most_bytes)
      : target_(target), team_(team), flush_(flush), most_bytes_(most_bytes), scope_(team) {}

  // False: there is no room beside the others, and it was not added.
  Result<bool> add(const TimedWay& way) {
    const Graph& graph = *way.graph;
    auto kernel = way.implementation->prepare({graph, graph.op(0)}, target_);
    if (!kernel) {
      return kernel.error();
    }
    const std::uint64_t packed = (*kernel)->packed_bytes();
    if (!ops_.empty() && pool_.bytes() + packed_bytes_ + packed > most_bytes_) {
      return false;
    }
    packed_bytes_ += packed;
    NoiseParameters parameters;
    if (Status status = (*kernel)->load(parameters); !status) {
      return status.error();
    }
    TimedOp op{std::move(*kernel), {}, {}, 0};
    if (Status status = add_operands(graph, op); !status) {
      return status.error();
    }
    if (const std::size_t bytes = op.kernel->workspace_bytes(); bytes > workspace_.size()) {
      auto workspace = AlignedBuffer::allocate(bytes);
      if (!workspace) {
        return workspace.error();
      }
      workspace_ = std::move(*workspace);
      std::memset(workspace_.data(), 0, workspace_.size());
    }
    op.flushed = std::min<std::size_t>(flush_.size(), kFlushFactor * (op.flushed + packed));
    ops_.push_back(std::move(op));
    return true;
  }

  [[nodiscard]] std::size_t size() const { return ops_.size(); }

  // Seconds of one run.
  double run(std::size_t index) const {
    const TimedOp& op = ops_[index];
    flush(op.flushed);
    const auto start = std::chrono::steady_clock::now();
    op.kernel->launch({op.inputs, op.outputs, workspace_.data(), team_});
    return seconds_since(start);
  }

  double run(std::size_t first, std::size_t last) const {
    double seconds = 0;
    for (std::size_t index = first; index < last; ++index) {
      seconds += run(index);
    }
    return seconds;
  }

 private:
  // On all threads: each core has a cache of its own.
  void flush(std::size_t bytes) const {
    const auto parts = static_cast<std::size_t>(team_.size());
    team_.parallel_for(team_.size(), [&](std::int64_t part) {
      const std::size_t first = bytes * static_cast<std::size_t>(part) / parts;
      const std::size_t last = bytes * (static_cast<std::size_t>(part) + 1) / parts;
      std::memset(flush_.data() + first, 1, last - first);
    });
  }

  struct TimedOp {
    std::unique_ptr<Kernel> kernel;
    std::vector<Buffer> inputs;
    std::vector<Buffer> outputs;
    std::size_t flushed = 0;  // bytes
  };

  Status add_operands(const Graph& graph, TimedOp& op) {
    std::map<ValueId, std::byte*> data;  // none for parameters
    for (const ValueId id : graph.inputs()) {
      const ValueType& type = graph.value(id).type;
      auto buffer = pool_.input(type, static_cast<int>(data.size()));
      if (!buffer) {
        return buffer.error();
      }
      data[id] = *buffer;
      op.flushed += static_cast<std::size_t>(type.bytes());
    }
    for (const ValueId id : graph.op(0).inputs) {
      op.inputs.push_back({data[id]});
    }
    for (const ValueId id : graph.op(0).outputs) {
      const ValueType& type = graph.value(id).type;
      auto buffer = pool_.output(type, static_cast<int>(op.outputs.size()));
      if (!buffer) {
        return buffer.error();
      }
      op.outputs.push_back({*buffer});
      op.flushed += static_cast<std::size_t>(type.bytes());
    }
    return {};
  }

  const Target& target_;
  const ThreadTeam& team_;
  std::span<std::byte> flush_;
  std::uint64_t most_bytes_;
  ComputeScope scope_;
  OperandPool pool_;
  AlignedBuffer workspace_;
  std::vector<TimedOp> ops_;
  std::uint64_t packed_bytes_ = 0;
};

// Why timing stops before it is done.
enum class Stop : std::uint8_t { kNone, kCancelled, kDeadline };

Stop stop_of(const StopwatchOptions& options, const CancelToken* cancel) {
  if (stop_requested(cancel)) {
    return Stop::kCancelled;
  }
  return options.deadline.is_over() ? Stop::kDeadline : Stop::kNone;
}

// Rounds of one run each, until they are enough. Nothing: it was stopped.
std::optional<std::vector<OpTiming>> time_in_turns(const TimedOps& ops,
                                                   const std::vector<std::size_t>& which,
                                                   const StopwatchOptions& options,
                                                   const CancelToken* cancel) {
  std::vector<std::vector<double>> seconds(which.size());
  const auto start = std::chrono::steady_clock::now();
  const double enough = options.enough_seconds * static_cast<double>(which.size());
  for (int round = 0;
       round < options.least_runs || (round < options.most_runs && seconds_since(start) < enough);
       ++round) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      if (stop_of(options, cancel) != Stop::kNone) {
        return std::nullopt;
      }
      seconds[i].push_back(ops.run(which[i]));
    }
  }
  std::vector<OpTiming> timings;
  for (std::vector<double>& each : seconds) {
    timings.push_back(summarise_runs(std::move(each)));
  }
  return timings;
}

double unsteady_seconds(const std::vector<OpTiming>& timings, const StopwatchOptions& options) {
  double total = 0;
  for (const OpTiming& timing : timings) {
    total += is_steady(timing, options) ? 0 : timing.seconds;
  }
  return total;
}

}  // namespace

Result<std::vector<OpTiming>> Stopwatch::measure(std::span<const TimedWay> ways,
                                                 const StopwatchOptions& options,
                                                 const CancelToken* cancel) const {
  TimedOps ops(target_, *team_, {flush_.data(), flush_.size()}, kMostBytes);
  std::vector<OpTiming> timings;
  const auto end = [](Stop stop) -> Result<std::vector<OpTiming>> {
    if (stop == Stop::kCancelled) {
      return stopped();
    }
    return std::vector<OpTiming>();
  };
  std::map<const Graph*, double> fastest;
  for (const TimedWay& way : ways.first(std::min(ways.size(), kMostTogether))) {
    if (const Stop stop = stop_of(options, cancel); stop != Stop::kNone) {
      return end(stop);
    }
    const auto is_added = ops.add(way);
    if (!is_added) {
      return is_added.error();
    }
    if (!*is_added) {
      break;
    }
    const double first = ops.run(ops.size() - 1);
    timings.push_back({first, 0, 1});
    const auto known = fastest.try_emplace(way.graph, first).first;
    known->second = std::min(known->second, first);
  }
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const auto has_lost = [&] {
      return timings[i].seconds >
             std::min(ways[i].lost_seconds, kLostFactor * fastest.at(ways[i].graph));
    };
    // A first run may be slow for reasons of its own: cold code, another process.
    if (has_lost()) {
      if (const Stop stop = stop_of(options, cancel); stop != Stop::kNone) {
        return end(stop);
      }
      timings[i] = {std::min(timings[i].seconds, ops.run(i)), 0, 2};
    }
    if (!has_lost()) {
      running.push_back(i);
    }
  }
  double least_unsteady = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition <= options.repetitions && least_unsteady > 0; ++repetition) {
    const auto now = time_in_turns(ops, running, options, cancel);
    if (!now && repetition > 0 && stop_of(options, cancel) == Stop::kDeadline) {
      break;
    }
    if (!now) {
      return end(stop_of(options, cancel));
    }
    if (const double unsteady = unsteady_seconds(*now, options); unsteady < least_unsteady) {
      least_unsteady = unsteady;
      for (std::size_t i = 0; i < running.size(); ++i) {
        timings[running[i]] = (*now)[i];
      }
    }
  }
  return timings;
}

Result<PairedTiming> Stopwatch::compare(std::span<const TimedWay> standard,
                                        std::span<const TimedWay> changed,
                                        const StopwatchOptions& options,
                                        const CancelToken* cancel) const {
  TimedOps ops(target_, *team_, {flush_.data(), flush_.size()},
               std::numeric_limits<std::uint64_t>::max());
  for (const auto& side : {standard, changed}) {
    for (const TimedWay& way : side) {
      if (const auto is_added = ops.add(way); !is_added) {
        return is_added.error();
      }
    }
  }
  ops.run(0, ops.size());
  std::vector<double> ratios;
  std::vector<double> standard_seconds;
  const auto start = std::chrono::steady_clock::now();
  const auto pairs = [&] { return static_cast<int>(ratios.size()); };
  while (pairs() < options.least_pairs ||
         (pairs() < options.most_pairs && seconds_since(start) < options.enough_pair_seconds)) {
    if (const Stop stop = stop_of(options, cancel); stop == Stop::kCancelled) {
      return stopped();
    } else if (stop == Stop::kDeadline) {
      if (pairs() < options.least_pairs) {
        return PairedTiming();
      }
      break;
    }
    double seconds[2] = {};  // standard, changed
    for (const int turn : {0, 1}) {
      const bool is_changed = (turn + pairs()) % 2 == 1;
      seconds[is_changed ? 1 : 0] =
          is_changed ? ops.run(standard.size(), ops.size()) : ops.run(0, standard.size());
    }
    ratios.push_back(seconds[1] / seconds[0]);
    standard_seconds.push_back(seconds[0]);
  }
  const Spread ratio = spread_of(ratios);
  return PairedTiming{spread_of(standard_seconds).median, ratio.median, ratio.high, pairs()};
}

}  // namespace mezzotint
