#include "pipeline/study.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "base/system.h"
#include "imaging/ssim.h"
#include "mezzotint/version.h"
#include "pipeline/chain.h"
#include "pipeline/condition.h"
#include "pipeline/no_throw.h"
#include "pipeline/plan_file.h"
#include "pipeline/profile_model.h"
#include "pipeline/relative_l2.h"
#include "pipeline/run_chain.h"
#include "pipeline/session.h"
#include "pipeline/study_files.h"
#include "pipeline/study_plans.h"
#include "pipeline/study_row.h"
#include "pipeline/subject_session.h"
#include "pipeline/tune_model.h"

namespace mezzotint {
namespace {

constexpr std::string_view kTuned = "tuned";

// Of a window of 7 voxels.
constexpr int kDilation = 3;

// Of a chain: its first step, the middle and the last.
constexpr int kProbes = 3;

// An evaluation whose truth is known.
struct Probe {
  int step = 0;  // of the session
  std::vector<float> x;
  std::vector<float> eps;
};

// A variant with a plan, and what was measured of it.
struct Candidate {
  std::size_t row;
  Plan plan;
  std::vector<Profile> profiles;  // by round
};

class StudyJob {
 public:
  StudyJob(const StudyRequest& request, Subject& subject, const Backend& backend,
           const Machine& machine, const Calibrate& calibrate, const StudyProgress& progress,
           const CancelToken* cancel)
      : request_(request),
        subject_(subject),
        backend_(backend),
        machine_(machine),
        calibrate_(calibrate),
        progress_(progress),
        cancel_(cancel),
        team_(machine.threads) {}

  Result<Study> run() {
    study_.version = kVersion;
    study_.model = subject_.name();
    study_.grid = subject_.grid();
    study_.machine = fmt::format("{}, {}, {} threads", machine_.processor, name_of(machine_.isa),
                                 machine_.threads);
    study_.rounds = request_.rounds;
    using Part = Status (StudyJob::*)();
    for (const Part part : {&StudyJob::choose_chain, &StudyJob::make_plans, &StudyJob::check_plans,
                            &StudyJob::make_inputs, &StudyJob::add_tuned_plan,
                            &StudyJob::find_truth, &StudyJob::measure, &StudyJob::compare}) {
      if (Status status = (this->*part)(); !status) {
        return status.error();
      }
    }
    study_.findings = study_findings(study_.rows);
    return std::move(study_);
  }

 private:
  [[nodiscard]] GenerateRequest picture() const {
    GenerateRequest picture;
    picture.model = *request_.subject.model;
    picture.mask = *request_.mask;
    picture.size = subject_.grid();
    picture.steps = request_.steps;
    return picture;
  }

  Status choose_chain() {
    if (!request_.mask) {
      timesteps_ = {subject_.timestep()};
      return {};
    }
    if (subject_.model() == nullptr) {
      return invalid_input("mask: {}: a volume needs a trained model: pass --model, or no --mask",
                           in_quotes(request_.mask->string()));
    }
    auto chain = make_chain(picture(), *subject_.model());
    if (!chain) {
      return chain.error();
    }
    timesteps_ = chain->options.timesteps;
    study_.steps = static_cast<int>(timesteps_.size());
    chain_ = std::move(*chain);
    return {};
  }

  Status make_plans() {
    const auto graph = tabulated_network(subject_.config(), subject_.grid(),
                                         static_cast<std::int64_t>(timesteps_.size()));
    if (!graph) {
      return graph.error();
    }
    for (const StudyVariant& variant : med_ddpm_variants()) {
      const auto plan = study_plan(variant, *graph, backend_, machine_);
      if (!plan && plan.error().code != ErrorCode::kUnsupported) {
        return plan.error();
      }
      add_row(variant.name, variant.meaning, plan ? "" : plan.error().message);
      if (plan) {
        candidates_.push_back({study_.rows.size() - 1, *plan, {}});
      }
    }
    return request_.plan ? add_given_plan() : Status();
  }

  // Compiles every variant: what does not fit is refused before anything large is made.
  Status check_plans() {
    std::vector<Plan> plans = {strict_plan()};
    for (const Candidate& candidate : candidates_) {
      plans.push_back(candidate.plan);
    }
    for (const Plan& plan : plans) {
      if (auto session = compile(plan); !session) {
        return session.error();
      }
    }
    return {};
  }

  Status make_inputs() {
    if (Status status = subject_.make_inputs(team_); !status) {
      return status;
    }
    if (!chain_) {
      condition_ = subject_.condition();
      return {};
    }
    const Model& model = *subject_.model();
    const auto fit = choose_fit(picture(), model);
    if (!fit) {
      return fit.error();
    }
    const auto mask = read_condition(*request_.mask, model, *fit);
    if (!mask) {
      return mask.error();
    }
    condition_ = encode_condition(*mask, model);
    inside_ = dilate(mask->labels.data, subject_.grid(), kDilation);
    return {};
  }

