#include "pipeline/tune_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/cache_folder.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/system.h"
#include "mezzotint/version.h"
#include "pipeline/machine.h"
#include "pipeline/no_throw.h"
#include "pipeline/outputs.h"
#include "pipeline/plan_file.h"
#include "pipeline/tune_check.h"
#include "pipeline/tune_condition.h"
#include "pipeline/tune_parts.h"
#include "pipeline/tune_race.h"
#include "pipeline/tune_trial.h"
#include "tune/confirming.h"
#include "tune/decisions.h"
#include "tune/plan_choice.h"

namespace mezzotint {
namespace {

constexpr std::size_t kMostOpsWithLosses = 8;
constexpr std::size_t kMostImpossible = 8;  // in the notes
constexpr int kMostPutBack = 16;
constexpr std::int64_t kSamplerImages = 8;  // and volumes that are compared
// Evaluations after the timings besides the strict plan's chain: two chains of the default, one of
// the chosen plan, the points of both, the shortest race.
constexpr double kCheckingEvaluations =
    3 * TuneTrial::kSteps + 2 * TuneTrial::kPoints + 2 * kLeastRacePairs;
// What of the time comparisons get; and what checking may take at most, so that timings get as
// much.
constexpr double kConfirmingShare = 0.15;
constexpr double kMostCheckingShare = 0.55;
constexpr double kExploringShare = 0.5;  // of the time for timings

class Tuner {
 public:
  Tuner(const TuneRequest& request, const Backend& backend, const Machine& machine,
        const OnTuneProgress& on_progress, const CancelToken* cancel)
      : request_(request),
        backend_(backend),
        machine_(machine),
        on_progress_(on_progress),
        cancel_(cancel),
        team_(machine.threads) {}

  Result<TunedPlan> run() {
    using Step = Status (Tuner::*)();
    for (const Step step :
         {&Tuner::open_inputs, &Tuner::open_outputs, &Tuner::check_room, &Tuner::price_check,
          &Tuner::read_condition, &Tuner::measure, &Tuner::choose, &Tuner::write}) {
      if (Status status = (this->*step)(); !status) {
        return status.error();
      }
    }
    report_.total_seconds = request_.max_seconds - deadline_.left();
    return TunedPlan{std::move(file_), std::move(report_)};
  }

 private:
  // False when the work should stop.
  bool tell(const char* stage, int done, int count) const {
    on_progress_({stage, done, count});
    return should_go_on();
  }

  [[nodiscard]] bool should_go_on() const { return !stop_requested(cancel_); }

  // Of what is not made when the time is used up.
  bool tell_in_time(const char* stage, int done, int count) const {
    return tell(stage, done, count) && !deadline_.is_over();
  }

  // The choice lowers networks, too, but that is not worth a word; it has no deadline of its own.
  [[nodiscard]] bool explored(int done) const {
    return is_choosing_ ? should_go_on() && !deadline_.is_over() : tell("exploring", done, 0);
  }

  Status open_inputs() {
    auto subject = Subject::open(request_.subject);
    if (!subject) {
      return subject.error();
    }
    subject_.emplace(std::move(*subject));
    auto mask = tune_mask(*subject_, request_.mask);
    if (!mask) {
      return mask.error();
    }
    mask_ = std::move(*mask);
    auto trial = TuneTrial::create(*subject_, backend_, machine_, cancel_);
    if (!trial) {
      return trial.error();
    }
    trial_.emplace(std::move(*trial));
    report_.model = subject_->name();
    report_.grid = subject_->grid();
    report_.precision = name_of(request_.precision);
    report_.out = request_.out.string();
    return {};
  }

  Status open_outputs() {
    if (!request_.out.empty()) {
      auto out = open_plan_file(request_, *subject_, mask_);
      if (!out) {
        return out.error();
      }
      out_.emplace(std::move(*out));
    }
    const auto folder = make_cache_folder(request_.cache);
    if (!folder) {
      return folder.error();
    }
    auto cache = TimingCache::open(*folder, timing_scope(backend_, machine_));
    if (!cache) {
      return cache.error();
    }
    cache_.emplace(std::move(*cache));
    report_.cache = cache_->path().string();
    if (!cache_->note().empty()) {
      report_.notes.push_back(cache_->note());
      if (request_.on_note) {
        request_.on_note(cache_->note());
      }
    }
    return {};
  }

