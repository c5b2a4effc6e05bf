#include "pipeline/profile_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "base/caches.h"
#include "base/error.h"
#include "base/perf_counters.h"
#include "base/processor_load.h"
#include "base/system.h"
#include "mezzotint/version.h"
#include "pipeline/no_throw.h"
#include "pipeline/subject_session.h"
#include "profile/counter_recorder.h"
#include "profile/groups.h"
#include "profile/recorder.h"
#include "profile/verdict.h"

namespace mezzotint {
namespace {

// Measurements of a busy machine are repeated so often.
constexpr int kMostRepetitions = 2;
// What the parts may differ from the whole by, and what listening may cost.
constexpr double kSumTolerance = 0.05;
constexpr double kMostListeningCost = 0.02;
// An op that attains more of its roofline was not faster than the machine.
constexpr double kMostAttained = 1.05;

class ModelProfiler {
 public:
  ModelProfiler(Subject& subject, const Backend& backend, const Machine& machine,
                const Calibrate& calibrate, const ProfileOptions& options,
                const CancelToken* cancel)
      : subject_(subject),
        backend_(backend),
        machine_(machine),
        calibrate_(calibrate),
        options_(options),
        cancel_(cancel),
        log_(machine.threads),
        plain_team_(machine.threads),
        listened_team_(machine.threads, &log_) {}

  Result<Profile> run() {
    auto session = prepare();
    if (!session) {
      return session.error();
    }
    if (Status status = measure_until_quiet(*session); !status) {
      return status.error();
    }
    profile_.peak_bytes = peak_resident_bytes();
    describe_run(*session);
    describe_ops();
    if (Status status = count_events(*session); !status) {
      return status.error();
    }
    add_warnings();
    profile_.verdict = verdict_of(profile_, verdict_context());
    return std::move(profile_);
  }

 private:
  Result<Session> prepare() {
    SessionOptions session_options = mezzotint::session_options(subject_, machine_, options_.plan);
    session_options.memory_limit = options_.memory_limit;
    auto session = Session::create(subject_.config(), backend_, session_options);
    if (!session) {
      return session.error();
    }
    const auto predicted = check_subject_memory(*session, subject_, session_options);
    if (!predicted) {
      return predicted.error();
    }
    if (options_.announce) {
      options_.announce(*predicted);
    }
    auto calibration = calibrate_();
    if (!calibration) {
      return calibration.error();
    }
    profile_.machine = std::move(calibration->calibration);
    profile_.warnings = std::move(calibration->notes);
    return_free_memory();
    reset_peak_resident_bytes();
    if (Status status = load_subject(*session, subject_, plain_team_); !status) {
      return status.error();
    }
    eps_.resize(static_cast<std::size_t>(session->elements()));
    if (Status status = session->set_condition(subject_.condition(), {plain_team_, cancel_, {}});
        !status) {
      return status.error();
    }
    return session;
  }

  // Adds the time of one evaluation to `seconds`.
  Status time_plain(Session& session, std::vector<double>& seconds) {
    return time(seconds, [&] {
      return session.evaluate(subject_.x(), /*step=*/0, eps_, {plain_team_, cancel_, {}});
    });
  }

  Status time_listened(Session& session, std::vector<double>& seconds) {
    Listener* const listeners[] = {&recorder_};
    recorder_.begin_run();
    return time(seconds, [&] {
      return session.evaluate(subject_.x(), /*step=*/0, eps_, {listened_team_, cancel_, listeners});
    });
  }

