// What the program does with a machine that is too busy to be calibrated: cli/calibrate.
#include "cli/calibrate.h"

#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "formats/ckpt_files.h"
#include "profile/calibrate.h"

namespace mezzotint::testing {
namespace {

// `slow` in every second round; a round runs its pieces with one thread, then with all.
class UnsteadyUnit final : public UnitProbe {
 public:
  explicit UnsteadyUnit(double slow) : slow_(slow) {}
  MathUnit unit() const override { return MathUnit::kFma; }
  std::string_view elements() const override { return "float32"; }
  std::optional<std::string> refusal(const Machine&) const override { return std::nullopt; }
  double run(const Machine&, const ThreadTeam& team, double) const override {
    return (runs_++ / (2 * CalibrationEffort::kUnitPieces) % 2 == 0 ? 1e9 : slow_) * team.size();
  }

 private:
  double slow_;
  mutable int runs_ = 0;
};

class UnsteadyBackend final : public Backend {
 public:
  explicit UnsteadyBackend(double slow) : unit_(slow) {}
  std::string_view name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  Probes probes() const override { return {units_, nullptr}; }
  std::span<const Implementation* const> implementations(OpKind) const override { return {}; }
  const CostTable& costs() const override { return costs_; }

 private:
  UnsteadyUnit unit_;
  const UnitProbe* units_[1] = {&unit_};
  CostTable costs_{std::span<const CostRow>()};
};

class CalibrateMachine : public ::testing::Test {
 protected:
  [[nodiscard]] Result<CachedCalibration> calibrate(double slow, bool force) const {
    Machine machine;
    machine.processor = "A Processor";
    machine.threads = 1;
    return cli::calibrate_machine(UnsteadyBackend(slow), machine,
                                  {"/proc/self/none", false, force, std::nullopt}, CancelToken());
  }
};

TEST_F(CalibrateMachine, RefusesRatesThatSpread) {
  expect_error(calibrate(0.5e9, /*force=*/false),
               "machine is busy: calibration has rates spread by ");
  expect_error(calibrate(0.5e9, /*force=*/false), "at most 25 %; wait, or --force");
}

TEST_F(CalibrateMachine, TakesThemWhenForced) {
  const auto forced = calibrate(0.5e9, /*force=*/true);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_GT(forced->calibration.spread, kMostCalibrationSpread);
  EXPECT_TRUE(forced->path.empty()) << "not kept";
}

TEST_F(CalibrateMachine, TakesThoseOfAQuietMachine) {
  const auto quiet = calibrate(0.9e9, /*force=*/false);
  ASSERT_TRUE(quiet) << quiet.error().message;
  EXPECT_LT(quiet->calibration.spread, kMostCalibrationSpread);
}

}  // namespace
}  // namespace mezzotint::testing
