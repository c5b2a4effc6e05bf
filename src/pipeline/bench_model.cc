#include "pipeline/bench_model.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/system.h"
#include "pipeline/machine.h"
#include "pipeline/no_throw.h"
#include "pipeline/session.h"

namespace mezzotint {
namespace {

// A network has some hundred ops: fewer samples each keep the check within about a minute.
constexpr SampleOptions kSamples{/*seed=*/1, /*random_samples=*/512, /*read_budget=*/10'000'000};

SessionOptions session_options(const Subject& subject, const Machine& machine, const Plan& plan) {
  SessionOptions options;
  options.machine = machine;
  options.plan = plan;
  options.grid = subject.grid();
  options.timesteps = {subject.timestep()};
  return options;
}

// Adds up what each op takes.
class OpTimer final : public Listener {
 public:
  Status on_op(const OpEvent& event) override {
    seconds_[&event.op] += event.seconds;
    return {};
  }

  [[nodiscard]] std::vector<OpTime> times(int runs) const {
    std::vector<OpTime> times;
    for (const auto& [op, seconds] : seconds_) {
      times.push_back({op->name, op->implementation, seconds / runs, op->flops, op->bytes});
    }
    std::sort(times.begin(), times.end(), [](const OpTime& a, const OpTime& b) {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.op < b.op;
    });
    return times;
  }

 private:
  std::map<const ProgramOp*, double> seconds_;
};

class ModelBench {
 public:
  ModelBench(Subject& subject, const Backend& backend, const Machine& machine,
             const ModelOptions& options, const CancelToken* cancel)
      : subject_(subject),
        backend_(backend),
        machine_(machine),
        options_(options),
        cancel_(cancel),
        team_(machine.threads) {}

  Result<ModelReport> run() {
    report_.model = subject_.name();
    report_.grid = subject_.grid();
    report_.timestep = subject_.timestep();
    if (options_.check) {
      if (Status status = check_ops(); !status) {
        return status.error();
      }
      if (!report_.ok()) {
        return std::move(report_);
      }
    }
    if (Status status = time_runs(); !status) {
      return status.error();
    }
    return std::move(report_);
  }

 private:
  // What is timed is what is checked: in less memory, one of them might be made of other
  // implementations.
  Result<Session> create(bool in_place) {
    SessionOptions session_options = mezzotint::session_options(subject_, machine_, options_.plan);
    session_options.memory_limit = options_.memory_limit;
    auto session = Session::create(subject_.config(), backend_, session_options);
    if (!session || in_place) {
      return session;
    }
    session_options.plan.entries = session->program().plan_entries();
    session_options.allow_in_place = false;
    return Session::create(subject_.config(), backend_, session_options);
  }

  // A session ready to evaluate; the peak it will make is known before it is made.
  Result<Session> prepare(bool in_place, std::uint64_t& predicted_bytes) {
    auto session = create(in_place);
    if (!session) {
      return session.error();
    }
    const std::int64_t floats = 2 * session->elements() + session->condition_elements();
    const bool first = subject_.x().empty();
    predicted_bytes = resident_bytes() + session->predicted_bytes() +
                      (first ? static_cast<std::uint64_t>(floats) * sizeof(float) : 0);
    if (Status status = check_memory(predicted_bytes, options_.memory_limit, machine_); !status) {
      return status.error();
    }
    if (first) {
      if (Status status = subject_.make_inputs(team_); !status) {
        return status.error();
      }
      eps_.resize(static_cast<std::size_t>(session->elements()));
    }
    if (Status status = session->load(subject_.parameters()); !status) {
      return status.error();
    }
    return session;
  }

  Status evaluate(Session& session, std::span<Listener* const> listeners) {
    return session.evaluate(subject_.x(), /*step=*/0, eps_, {team_, cancel_, listeners});
  }

  Status check_ops() {
    std::uint64_t predicted = 0;
    auto session = prepare(/*in_place=*/false, predicted);
    if (!session) {
      return session.error();
    }
    OpCheck judge(subject_.parameters(), team_, kSamples);
    Listener* const listeners[] = {&judge};
    if (Status status = session->set_condition(subject_.condition(), {team_, cancel_, listeners});
        !status) {
      return status;
    }
    if (Status status = evaluate(*session, listeners); !status) {
      return status;
    }
    report_.verdicts = judge.verdicts();
    checked_eps_ = eps_;
    return {};
  }

  Status time_runs() {
    return_free_memory();
    reset_peak_resident_bytes();
    auto session = prepare(/*in_place=*/true, report_.predicted_peak_bytes);
    if (!session) {
      return session.error();
    }
    if (Status status = session->set_condition(subject_.condition(), {team_, cancel_, {}});
        !status) {
      return status;
    }
    OpTimer timer;
    Listener* const listeners[] = {&timer};
    const auto timing = measure(options_.timing, [&](bool counts) {
      return evaluate(
          *session, counts ? std::span<Listener* const>(listeners) : std::span<Listener* const>());
    });
    if (!timing) {
      return timing.error();
    }
    report_.same_bytes = checked_eps_.empty() || std::memcmp(eps_.data(), checked_eps_.data(),
                                                             eps_.size() * sizeof(float)) == 0;
    report_.timing = *timing;
    report_.ops = timer.times(timing->runs);
    report_.flops = session->program().flops();
    report_.predicted_seconds = session->program().predicted_seconds();
    report_.peak_bytes = peak_resident_bytes();
    return {};
  }

  Subject& subject_;
  const Backend& backend_;
  const Machine& machine_;
  const ModelOptions& options_;
  const CancelToken* cancel_;
  ThreadTeam team_;
  std::vector<float> eps_;
  std::vector<float> checked_eps_;
  ModelReport report_;
};

}  // namespace

bool ModelReport::ok() const {
  return same_bytes && std::all_of(verdicts.begin(), verdicts.end(),
                                   [](const OpVerdict& verdict) { return verdict.ok(); });
}

const OpVerdict* ModelReport::worst() const {
  const auto found = std::max_element(
      verdicts.begin(), verdicts.end(),
      [](const OpVerdict& a, const OpVerdict& b) { return a.severity() < b.severity(); });
  return found == verdicts.end() ? nullptr : &*found;
}

Result<ModelReport> bench_model(Subject& subject, const Backend& backend, const Machine& machine,
                                const ModelOptions& options, const CancelToken* cancel) {
  return no_throw([&]() -> Result<ModelReport> {
    return ModelBench(subject, backend, machine, options, cancel).run();
  });
}

Result<ProgramExplanation> explain_model(const Subject& subject, const Backend& backend,
                                         const Machine& machine, const Plan& plan) {
  const auto graph = tabulated_network(subject.config(), subject.grid(), /*steps=*/1);
  if (!graph) {
    return graph.error();
  }
  CompileOptions options;
  options.machine = machine;
  options.plan = plan;
  return explain(*graph, backend, options);
}

}  // namespace mezzotint