  Status add_given_plan() {
    const auto file = read_plan(
        *request_.plan,
        tune_command(subject_.plan_subject(Precision::kFp32, machine_.isa), *request_.plan));
    if (!file) {
      return file.error();
    }
    auto plan = fitting_plan(*file, subject_.plan_subject(file->plan.precision, machine_.isa));
    if (!plan) {
      return plan.error();
    }
    add_row(kTuned, "the plan of mezzotint tune", "");
    candidates_.push_back({study_.rows.size() - 1, std::move(*plan), {}});
    return {};
  }

  Status add_tuned_plan() {
    if (request_.plan) {
      return {};
    }
    constexpr std::string_view kMeaning = "the fastest plan that mezzotint tune finds in fp32";
    if (!request_.tune) {
      add_row(kTuned, kMeaning, "not tuned: --no-tune");
      return {};
    }
    TuneRequest tuning;
    tuning.subject = request_.subject;
    tuning.cache = request_.cache;
    tuning.mask = request_.mask;
    tuning.memory_limit = request_.memory_limit;
    tuning.force = request_.force;
    tuning.on_note = [this](const std::string& note) { tell("note: " + note); };
    std::string stage;
    const auto tuned = tune_model(
        tuning, backend_, machine_,
        [&](const TuneProgress& progress) {
          if (std::exchange(stage, progress.stage) != progress.stage) {
            tell("tuning: " + progress.stage);
          }
        },
        cancel_);
    if (!tuned && tuned.error().code != ErrorCode::kResource) {
      return tuned.error();
    }
    if (!tuned) {
      add_row(kTuned, kMeaning, tuned.error().message);
      return {};
    }
    const TuneReport& report = tuned->report;
    add_row(kTuned,
            !report.is_default ? kMeaning
            : report.race      ? "the default plan: a tie"
                               : "the default plan: nothing faster keeps within the bounds",
            "");
    candidates_.push_back({study_.rows.size() - 1, tuned->file.plan, {}});
    study_.tuned_plan = plan_json(tuned->file);
    return {};
  }

  void tell(std::string_view what) const {
    if (progress_) {
      progress_(what);
    }
  }

  void add_row(std::string_view name, std::string_view meaning, std::string absent) {
    StudyRow row;
    row.name = name;
    row.meaning = meaning;
    row.absent = std::move(absent);
    study_.rows.push_back(std::move(row));
  }

  static Plan strict_plan() {
    Plan plan;
    plan.precision = Precision::kStrict;
    return plan;
  }

  // What the job will hold besides a session and the subject's inputs, less what it holds already.
  [[nodiscard]] std::uint64_t further_bytes() const {
    const std::int64_t elements = subject_.elements(subject_.config().image_channels);
    std::int64_t floats = subject_.elements(subject_.config().condition_channels);
    if (chain_) {
      const auto probes = std::min(std::int64_t{kProbes}, std::int64_t{study_.steps});
      floats += (2 * probes + 1) * elements;  // and the volume of the truth
      floats += sampler_workspace_floats(chain_->options, elements);
    } else {
      floats += 2 * elements;
    }
    std::size_t held = condition_.size() + volume_.size();
    for (const Probe& probe : probes_) {
      held += probe.x.size() + probe.eps.size();
    }
    return (static_cast<std::uint64_t>(floats) - held) * sizeof(float);
  }

  Result<Session> compile(const Plan& plan) {
    SessionOptions options = session_options(subject_, machine_, plan);
    options.timesteps = timesteps_;
    options.memory_limit = request_.memory_limit;
    options.further_bytes = further_bytes();
    auto session = Session::create(subject_.config(), backend_, options);
    if (!session) {
      return session.error();
    }
    if (const auto bytes = check_subject_memory(*session, subject_, options); !bytes) {
      return bytes.error();
    }
    return session;
  }

  Result<Session> open(const Plan& plan) {
    auto session = compile(plan);
    if (!session) {
      return session.error();
    }
    if (Status status = load_subject(*session, subject_, team_); !status) {
      return status.error();
    }
    if (Status status = session->set_condition(condition_, run_options()); !status) {
      return status.error();
    }
    return session;
  }

  [[nodiscard]] RunOptions run_options() const { return {team_, cancel_, {}}; }

  Status find_truth() {
    tell("the truth, by the strict plan");
    auto session = open(strict_plan());
    if (!session) {
      return session.error();
    }
    if (!chain_) {
      Probe probe{0, subject_.x(), std::vector<float>(subject_.x().size())};
      Status status = session->evaluate(probe.x, 0, probe.eps, run_options());
      probes_.push_back(std::move(probe));
      return status;
    }
    const int last = study_.steps - 1;
    const auto keep = [&](int step, std::span<const float> x, std::span<float> eps) {
      if (step == 0 || step == last / 2 || step == last) {
        probes_.push_back({step, {x.begin(), x.end()}, {eps.begin(), eps.end()}});
      }
    };
    auto volume = run_chain(*session, *chain_, run_options(), {{}, keep});
    if (!volume) {
      return volume.error();
    }
    volume_ = std::move(*volume);
    return {};
  }

