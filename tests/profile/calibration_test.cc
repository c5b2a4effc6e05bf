#include "profile/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/caches.h"
#include "base/file_test_base.h"
#include "base/system.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr CalibrationEffort kQuick{1e-4, 2, 50, 64 * kMiB};

Machine quick_machine() {
  Machine machine;
  machine.isa = detect_isa().value();
  machine.processor = processor_name();
  machine.threads = 2;
  return machine;
}

constexpr int kPieces = CalibrationEffort::kUnitPieces;

// A unit whose rates a test chooses, one for each piece with one thread and with all.
class FakeProbe final : public UnitProbe {
 public:
  explicit FakeProbe(std::vector<double> rates) : rates_(std::move(rates)) {}
  MathUnit unit() const override { return MathUnit::kFma; }
  std::string_view elements() const override { return "float32"; }
  std::optional<std::string> refusal(const Machine&) const override { return std::nullopt; }
  double run(const Machine&, const ThreadTeam& team, double) const override {
    const int round = runs_ / (2 * kPieces);
    const int piece = runs_++ % kPieces;
    return team.size() * rates_[static_cast<std::size_t>(round * kPieces + piece) % rates_.size()];
  }
  int runs() const { return runs_; }

 private:
  std::vector<double> rates_;
  mutable int runs_ = 0;
};

class AbsentProbe final : public UnitProbe {
 public:
  MathUnit unit() const override { return MathUnit::kAmxBf16; }
  std::string_view elements() const override { return "bfloat16"; }
  std::optional<std::string> refusal(const Machine&) const override { return "no such unit"; }
  double run(const Machine&, const ThreadTeam&, double) const override {
    ADD_FAILURE() << "it refused";
    return 0;
  }
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(std::vector<double> rates)
      : probe_(std::move(rates)), units_{&probe_, &absent_} {}
  std::string_view name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  std::span<const Implementation* const> implementations(OpKind) const override { return {}; }
  const CostTable& costs() const override { return costs_; }
  Probes probes() const override { return {units_, nullptr}; }
  const FakeProbe& probe() const { return probe_; }

 private:
  FakeProbe probe_;
  AbsentProbe absent_;
  std::vector<const UnitProbe*> units_;
  CostTable costs_{std::span<const CostRow>()};
};

TEST(Calibrate, MeasuresEveryUnitAndLevelOfThisMachine) {
  const ThreadTeam team(2);
  const auto calibration = calibrate(*make_cpu_backend(), quick_machine(), team, nullptr, kQuick);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->processor, processor_name());
  EXPECT_EQ(calibration->isa, name_of(detect_isa().value()));
  EXPECT_EQ(calibration->threads, 2);
  EXPECT_EQ(calibration->version, kVersion);
  const auto good = [](double figure) { return std::isfinite(figure) && figure > 0; };
  ASSERT_EQ(calibration->units.size(), std::size(kAllMathUnits));
  for (const UnitPeak& peak : calibration->units) {
    if (peak.absent.empty()) {
      EXPECT_TRUE(good(peak.one_thread) && good(peak.all_threads)) << name_of(peak.unit);
    } else {
      EXPECT_EQ(peak.one_thread, 0) << name_of(peak.unit);
      EXPECT_EQ(calibration->find(peak.unit), nullptr);
    }
  }
  EXPECT_NE(calibration->find(MathUnit::kFma), nullptr);
  ASSERT_GE(calibration->levels.size(), 2U);
  EXPECT_EQ(calibration->levels.front().name, "L2");
  EXPECT_EQ(calibration->levels.back().name, "DRAM");
  EXPECT_EQ(calibration->levels.back().bytes, 0U);
  for (const MemoryLevel& level : calibration->levels) {
    EXPECT_TRUE(good(level.one_thread) && good(level.all_threads)) << level.name;
  }
  EXPECT_TRUE(good(calibration->start_seconds));
  EXPECT_GE(calibration->task_seconds, 0);
  EXPECT_TRUE(good(calibration->took_seconds));
}

