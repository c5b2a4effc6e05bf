#include "pipeline/tune_trial.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "base/noise.h"
#include "diffusion/timesteps.h"
#include "pipeline/relative_l2.h"

namespace mezzotint {
namespace {

// Of another sample than the chain's noise.
constexpr NoiseKey kDisturbance{0, 1, 0};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr TuneDistance kInfinitelyFar{kInfinity, kInfinity};

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value) * value;
  }
  return std::sqrt(sum);
}

TuneDistance distance(std::span<const float> values, std::span<const float> truth) {
  return {relative_l2(values, truth), relative_largest(values, truth)};
}

}  // namespace

Result<TuneTrial> TuneTrial::create(Subject& subject, const Backend& backend,
                                    const Machine& machine, const CancelToken* cancel) {
  TuneTrial trial(subject, backend, machine, cancel);
  auto schedule = cosine_schedule(subject.timesteps());
  if (!schedule) {
    return schedule.error();
  }
  trial.chain_.schedule = std::move(*schedule);
  auto timesteps = choose_timesteps(trial.chain_.schedule, std::min(kSteps, subject.timesteps()),
                                    Spacing::kTimestep);
  if (!timesteps) {
    return timesteps.error();
  }
  trial.chain_.options.timesteps = std::move(*timesteps);
  const int points = std::min(kPoints, trial.steps());
  for (int i = 0; i < points; ++i) {
    trial.points_.push_back({points > 1 ? i * (trial.steps() - 1) / (points - 1) : 0, {}, {}});
  }
  return trial;
}

std::vector<int> TuneTrial::timesteps() const {
  std::vector<int> timesteps;
  for (const TrialPoint& point : points_) {
    timesteps.push_back(chain_.options.timesteps[static_cast<std::size_t>(point.step)]);
  }
  return timesteps;
}

Result<Session> TuneTrial::compile_plan(const Plan& plan) const {
  SessionOptions options;
  options.machine = *machine_;
  options.plan = plan;
  options.grid = subject_->grid();
  options.timesteps = chain_.options.timesteps;
  return Session::create(subject_->config(), *backend_, options);
}

Result<Session> TuneTrial::open(const Plan& plan) {
  auto session = compile_plan(plan);
  if (!session) {
    return session;
  }
  if (Status status = session->load(subject_->parameters()); !status) {
    return status.error();
  }
  if (Status status = session->set_condition(condition_, run_options()); !status) {
    return status.error();
  }
  return session;
}

Status TuneTrial::run_reference(const OnEvaluation& on_evaluation) {
  Plan strict;
  strict.precision = Precision::kStrict;
  auto session = open(strict);
  if (!session) {
    return session.error();
  }
  const auto keep = [&](int step, std::span<const float> x, std::span<float> eps) {
    for (TrialPoint& point : points_) {
      if (point.step == step) {
        point.x.assign(x.begin(), x.end());
        point.eps.assign(eps.begin(), eps.end());
      }
    }
  };
  auto volume = run_chain(*session, chain_, run_options(), {on_evaluation, keep});
  if (!volume) {
    return volume.error();
  }
  volume_ = std::move(*volume);
  return {};
}

Result<std::vector<TuneDistance>> TuneTrial::distances(Session& session) {
  std::vector<TuneDistance> distances;
  std::vector<float> eps(static_cast<std::size_t>(session.elements()));
  for (const TrialPoint& point : points_) {
    if (Status status = session.evaluate(point.x, point.step, eps, run_options()); !status) {
      return status.error();
    }
    distances.push_back(distance(eps, point.eps));
  }
  return distances;
}

Result<std::vector<float>> TuneTrial::finite_volume(Session& session, const ChainEvents& events) {
  auto volume = run_chain(session, chain_, run_options(), events);
  if (!volume && volume.error().code == ErrorCode::kNumerics) {
    return std::vector<float>();
  }
  return volume;
}

Result<TuneDistance> TuneTrial::chain_distance(Session& session,
                                               const OnEvaluation& on_evaluation) {
  auto volume = finite_volume(session, {on_evaluation, {}});
  if (!volume) {
    return volume.error();
  }
  last_ = std::move(*volume);
  return last_.empty() ? kInfinitelyFar : distance(last_, volume_);
}

Result<TuneDistance> TuneTrial::disturbed_distance(Session& session, double disturbance,
                                                   const OnEvaluation& on_evaluation) {
  if (last_.empty()) {
    return kInfinitelyFar;
  }
  std::vector<float> direction(static_cast<std::size_t>(session.elements()));
  fill_normal(kDisturbance, direction, team_);
  const double length = norm(direction);
  const auto disturb = [&](int, std::span<const float>, std::span<float> eps) {
    const double scale = disturbance * norm(eps) / length;
    for (std::size_t i = 0; i < eps.size(); ++i) {
      eps[i] = static_cast<float>(eps[i] + scale * direction[i]);
    }
  };
  const auto volume = finite_volume(session, {on_evaluation, disturb});
  if (!volume) {
    return volume.error();
  }
  return volume->empty() ? kInfinitelyFar : distance(*volume, last_);
}

Result<double> TuneTrial::time(Session& session) {
  const TrialPoint& point = points_[points_.size() / 2];
  std::vector<float> eps(static_cast<std::size_t>(session.elements()));
  const auto start = std::chrono::steady_clock::now();
  if (Status status = session.evaluate(point.x, point.step, eps, run_options()); !status) {
    return status.error();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace mezzotint