  // The race holds two plans; a faster plan may take more memory than the default, so when that is
  // known it is asked again.
  Status check_room() {
    Plan plan;
    plan.precision = request_.precision;
    auto session = trial_->compile_plan(plan);
    if (!session) {
      return session.error();
    }
    default_bytes_ = session->predicted_bytes();
    if (Status status = check_two(default_bytes_); !status) {
      return status;
    }
    default_plan_ = plan;
    default_plan_.entries = session->program().plan_entries();
    default_held_bytes_ = held_bytes(session->program());
    predicted_seconds_ = session->program().predicted_seconds();
    return {};
  }

  Status read_condition() {
    auto condition = tune_condition(*subject_, mask_);
    if (!condition) {
      return condition.error();
    }
    condition_ = std::move(*condition);
    trial_->set_condition(condition_);
    return {};
  }

  // The default's session and what the strict plan's chain left are resident once they are there.
  [[nodiscard]] Status check_two(std::uint64_t other_bytes) const {
    const MedDdpmConfig& config = subject_->config();
    const std::int64_t points = report_.check ? 0 : 2 * TuneTrial::kPoints;  // x and eps each
    const auto kept = static_cast<std::uint64_t>(subject_->elements(
        (points + kSamplerImages) * config.image_channels + config.condition_channels));
    return_free_memory();
    return check_memory(resident_bytes() + (default_session_ ? 0 : default_bytes_) + other_bytes +
                            kept * sizeof(float),
                        request_.memory_limit, machine_);
  }

  [[nodiscard]] MeasuringOptions measuring_options() const {
    MeasuringOptions options;
    options.force = request_.force;
    options.stopwatch = request_.stopwatch;
    options.stopwatch.deadline = measuring_deadline();
    return options;
  }

  [[nodiscard]] ConfirmingOptions confirming_options() const {
    ConfirmingOptions options;
    options.stopwatch = request_.stopwatch;
    options.stopwatch.deadline = deadline_.before(checking_seconds_);
    return options;
  }

  [[nodiscard]] Deadline measuring_deadline() const {
    return deadline_.before(checking_seconds_ + kConfirmingShare * request_.max_seconds);
  }

  // No plan is written that was not checked, so without time for that there is nothing to do.
  Status price_check() {
    Plan strict;
    strict.precision = Precision::kStrict;
    const auto session = trial_->compile_plan(strict);
    if (!session) {
      return session.error();
    }
    checking_seconds_ = trial_->steps() * session->program().predicted_seconds() +
                        kCheckingEvaluations * predicted_seconds_;
    if (checking_seconds_ < kMostCheckingShare * request_.max_seconds) {
      return {};
    }
    report_.default_seconds = predicted_seconds_;
    report_.tuned_seconds = predicted_seconds_;
    return keep_default(
        fmt::format("to check a plan takes {:.1f} s by prediction, --max-seconds has to be {:.0f}",
                    checking_seconds_, std::ceil(checking_seconds_ / kMostCheckingShare) + 1));
  }