  // Every second round in the opposite order, so that a machine that slows down burdens all alike.
  Status measure() {
    ProfileOptions options;
    options.timing = request_.timing;
    options.memory_limit = request_.memory_limit;
    options.force = request_.force;
    const auto calibration = calibrate_();
    if (!calibration) {
      return calibration.error();
    }
    const auto known = [&] { return calibration; };
    for (int round = 0; round < request_.rounds; ++round) {
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        Candidate& candidate = candidates_[round % 2 == 0 ? i : candidates_.size() - 1 - i];
        tell(fmt::format("round {} of {}: {}", round + 1, request_.rounds,
                         study_.rows[candidate.row].name));
        options.plan = candidate.plan;
        return_free_memory();  // of the variant before, which would count as in use
        auto profile = profile_model(subject_, backend_, machine_, known, options, cancel_);
        if (!profile) {
          return profile.error();
        }
        candidate.profiles.push_back(std::move(*profile));
      }
    }
    for (Candidate& candidate : candidates_) {
      StudyRow& row = study_.rows[candidate.row];
      describe_row(std::move(candidate.profiles), row);
      if (Status status = check_rounds(row); !status && !request_.force) {
        return status;
      }
    }
    return {};
  }

  // Errors against the truth, and of the volumes.
  Status compare() {
    for (const Candidate& candidate : candidates_) {
      StudyRow& row = study_.rows[candidate.row];
      tell(fmt::format("errors of {}", row.name));
      auto session = open(candidate.plan);
      if (!session) {
        return session.error();
      }
      std::vector<float> eps(subject_.x().size());
      for (const Probe& probe : probes_) {
        if (Status status = session->evaluate(probe.x, probe.step, eps, run_options()); !status) {
          return status;
        }
        row.relative_l2 = std::max(row.relative_l2, relative_l2(eps, probe.eps));
      }
      if (chain_) {
        const auto volume = run_chain(*session, *chain_, run_options(), {});
        if (!volume && volume.error().code != ErrorCode::kNumerics) {
          return volume.error();
        }
        row.ssim = volume ? mean_ssim(*volume) : std::nullopt;
      }
    }
    return {};
  }

  // Over the image channels; nothing where the mask is empty.
  [[nodiscard]] std::optional<double> mean_ssim(std::span<const float> volume) const {
    const std::size_t voxels = inside_.size();
    const std::size_t channels = volume.size() / voxels;
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const auto alike =
          ssim(volume.subspan(c * voxels, voxels), std::span(volume_).subspan(c * voxels, voxels),
               inside_, subject_.grid(), team_);
      if (!alike) {
        return std::nullopt;
      }
      sum += *alike;
    }
    return sum / static_cast<double>(channels);
  }

  const StudyRequest& request_;
  Subject& subject_;
  const Backend& backend_;
  const Machine& machine_;
  const Calibrate& calibrate_;
  const StudyProgress& progress_;
  const CancelToken* cancel_;
  ThreadTeam team_;
  std::vector<float> condition_;
  std::vector<std::uint8_t> inside_;
  std::vector<int> timesteps_;
  std::optional<Chain> chain_;
  std::vector<Candidate> candidates_;
  std::vector<Probe> probes_;
  std::vector<float> volume_;  // the truth's
  Study study_;
};

Result<StudyFiles> create_files(const StudyRequest& request, const Subject& subject) {
  std::vector<std::string_view> variants = {kTuned};
  for (const StudyVariant& variant : med_ddpm_variants()) {
    variants.push_back(variant.name);
  }
  std::vector<std::filesystem::path> inputs = subject.files();
  for (const auto& input : {request.mask, request.plan}) {
    if (input) {
      inputs.push_back(*input);
    }
  }
  return StudyFiles::create(*request.out, request.overwrite, variants, inputs);
}

}  // namespace

Result<Study> study_med_ddpm(const StudyRequest& request, const Backend& backend,
                             const Machine& machine, const Calibrate& calibrate,
                             const StudyProgress& progress, const CancelToken* cancel) {
  return no_throw([&]() -> Result<Study> {
    auto subject = Subject::open(request.subject);
    if (!subject) {
      return subject.error();
    }
    std::optional<StudyFiles> files;
    if (request.out) {
      auto created = create_files(request, *subject);
      if (!created) {
        return created.error();
      }
      files = std::move(*created);
    }
    auto study = StudyJob(request, *subject, backend, machine, calibrate, progress, cancel).run();
    if (study && files) {
      auto written = files->write(*study);
      if (!written) {
        return written.error();
      }
      study->files = std::move(*written);
    }
    return study;
  });
}

}  // namespace mezzotint