// Rates of rounds, in each of which every piece is as fast.
std::vector<double> whole_rounds(const std::vector<double>& rates) {
  std::vector<double> pieces;
  for (const double rate : rates) {
    pieces.insert(pieces.end(), kPieces, rate);
  }
  return pieces;
}

TEST(Calibrate, TakesTheBestOfAUnitAndTellsTheRatesSpread) {
  const FakeBackend backend(whole_rounds({100, 90, 80, 1000, 70}));
  const auto calibration =
      calibrate(backend, quick_machine(), ThreadTeam(2), nullptr, {1e-4, 5, 50, 64 * kMiB});
  ASSERT_TRUE(calibration.ok());
  ASSERT_EQ(calibration->units.size(), 2U);
  EXPECT_EQ(calibration->units[0].one_thread, 1000);
  EXPECT_EQ(calibration->units[0].all_threads, 2000);
  EXPECT_DOUBLE_EQ(calibration->spread.value_or(0), (100.0 - 80) / 90) << "between the quartiles";
  EXPECT_EQ(calibration->units[1].absent, "no such unit");
  EXPECT_TRUE(calibration->levels.empty()) << "a device without a probe of memory";
}

// Others take the processor in three quarters of the pieces, in every round.
TEST(Calibrate, APeakIsNotWhatOthersLeave) {
  const FakeBackend backend({40, 100, 30, 10});
  const auto calibration = calibrate(backend, quick_machine(), ThreadTeam(2), nullptr, kQuick);
  ASSERT_TRUE(calibration.ok());
  EXPECT_EQ(calibration->units[0].one_thread, 100);
  EXPECT_EQ(calibration->units[0].all_threads, 200);
  EXPECT_EQ(calibration->spread, 0) << "rounds are alike";
}

TEST(Calibrate, EndsBeforeItsTimeIsUp) {
  const FakeBackend backend({1});
  const auto calibration =
      calibrate(backend, quick_machine(), ThreadTeam(1), nullptr, {1e-4, 100, 0, 64 * kMiB});
  ASSERT_TRUE(calibration.ok());
  EXPECT_EQ(backend.probe().runs(), 2 * kPieces) << "one round, with one thread and with all";
  EXPECT_FALSE(calibration->spread.has_value()) << "one round has none";
  EXPECT_FALSE(calibration->is_good());
}