  Status measure() {
    if (report_.is_default) {
      return {};
    }
    auto graph = tabulated_network(subject_->config(), subject_->grid(), trial_->steps());
    if (!graph) {
      return graph.error();
    }
    graph_ = std::move(*graph);
    compile_options_.machine = machine_;
    compile_options_.plan = default_plan_;
    auto space = PlanSpace::explore(
        graph_, backend_, compile_options_, [this](int done) { return explored(done); },
        Deadline(kExploringShare * measuring_deadline().left()));
    if (!space) {
      return space.error();
    }
    space_.emplace(std::move(*space));
    auto stopwatch = Stopwatch::create(compile_options_.target(), team_);
    if (!stopwatch) {
      return stopwatch.error();
    }
    stopwatch_.emplace(std::move(*stopwatch));
    const MeasuringOptions options = measuring_options();
    const auto time_ways = [&] {
      return measure_ways(
          space_->table(), space_->rivals(), *cache_, *stopwatch_, options,
          [this](int done, int count) { return tell("measuring", done, count); }, cancel_,
          report_.counts);
    };
    if (Status status = time_ways(); !status) {
      return status;
    }
    if (Status status = space_->join_forms(measuring_deadline()); !status) {
      return status;
    }
    if (Status status = time_ways(); !status) {
      return status;
    }
    if (space_->is_cut_short()) {
      report_.notes.push_back("not every form was explored in the time given");
    }
    report_.networks = space_->lowered();
    report_.dropped_forms = space_->dropped_forms();
    if (const int predicted = report_.counts.predicted(); predicted > 0) {
      report_.notes.push_back(fmt::format(
          "{} of {} ways were not measured in the time given: predictions stand in for them",
          predicted, report_.counts.ways));
    }
    return {};
  }

  Status choose() {
    if (report_.is_default) {
      return {};
    }
    Status status = choose_in_time();
    note_impossible();
    if (!status && status.error().code == ErrorCode::kCancelled && should_go_on()) {
      return keep_default(fmt::format("the time was used up before a plan was {}", awaited_));
    }
    return status;
  }

  void note_impossible() {
    const std::vector<std::string> forms = describe_impossible(*space_);
    const std::size_t shown = std::min(forms.size(), kMostImpossible);
    for (std::size_t i = 0; i < shown; ++i) {
      report_.notes.push_back("left out, since nothing computes them together: " + forms[i]);
    }
    if (shown < forms.size()) {
      report_.notes.push_back(
          fmt::format("and {} more sets of forms that nothing computes", forms.size() - shown));
    }
  }

  // Until a plan keeps within the budgets. With everything put back, it is the default. kCancelled
  // at the deadline, too.
  Status choose_in_time() {
    is_choosing_ = true;
    Confirming confirming(*space_, *cache_, *stopwatch_, confirming_options(), cancel_);
    for (;;) {
      awaited_ = "chosen";
      auto chosen = confirming.choose(
          [this](int done, int count) { return tell("confirming", done, count); });
      if (!chosen) {
        return chosen.error();
      }
      report_.confirming = confirming.counts();
      report_.unconfirmed = confirming.unconfirmed();
      chosen_ = std::move(*chosen);
      const PlanChoice standard = default_choice(*space_);
      report_.default_seconds = standard.seconds;
      report_.gap = chosen_.gap;
      report_.tuned_seconds = chosen_.seconds;
      report_.decisions = decisions_of(*space_, standard, chosen_);
      report_.losses = losses_of(*space_, chosen_, confirming.limits(), kMostOpsWithLosses);
      if (report_.decisions.empty()) {
        return keep_default(report_.unconfirmed.empty()
                                ? "no choice is faster than the default plan's"
                                : "no choice was confirmed to be faster than the default plan's");
      }
      awaited_ = "checked";
      auto excess = try_plan();
      if (!excess) {
        return excess.error();
      }
      if (excess->reason.empty()) {
        awaited_ = "raced";
        return race();
      }
      if (static_cast<int>(report_.put_back.size()) == kMostPutBack) {
        return keep_default("no faster plan keeps within the budgets");
      }
      confirming.put_back(put_back(*excess));
    }
  }

  Status keep_default(std::string why) {
    report_.is_default = true;
    report_.verdict = std::move(why) + ": the default plan was written";
    return {};
  }

  std::string put_back(const Excess& excess) {
    const TuneDecision& worst_one = worst_decision(report_.decisions, excess);
    report_.put_back.push_back({worst_one.op, worst_one.to, excess.reason});
    return worst_one.op;
  }