  template <typename Evaluate>
  Status time(std::vector<double>& seconds, const Evaluate& evaluate) {
    const auto start = std::chrono::steady_clock::now();
    if (Status status = evaluate(); !status) {
      return status;
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;
    seconds.push_back(std::chrono::duration<double>(elapsed).count());
    return {};
  }

  // One evaluation that is listened to and one that is not. Which comes first changes, so that a
  // machine that slows down burdens both alike.
  Status measure_pair(Session& session) {
    const bool plain_first = plain_.size() % 2 == 0;
    if (plain_first) {
      if (Status status = time_plain(session, plain_); !status) {
        return status;
      }
    }
    if (Status status = time_listened(session, listened_); !status) {
      return status;
    }
    return plain_first ? Status() : time_plain(session, plain_);
  }

  Status measure_until_quiet(Session& session) {
    TimingOptions timing = options_.timing;
    const std::vector<int> processors = allowed_processors();
    const auto before = processor_times(processors);
    for (int repetition = 0; repetition <= kMostRepetitions; ++repetition) {
      const auto measured = measure(timing, [&](bool counts) {
        if (counts) {
          return measure_pair(session);
        }
        std::vector<double> unused;
        return time_plain(session, unused);
      });
      if (!measured) {
        return measured.error();
      }
      profile_.seconds = spread_of(listened_);
      profile_.plain_seconds = spread_of(plain_);
      if (const auto after = processor_times(processors); before && after) {
        processor_share_ =
            share_left(*before, *after, static_cast<int>(processors.size()), machine_.threads)
                .value_or(1);
      }
      if (is_quiet()) {
        return {};
      }
      timing.warmups = 0;
    }
    if (spread() > kMostSpread && !options_.force) {
      return resource_error(
          "machine is busy: evaluations spread by {:.0f} %, at most {:.0f} %; wait, or --force",
          100 * spread(), 100 * kMostSpread);
    }
    if (processor_share_ < kLeastProcessorShare && !options_.force) {
      return resource_error(
          "machine is busy: other work leaves {:.0f} % of the processors that {} threads want, at "
          "least {:.0f} % are needed; wait, or --force",
          100 * processor_share_, machine_.threads, 100 * kLeastProcessorShare);
    }
    return {};
  }

  [[nodiscard]] double spread() const {
    return std::max(profile_.seconds.relative(), profile_.plain_seconds.relative());
  }

  [[nodiscard]] bool is_quiet() const {
    return spread() <= kRepeatSpread && processor_share_ >= kRepeatProcessorShare;
  }

  void describe_run(const Session& session) {
    const Program& program = session.program();
    profile_.version = kVersion;
    profile_.model = subject_.name();
    profile_.grid = subject_.grid();
    profile_.timestep = subject_.timestep();
    profile_.precision = name_of(options_.plan.precision);
    profile_.plan_hash = session.plan_hash();
    profile_.plan = options_.plan_name;
    profile_.runs = static_cast<int>(listened_.size());
    profile_.arena_bytes = program.arena_bytes();
    profile_.packed_bytes = program.packed_bytes();
  }

  void describe_ops() {
    profile_.ops = profile_ops(recorder_.ops(), profile_.machine);
    profile_.groups = group_ops(recorder_.ops(), profile_.ops);
    profile_.trace = recorder_.trace();
    for (const OpProfile& op : profile_.ops) {
      profile_.sum_seconds += op.seconds.median;
    }
    share_among_units(profile_);
  }

  // Of a single evaluation, how much its ops take: the median over those that were listened to.
  [[nodiscard]] double covered() const {
    std::vector<double> shares;
    for (std::size_t run = 0; run < listened_.size(); ++run) {
      double sum = 0;
      for (const OpRecord& op : recorder_.ops()) {
        sum += op.seconds[run];
      }
      shares.push_back(sum / listened_[run]);
    }
    return spread_of(std::move(shares)).median;
  }

  // In an evaluation of its own, which reading the counters makes slower.
  Status count_events(Session& session) {
    const auto counters = PerfCounters::open(plain_team_);
    if (!counters) {
      profile_.counters = fmt::format("not available here: {}", counters.error().message);
      return {};
    }
    CounterRecorder recorder(*counters);
    Listener* const listeners[] = {&recorder};
    if (Status status =
            session.evaluate(subject_.x(), /*step=*/0, eps_, {plain_team_, cancel_, listeners});
        !status) {
      return status;
    }
    profile_.counters = counters->names();
    for (std::size_t i = 0; i < profile_.ops.size(); ++i) {
      profile_.ops[i].counters = recorder.ops()[i];
    }
    return {};
  }

  void add_warnings() {
    if (const auto spread = profile_.machine.spread; spread && *spread > kRepeatCalibrationSpread) {
      warn("The machine was busy when it was calibrated: rates spread by {:.0f} %.", 100 * *spread);
    }
    const auto above = std::ranges::count_if(
        profile_.ops, [](const OpProfile& op) { return op.attained() > kMostAttained; });
    if (above > 0) {
      warn(
          "The calibration or the work model is off: {} of {} ops take less than {:.0f} % of "
          "their roofline's time.",
          above, profile_.ops.size(), 100 / kMostAttained);
    }
    if (spread() > kRepeatSpread) {
      warn("Evaluations spread by {:.0f} %: other work slows this machine down.", 100 * spread());
    }
    if (processor_share_ < kRepeatProcessorShare) {
      warn("Other work takes this machine's processors: it left {:.0f} % of what {} threads want.",
           100 * processor_share_, machine_.threads);
    }
    if (std::abs(profile_.sum_ratio() - 1) > kSumTolerance) {
      const double covered = this->covered();
      warn(
          "The ops' medians add up to {:.1f} % of the median evaluation, more than {:.0f} % from "
          "it. Of a single evaluation its ops take {:.1f} %: {}.",
          100 * profile_.sum_ratio(), 100 * kSumTolerance, 100 * covered,
          std::abs(covered - 1) > kSumTolerance ? "the rest passes between them"
                                                : "other work slowed down other ops each time");
    }
    if (profile_.listening_cost() > kMostListeningCost) {
      warn("Evaluations that are listened to take {:.1f} % longer than others, more than {:.0f} %.",
           100 * profile_.listening_cost(), 100 * kMostListeningCost);
    }
  }

  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    profile_.warnings.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] VerdictContext verdict_context() const {
    return {options_.words, available_processors(),
            is_quiet()
                ? ""
                : "Measured on a busy machine: the times, causes and gains below are those of "
                  "this network and of the other work together."};
  }

  Subject& subject_;
  const Backend& backend_;
  const Machine& machine_;
  const Calibrate& calibrate_;
  const ProfileOptions& options_;
  const CancelToken* cancel_;
  TeamLog log_;
  ThreadTeam plain_team_;
  ThreadTeam listened_team_;
  Recorder recorder_{&log_};
  std::vector<float> eps_;
  std::vector<double> plain_;
  std::vector<double> listened_;
  double processor_share_ = 1;  // that other work left, while evaluations were timed
  Profile profile_;
};

}  // namespace

Result<Profile> profile_model(Subject& subject, const Backend& backend, const Machine& machine,
                              const Calibrate& calibrate, const ProfileOptions& options,
                              const CancelToken* cancel) {
  return no_throw([&]() -> Result<Profile> {
    return ModelProfiler(subject, backend, machine, calibrate, options, cancel).run();
  });
}

}  // namespace mezzotint
