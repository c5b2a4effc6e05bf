#include "profile/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/caches.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/system.h"
#include "mezzotint/version.h"
#include "profile/profile.h"

namespace mezzotint {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What a run of a probe says, and where the median goes; null: nowhere.
struct Measurement {
  double* figure = nullptr;
  bool is_rate = false;
  std::function<double()> run;
  std::vector<double> samples;
};

// Of one parallel loop whose tasks do nothing. On a busy machine a loop may take as long as the
// system lets others run, so that the time ends it, too.
double loop_seconds(const ThreadTeam& team, std::int64_t tasks) {
  constexpr int kLoops = 50;
  constexpr double kMostSeconds = 0.1;
  const auto begin = Clock::now();
  int loops = 0;
  do {
    team.parallel_for(tasks, [](std::int64_t) {});
    ++loops;
  } while (loops < kLoops && seconds_since(begin) < kMostSeconds);
  return seconds_since(begin) / loops;
}

// Collects the measurements of a machine, then takes them in turns: a neighbour that wakes up for a
// second disturbs one sample of many figures, not all samples of one.
class Calibrator {
 public:
  Calibrator(const Backend& backend, const Machine& machine, const ThreadTeam& team,
             const CalibrationEffort& effort)
      : probes_(backend.probes()), machine_(machine), team_(team), effort_(effort) {
    calibration_.processor = machine.processor;
    calibration_.isa = name_of(machine.isa);
    calibration_.threads = team.size();
    calibration_.version = kVersion;
  }

  Result<Calibration> run(const CancelToken* cancel) {
    const auto begin = Clock::now();
    if (Status status = add_levels(cancel); !status) {
      return status.error();
    }
    add_units();
    add_loops();
    for (int round = 0; needs_round(round); ++round) {
      const double so_far = seconds_since(begin);
      if (round > 0 && so_far + so_far / round > effort_.most_seconds) {
        break;
      }
      for (Measurement& measurement : measurements_) {
        if (stop_requested(cancel)) {
          return stopped();
        }
        measurement.samples.push_back(measurement.run());
      }
    }
    finish();
    calibration_.took_seconds = seconds_since(begin);
    return std::move(calibration_);
  }

 private:
  // After so many of them.
  [[nodiscard]] bool needs_round(int rounds) const {
    return rounds < effort_.rounds ||
           (rounds < CalibrationEffort::kMostRepetitions * effort_.rounds &&
            spread().value_or(INFINITY) > kRepeatCalibrationSpread);
  }

  // Nothing after less than two rounds.
  [[nodiscard]] std::optional<double> spread() const {
    std::vector<double> spreads;
    for (const Measurement& measurement : measurements_) {
      if (measurement.samples.size() < 2) {
        return std::nullopt;
      }
      if (measurement.is_rate) {
        spreads.push_back(spread_of(measurement.samples).relative());
      }
    }
    return spread_of(std::move(spreads)).median;
  }

  void add(double& figure, bool is_rate, std::function<double()> run) {
    measurements_.push_back({&figure, is_rate, std::move(run), {}});
  }

  // A round says how fast the unit was on average, and the peak is the best piece of all rounds.
  void add_unit(double& peak, const UnitProbe& probe, const ThreadTeam& team) {
    constexpr int kPieces = CalibrationEffort::kUnitPieces;
    measurements_.push_back({nullptr,
                             true,
                             [this, &peak, &probe, &team] {
                               double sum = 0;
                               for (int piece = 0; piece < kPieces; ++piece) {
                                 const double rate =
                                     probe.run(machine_, team, effort_.run_seconds / kPieces);
                                 peak = std::max(peak, rate);
                                 sum += rate;
                               }
                               return sum / kPieces;
                             },
                             {}});
  }

  void add_units() {
    calibration_.units.reserve(probes_.units.size());
    for (const UnitProbe* probe : probes_.units) {
      UnitPeak& peak = calibration_.units.emplace_back();
      peak.unit = probe->unit();
      peak.elements = probe->elements();
      peak.absent = probe->refusal(machine_).value_or("");
      if (peak.absent.empty()) {
        add_unit(peak.one_thread, *probe, one_);
        add_unit(peak.all_threads, *probe, team_);
      }
    }
  }

  Status add_levels(const CancelToken* cancel) {
    if (probes_.stream == nullptr) {
      return {};
    }
    MemoryShape shape = memory_shape(machine_, allowed_processors(), effort_.root);
    shape.available_bytes = std::min(shape.available_bytes, effort_.most_available);
    const StreamSizes one = fit(stream_sizes(shape, 1));
    const StreamSizes all = fit(stream_sizes(shape, team_.size()));
    auto memory =
        AlignedBuffer::allocate(std::max({one.l2, all.l2, one.l3, all.l3, one.dram, all.dram}));
    if (!memory) {
      return memory.error();
    }
    memory_ = *std::move(memory);
    touch_memory(cancel);
    calibration_.levels.reserve(3);
    add_level({"L2", shape.l2_bytes, 0, 0, shape.l2_count}, one.l2, all.l2);
    add_level({"L3", shape.l3_bytes, 0, 0, shape.l3_count}, one.l3, all.l3);
    add_level({"DRAM"}, one.dram, all.dram);
    return {};
  }