  // Which budget the chosen plan exceeds.
  Result<Excess> try_plan() {
    auto session = trial_->compile_plan(chosen_.plan);
    if (!session) {
      return session.error();
    }
    if (Status status = check_two(session->predicted_bytes()); !status) {
      return Excess{"memory: " + status.error().message,
                    [bytes = held_bytes(session->program()), this](const TuneDecision& decision) {
                      return of_op(bytes, decision.op) - of_op(default_held_bytes_, decision.op);
                    }};
    }
    if (Status status = prepare_reference(); !status) {
      return status.error();
    }
    session = trial_->open(chosen_.plan);
    if (!session) {
      return session.error();
    }
    auto reason = check_errors(*trial_, *session, *report_.check, on_checking());
    if (!reason) {
      return reason.error();
    }
    if (reason->empty()) {
      tuned_session_.emplace(std::move(*session));
    }
    return Excess{std::move(*reason), added_error};
  }

  [[nodiscard]] OnChecking on_checking() const {
    return
        [this](const char* stage, int done, int count) { return tell_in_time(stage, done, count); };
  }

  // Once: the strict plan's chain, and how far the default is from it.
  Status prepare_reference() {
    if (report_.check) {
      return {};
    }
    if (Status status = trial_->run_reference([this](int done, int count) {
          return tell_in_time("running the strict plan", done, count);
        });
        !status) {
      return status;
    }
    auto session = trial_->open(default_plan_);
    if (!session) {
      return session.error();
    }
    default_session_.emplace(std::move(*session));
    auto check = begin_check(*trial_, *default_session_, request_.precision, on_checking());
    if (!check) {
      return check.error();
    }
    check->condition = mask_ ? mask_->string() : "ellipsoids";
    report_.check = std::move(*check);
    return {};
  }

  Status race() {
    const auto race =
        race_plans(*trial_, *default_session_, *tuned_session_,
                   [this](int done, int count) { return tell_in_time("racing", done, count); });
    if (!race) {
      return race.error();
    }
    if (!should_go_on()) {
      return stopped();
    }
    report_.race = *race;
    if (is_tie(*race)) {
      return keep_default("the race against the default is a tie");
    }
    report_.verdict =
        fmt::format("{:.1f} % faster than the default plan in a race of {} pairs of evaluations",
                    100 * race->gain, race->pairs);
    return {};
  }

  Status write() {
    file_.subject = {subject_->name(), subject_->hash(), subject_->grid(), request_.precision,
                     machine_.isa};
    file_.version = kVersion;
    file_.backend = backend_.description();
    file_.plan = report_.is_default ? default_plan_ : chosen_.plan;
    file_.provenance = tune_provenance(report_, machine_);
    if (!out_) {
      return {};
    }
    const std::string json = plan_json(file_);
    if (Status status = out_->write(std::as_bytes(std::span(json))); !status) {
      return status;
    }
    return out_->commit();
  }

  const TuneRequest& request_;
  const Backend& backend_;
  const Machine& machine_;
  const OnTuneProgress& on_progress_;
  const CancelToken* cancel_;
  ThreadTeam team_;

  Deadline deadline_{request_.max_seconds};
  double checking_seconds_ = 0;

  std::optional<Subject> subject_;
  std::optional<std::filesystem::path> mask_;
  std::vector<float> condition_;
  std::optional<TuneTrial> trial_;
  std::optional<OutputFile> out_;
  std::optional<TimingCache> cache_;
  Plan default_plan_;
  std::uint64_t default_bytes_ = 0;
  std::map<std::string, double> default_held_bytes_;
  double predicted_seconds_ = 0;
  Graph graph_;
  CompileOptions compile_options_;
  std::optional<PlanSpace> space_;
  bool is_choosing_ = false;
  std::string_view awaited_;  // what becomes of a plan next, should the time last
  std::optional<Stopwatch> stopwatch_;
  PlanChoice chosen_;
  std::optional<Session> default_session_;
  std::optional<Session> tuned_session_;
  TuneReport report_;
  PlanFile file_;
};

}  // namespace

Result<TunedPlan> tune_model(const TuneRequest& request, const Backend& backend,
                             const Machine& machine, const OnTuneProgress& on_progress,
                             const CancelToken* cancel) {
  return no_throw([&]() -> Result<TunedPlan> {
    return Tuner(request, backend, machine, on_progress, cancel).run();
  });
}

}  // namespace mezzotint