TEST(Calibrate, StopsWhenAsked) {
  CancelToken cancel;
  cancel.request();
  const FakeBackend backend({1});
  const auto calibration = calibrate(backend, quick_machine(), ThreadTeam(1), &cancel, kQuick);
  ASSERT_FALSE(calibration.ok());
  EXPECT_EQ(calibration.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(backend.probe().runs(), 0);
}

// What a system says about its caches, recorded: two processors and their L2s and one L3.
class MemoryShapeTest : public FileTest {
 protected:
  void add(int processor, int index, std::string_view level, std::string_view size,
           std::string_view sharers) const {
    const auto folder = in("sys/devices/system/cpu/cpu" + std::to_string(processor) +
                           "/cache/index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    put(folder / "level", std::string(level) + "\n");
    put(folder / "type", "Unified\n");
    put(folder / "size", std::string(size) + "\n");
    put(folder / "shared_cpu_list", std::string(sharers) + "\n");
  }
};

// Two cores of two hyper-threads each, numbered as Linux does: 0 and 2 are siblings.
TEST_F(MemoryShapeTest, SiblingsShareOneL2) {
  for (const int processor : {0, 1, 2, 3}) {
    add(processor, 0, "2", "2048K", processor % 2 == 0 ? "0,2" : "1,3");
    add(processor, 1, "3", "32768K", "0-3");
  }
  const MemoryShape all = memory_shape(quick_machine(), std::vector<int>{0, 1, 2, 3}, in(""));
  EXPECT_EQ(all.l2_bytes, 2 * kMiB);
  EXPECT_EQ(all.l2_count, 2);
  EXPECT_EQ(all.l3_bytes, 32 * kMiB);
  EXPECT_EQ(all.l3_count, 1);
  EXPECT_EQ(memory_shape(quick_machine(), std::vector<int>{0, 2}, in("")).l2_count, 1);
  EXPECT_EQ(memory_shape(quick_machine(), std::vector<int>{0, 1}, in("")).l2_count, 2);
}

TEST_F(MemoryShapeTest, WithoutADescriptionEachThreadHasTheMachinesL2) {
  const MemoryShape shape = memory_shape(quick_machine(), std::vector<int>{0, 1}, in(""));
  EXPECT_EQ(shape.l2_bytes, static_cast<std::uint64_t>(quick_machine().l2_bytes));
  EXPECT_EQ(shape.l2_count, 2);
  EXPECT_EQ(shape.l3_bytes, 0U);
}

// All processors that this process may use as siblings of one core.
TEST_F(MemoryShapeTest, ACalibrationCountsASharedL2Once) {
  for (const int processor : allowed_processors()) {
    add(processor, 0, "2", "1024K", "all");
  }
  CalibrationEffort effort = kQuick;
  const std::string root = in("").string();
  effort.root = root;
  const auto calibration =
      calibrate(*make_cpu_backend(), quick_machine(), ThreadTeam(2), nullptr, effort);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  EXPECT_EQ(calibration->levels[0].name, "L2");
  EXPECT_EQ(calibration->levels[0].bytes, kMiB);
  EXPECT_EQ(calibration->levels[0].caches, 1);
  EXPECT_EQ(calibration->levels[0].capacity(), static_cast<double>(kMiB));
}

TEST(StreamSizes, EachLevelIsBeyondTheOneBefore) {
  // 2 MiB per core, 260 MiB for all.
  const MemoryShape server{2 * kMiB, 2, 260 * kMiB, 1, 20'000 * kMiB};
  const StreamSizes two = stream_sizes(server, 2);
  EXPECT_EQ(two.l2, 2 * kMiB) << "half of each";
  EXPECT_EQ(two.l3, 65 * kMiB) << "a quarter";
  EXPECT_EQ(two.dram, 1040 * kMiB) << "four times";
  EXPECT_EQ(stream_sizes(server, 1).l2, kMiB) << "one thread has one L2";
}

TEST(StreamSizes, SmallL3sAreFilledFurther) {
  // Eight cores of 1 MiB share 32 MiB; of four such groups, one thread sees one.
  const MemoryShape zen{kMiB, 32, 32 * kMiB, 4, 100'000 * kMiB};
  EXPECT_EQ(stream_sizes(zen, 1).l3, 8 * kMiB);
  EXPECT_EQ(stream_sizes(zen, 32).l3, 96 * kMiB) << "three quarters: 3 MiB per thread";
  EXPECT_EQ(stream_sizes(zen, 32).dram, 512 * kMiB);
}

TEST(StreamSizes, AnL3ThatHoldsNoMoreThanTheL2sIsNotMeasured) {
  const MemoryShape skylake{kMiB, 16, 22 * kMiB, 1, 100'000 * kMiB};
  EXPECT_EQ(stream_sizes(skylake, 16).l3, 0U);
  const MemoryShape without{kMiB, 2, 0, 0, 100'000 * kMiB};
  EXPECT_EQ(stream_sizes(without, 2).l3, 0U);
  EXPECT_EQ(stream_sizes(without, 2).dram, 256 * kMiB);
}

TEST(StreamSizes, DramTakesAQuarterOfWhatIsAvailable) {
  const MemoryShape small{kMiB, 2, 260 * kMiB, 1, 800 * kMiB};
  EXPECT_EQ(stream_sizes(small, 2).dram, 200 * kMiB);
  // Where even that is less than a cache's buffer, the buffer decides.
  const MemoryShape tiny{kMiB, 2, 260 * kMiB, 1, 100 * kMiB};
  EXPECT_EQ(stream_sizes(tiny, 2).dram, stream_sizes(tiny, 2).l3);
}

TEST(StreamSizes, EveryThreadHasEnoughForTheProbe) {
  const MemoryShape shape{4096, 1, 0, 0, kMiB};
  EXPECT_EQ(stream_sizes(shape, 64).l2, 64 * StreamProbe::kLeastFloats * sizeof(float));
}

}  // namespace
}  // namespace mezzotint
