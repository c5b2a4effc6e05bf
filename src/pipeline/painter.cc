#include "pipeline/painter.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "imaging/fit.h"
#include "pipeline/bench_subject.h"
#include "pipeline/condition.h"
#include "pipeline/machine.h"
#include "runtime/listener.h"

namespace mezzotint {

namespace {

// What can be judged before the model is read.
Status check_settings(const GenerateRequest& request) {
  if (const auto precision = precision_from_name(request.precision); !precision) {
    return precision.error();
  }
  if (!(request.checkpoint_seconds >= 0)) {
    return invalid_input("checkpoint seconds: {}: expected 0 (never) or more",
                         request.checkpoint_seconds);
  }
  if (const auto resize = resize_from_name(request.resize); !resize) {
    return resize.error();
  }
  if (request.export_form != "mask" && request.export_form != "brats") {
    return invalid_input("export: {} is not mask or brats", in_quotes(request.export_form));
  }
  return {};
}

std::string words_of(const GenerateRequest& request) {
  SubjectRequest subject;
  subject.model = request.model;
  subject.weights = request.weights;
  subject.variant = request.variant;
  return network_words(subject);
}

// As far as it is known before the model is open.
std::string command_for_plan(const GenerateRequest& request) {
  PlanSubject here;
  here.words = words_of(request);
  here.precision = *precision_from_name(request.precision);
  here.grid = request.size.value_or(here.grid);
  return tune_command(here, *request.plan);
}

}  // namespace

Result<Painter> Painter::open(const GenerateRequest& request, const CancelToken* cancel) {
  Painter painter(request, cancel);
  if (Status status = check_settings(request); !status) {
    return status.error();
  }
  auto machine = this_machine(request.threads);
  if (!machine) {
    return machine.error();
  }
  painter.machine_ = std::move(*machine);
  painter.team_ = ThreadTeam(painter.machine_.threads);
  painter.backend_ = this_backend();
  if (request.plan) {
    auto plan = read_plan(*request.plan, command_for_plan(request));
    if (!plan) {
      return plan.error();
    }
    painter.plan_ = std::move(*plan);
  }
  auto model = open_model(request.model, request.weights, cancel, request.variant);
  if (!model) {
    return model.error();
  }
  painter.model_ = std::move(*model);
  if (request.export_form == "brats" && painter.model_.recipe->kind != RecipeKind::kBrats) {
    return invalid_input("export: brats is for models of that recipe; {} is {}",
                         painter.model_.name(), painter.model_.recipe->name);
  }
  auto labels = request.label_map ? parse_label_map(*request.label_map, painter.model_.labels)
                                  : own_labels(painter.model_.labels);
  if (!labels) {
    return labels.error();
  }
  painter.labels_ = std::move(*labels);
  if (request.size) {
    if (const auto grid = choose_grid(painter.model_, request.size); !grid) {
      return grid.error();
    }
  }
  auto chain = make_chain(request, painter.model_);
  if (!chain) {
    return chain.error();
  }
  painter.chain_ = std::move(*chain);
  return painter;
}

Status Painter::use_grid(const Dims3& grid) {
  if (session_ && grid == grid_) {
    return {};
  }
  auto plan = plan_on(grid);
  if (!plan) {
    return plan.error();
  }
  session_.reset();
  loaded_ = false;
  SessionOptions options;
  options.machine = machine_;
  options.plan = std::move(*plan);
  options.grid = grid;
  options.timesteps = chain_.options.timesteps;
  options.memory_limit = request_->memory_limit;
  options.further_bytes = further_bytes(grid);
  auto session = Session::create(model_.config, *backend_, options);
  if (!session) {
    return session.error();
  }
  session_ = std::move(*session);
  grid_ = grid;
  return {};
}

Result<Plan> Painter::plan_on(const Dims3& grid) const {
  const Precision precision = *precision_from_name(request_->precision);  // checked by open()
  if (!plan_) {
    return Plan{precision};
  }
  const PlanSubject here{model_.name(), model_.sha256, grid,
                         precision,     machine_.isa,  words_of(*request_)};
  return fitting_plan(*plan_, here);
}

Status Painter::load() {
  if (loaded_) {
    return {};
  }
  ModelParameters parameters(model_, cancel_);
  Status status = session_->load(parameters);
  loaded_ = status.ok();
  broken_ = !status && status.error().code != ErrorCode::kCancelled &&
            status.error().code != ErrorCode::kResource;
  return status;
}

// The sampler's workspace without the prediction, and a noise file with as many draws as are used.
std::uint64_t Painter::further_bytes(const Dims3& grid) const {
  const std::int64_t elements = model_.config.image_channels * Grid{grid, {}}.voxels();
  const std::int64_t noise = request_->noise ? (1 + chain_.draws) * elements : 0;
  const std::int64_t workspace = sampler_workspace_floats(chain_.options, elements) - elements;
  return static_cast<std::uint64_t>(workspace + noise) * sizeof(float);
}

std::int64_t Painter::painting_floats() const {
  const std::int64_t elements = session_->elements();
  return elements + sampler_workspace_floats(chain_.options, elements) +
         session_->condition_elements();
}

ChainShape Painter::chain_shape(std::string identity) const {
  const std::int64_t elements = session_->elements();
  return {std::move(identity), static_cast<int>(chain_.options.timesteps.size()),
          static_cast<std::uint64_t>(elements),
          static_cast<std::uint64_t>(carried_floats(chain_.options, elements))};
}

Status Painter::paint(std::span<const float> condition, const NoiseSource& noise,
                      const AfterStep& after_step, std::span<float> x, RunState* state) {
  if (Status status = session_->set_condition(condition, {team_, cancel_, {}}); !status) {
    return status;
  }
  std::vector<float> workspace(
      static_cast<std::size_t>(sampler_workspace_floats(chain_.options, session_->elements())));
  const std::span<float> carried = carried_values(chain_.options, workspace, session_->elements());
  const int count = static_cast<int>(chain_.options.timesteps.size());
  const int first = state != nullptr ? state->step() : 0;
  int finished = first;
  if (Status status = first > 0 ? state->load(x, carried) : noise(0, x); !status) {
    return status;
  }
  const auto denoise = [&](std::span<const float> in, int timestep, std::span<float> eps) {
    return evaluate(condition, in, {finished, count, timestep}, eps);
  };
  const auto stepped = [&](const StepInfo& step, std::span<const float>) -> Status {
    finished = step.index + 1;
    Status saved = state != nullptr && finished < count ? state->save_when_due(finished, x, carried)
                                                        : Status();
    after_step(step);
    return saved;
  };
  Status status =
      sample(chain_.schedule, chain_.options, denoise, noise, stepped, team_, x, workspace, first);
  if (!status && state != nullptr && status.error().code != ErrorCode::kNumerics &&
      finished > state->step()) {
    // When that fails too, the step saved before is still there.
    static_cast<void>(state->save(finished, x, carried));
  }
  return status;
}

// A non-finite prediction is looked into: the evaluation runs again with every op checked, those
// that run once per mask included.
Status Painter::evaluate(std::span<const float> condition, std::span<const float> x,
                         const StepInfo& step, std::span<float> eps) {
  check(chain_.options.timesteps.at(static_cast<std::size_t>(step.index)) == step.timestep,
        "the sampler visits a timestep that the session has no row for");
  if (Status status = session_->evaluate(x, step.index, eps, {team_, cancel_, {}}); !status) {
    return status;
  }
  if (std::all_of(eps.begin(), eps.end(), [](float value) { return std::isfinite(value); })) {
    return {};
  }
  FiniteCheck finite;
  Listener* const listeners[] = {&finite};
  const RunOptions checked{team_, cancel_, listeners};
  Status found = session_->set_condition(condition, checked);
  if (found) {
    found = session_->evaluate(x, step.index, eps, checked);
  }
  const std::string where =
      fmt::format("step {} of {} (t = {})", step.index + 1, step.count, step.timestep);
  if (found) {
    return make_error(
        ErrorCode::kNumerics,
        "{}: the prediction was not finite, but was when repeated: the memory of this "
        "machine may be faulty",
        where);
  }
  if (found.error().code == ErrorCode::kCancelled) {
    return found;
  }
  return make_error(found.error().code,
                    "{}: {}; its inputs were finite, so a float32 overflowed: likely the weights "
                    "of {} are damaged or its training diverged",
                    where, found.error().message, model_.name());
}

}  // namespace mezzotint