  // Leaves out what does not fit into the memory that the probes may take.
  StreamSizes fit(StreamSizes sizes) {
    const std::uint64_t caches = std::max(sizes.l2, sizes.l3);
    const std::uint64_t most = effort_.most_bytes;
    if (sizes.dram <= most) {
      return sizes;
    }
    calibration_.limited =
        fmt::format("{} MiB of memory are left below the limit, {} MiB are needed", most >> 20,
                    sizes.dram >> 20);
    sizes.dram = most >= 8 * caches ? most : 0;
    sizes.l3 = sizes.l3 <= most ? sizes.l3 : 0;
    sizes.l2 = sizes.l2 <= most ? sizes.l2 : 0;
    return sizes;
  }

  void add_level(const MemoryLevel& described, std::uint64_t one, std::uint64_t all) {
    if (one == 0 || all == 0) {
      return;
    }
    MemoryLevel& level = calibration_.levels.emplace_back(described);
    level.caches = std::min(level.caches, team_.size());
    const auto measure = [this, is_cache = level.bytes > 0](const ThreadTeam& team,
                                                            std::uint64_t bytes) {
      return [this, is_cache, &team, span = memory_.as<float>().first(bytes / sizeof(float))] {
        // After going through it once a cache holds what it can.
        if (is_cache) {
          (void)probes_.stream->run(machine_, team, span, effort_.run_seconds / 10);
        }
        return probes_.stream->run(machine_, team, span, effort_.run_seconds);
      };
    };
    add(level.one_thread, true, measure(one_, one));
    add(level.all_threads, true, measure(team_, all));
  }

  // By all threads, since a page lies near the processor that writes it first.
  void touch_memory(const CancelToken* cancel) {
    constexpr std::size_t kBlock = std::size_t{1} << 19;
    const auto floats = memory_.as<float>();
    const auto blocks = static_cast<std::int64_t>((floats.size() + kBlock - 1) / kBlock);
    team_.parallel_for(blocks, [&](std::int64_t i) {
      if (stop_requested(cancel)) {
        return;
      }
      const std::size_t first = static_cast<std::size_t>(i) * kBlock;
      std::ranges::fill(floats.subspan(first, std::min(kBlock, floats.size() - first)), 1.0F);
    });
  }

  void add_loops() {
    constexpr std::int64_t kFurther = 1000;
    const std::int64_t least = team_.size();
    add(calibration_.start_seconds, false, [this, least] { return loop_seconds(team_, least); });
    add(calibration_.task_seconds, false, [this, least] {
      const double without = loop_seconds(team_, least);
      return (loop_seconds(team_, least + kFurther) - without) / kFurther;
    });
  }

  void finish() {
    calibration_.spread = spread();
    for (Measurement& measurement : measurements_) {
      if (measurement.figure != nullptr) {
        *measurement.figure = std::max(0.0, spread_of(std::move(measurement.samples)).median);
      }
    }
  }

  Probes probes_;
  const Machine& machine_;
  const ThreadTeam& team_;
  const ThreadTeam one_{1};
  const CalibrationEffort& effort_;
  Calibration calibration_;
  AlignedBuffer memory_;
  std::vector<Measurement> measurements_;
};

}  // namespace

MemoryShape memory_shape(const Machine& machine, std::span<const int> processors,
                         const std::filesystem::path& root) {
  const CacheLevel l2 = cache_level(2, processors, root);
  const CacheLevel l3 = cache_level(3, processors, root);
  MemoryShape shape{static_cast<std::uint64_t>(l2.bytes), l2.count,
                    static_cast<std::uint64_t>(l3.bytes), l3.count, available_memory()};
  if (l2.bytes == 0) {
    shape.l2_bytes = static_cast<std::uint64_t>(machine.l2_bytes);
    shape.l2_count = machine.threads;
  }
  return shape;
}

StreamSizes stream_sizes(const MemoryShape& memory, int threads) {
  constexpr std::uint64_t kLeastDram = std::uint64_t{256} << 20;
  const auto together = [threads](std::uint64_t bytes, int count) {
    return bytes * static_cast<std::uint64_t>(std::min(count, threads));
  };
  const std::uint64_t least =
      StreamProbe::kLeastFloats * sizeof(float) * static_cast<std::uint64_t>(threads);
  const std::uint64_t l2 = together(memory.l2_bytes, memory.l2_count);
  const std::uint64_t l3 = together(memory.l3_bytes, memory.l3_count);
  StreamSizes sizes;
  sizes.l2 = std::max(l2 / 2, least);
  sizes.l3 = std::min(std::max(l3 / 4, 4 * l2), l3 / 4 * 3);
  if (sizes.l3 < 2 * l2) {
    sizes.l3 = 0;
  }
  // Never less than the caches' buffers, which are its beginning.
  sizes.dram = std::max(
      {std::min(std::max(4 * l3, kLeastDram), memory.available_bytes / 4), sizes.l2, sizes.l3});
  return sizes;
}

Result<Calibration> calibrate(const Backend& backend, const Machine& machine,
                              const ThreadTeam& team, const CancelToken* cancel,
                              const CalibrationEffort& effort) {
  return Calibrator(backend, machine, team, effort).run(cancel);
}

}  // namespace mezzotint
