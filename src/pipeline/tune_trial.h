// A plan tried on what a user would do with it: a chain of steps on a mask, against the strict
// plan.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "pipeline/bench_subject.h"
#include "pipeline/chain.h"
#include "pipeline/run_chain.h"
#include "pipeline/session.h"
#include "tune/report.h"

namespace mezzotint {

// An evaluation of the strict plan's chain.
struct TrialPoint {
  int step = 0;  // of the chain, from 0
  std::vector<float> x;
  std::vector<float> eps;
};

class TuneTrial {
 public:
  static constexpr int kSteps = 25;
  static constexpr int kPoints = 5;  // even over the steps, the first and the last among them

  // Called before each evaluation; false stops.
  using OnEvaluation = std::function<bool(int done, int count)>;

  // All arguments must outlive it.
  static Result<TuneTrial> create(Subject& subject, const Backend& backend, const Machine& machine,
                                  const CancelToken* cancel);
  // [C, z, y, x], which must outlive it, too. Before anything is opened.
  void set_condition(std::span<const float> condition) { condition_ = condition; }

  // The timesteps of the points.
  [[nodiscard]] std::vector<int> timesteps() const;
  // Evaluations of one chain.
  [[nodiscard]] int steps() const { return static_cast<int>(chain_.options.timesteps.size()); }

  // Compiled for the chain's steps; no weight is read.
  [[nodiscard]] Result<Session> compile_plan(const Plan& plan) const;
  // With weights and the condition.
  Result<Session> open(const Plan& plan);

  // Runs the strict plan's chain and keeps its points and its volume. First of all.
  Status run_reference(const OnEvaluation& on_evaluation);
  // From the strict plan's prediction at each point.
  Result<std::vector<TuneDistance>> distances(Session& session);
  // Of the finished volume; infinite where the chain ends at a value that is not finite. What the
  // budget of an evaluation allows: that of a chain of the same plan whose every prediction is off
  // by `disturbance` (relative L2) in one fixed random direction, as a systematic error would be,
  // from the undisturbed one, which chain_distance() ran before; infinite, too, where either ends
  // at such a value.
  Result<TuneDistance> chain_distance(Session& session, const OnEvaluation& on_evaluation);
  Result<TuneDistance> disturbed_distance(Session& session, double disturbance,
                                          const OnEvaluation& on_evaluation);
  // One evaluation, in seconds.
  Result<double> time(Session& session);

 private:
  TuneTrial(Subject& subject, const Backend& backend, const Machine& machine,
            const CancelToken* cancel)
      : subject_(&subject),
        backend_(&backend),
        machine_(&machine),
        cancel_(cancel),
        team_(machine.threads) {}

  // Of a chain; empty where it ends at a value that is not finite.
  Result<std::vector<float>> finite_volume(Session& session, const ChainEvents& events);
  [[nodiscard]] RunOptions run_options() const { return {team_, cancel_, {}}; }

  Subject* subject_;
  std::span<const float> condition_;
  const Backend* backend_;
  const Machine* machine_;
  const CancelToken* cancel_;
  ThreadTeam team_;
  Chain chain_;
  std::vector<TrialPoint> points_;
  std::vector<float> volume_;  // the strict plan's
  std::vector<float> last_;    // the last undisturbed chain's; empty: it was not finite
};

}  // namespace mezzotint
