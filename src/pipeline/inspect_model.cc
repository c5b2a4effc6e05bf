#include "pipeline/inspect_model.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/error.h"
#include "pipeline/condition.h"
#include "pipeline/inspect_answer.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"

namespace mezzotint {
namespace {

void add(GroupSummary& group, const TensorInfo& tensor) {
  auto use = std::ranges::find(group.types, tensor.dtype, &DTypeUse::dtype);
  if (use == group.types.end()) {
    group.types.push_back({tensor.dtype, 0, 0});
    use = std::prev(group.types.end());
  }
  ++group.tensors;
  group.elements += tensor.elements;
  ++use->tensors;
  use->bytes += static_cast<std::uint64_t>(tensor.elements) * size_of(tensor.dtype);
}

void tell_facts(const Model& model, ModelSummary& summary) {
  summary.sha256 = model.sha256;
  const auto& first = model.weights.tensors;
  summary.group = first.empty() ? "" : model.tensors->tensors()[first.begin()->second].group;
  summary.weights = model.weights_name;
  summary.weights_default = summary.group.empty() || model.weights_name == "ema";
  summary.recipe = model.recipe->name;
  summary.modalities.assign(model.recipe->modalities.begin(), model.recipe->modalities.end());
  summary.config = model.config;
  summary.parameters = model.parameters;
  summary.grid = model.grid;
  summary.spacing_mm = model.spacing_mm;
  summary.frame = model.frame;
  summary.labels = model.labels.labels;
  summary.licence = model.licence;
  summary.timesteps = model.timesteps;
  summary.schedule_checked = model.weights.timesteps.has_value();
  summary.step = model.weights.step;
}

Status check_weights(const Model& model, const Machine& machine, const CancelToken* cancel) {
  ModelParameters parameters(model, cancel);
  std::vector<float> values;
  for (const auto& [name, index] : model.weights.tensors) {
    const auto elements = static_cast<std::uint64_t>(model.tensors->tensors()[index].elements);
    if (Status status = check_memory(elements * sizeof(float), std::nullopt, machine); !status) {
      return status;
    }
    values.resize(elements);
    if (Status status = parameters.read(name, values); !status) {
      return status;
    }
  }
  return {};
}

std::string cube_note(const ModelSummary& summary) {
  return *summary.largest_cube == 0
             ? std::string("not even the smallest grid fits")
             : fmt::format("the largest cube that fits is {}", *summary.largest_cube);
}

// Memory at the grid, and what would fit instead.
Status tell_memory(const Machine& machine, ModelSummary& summary, const CancelToken* cancel) {
  const auto backend = this_backend();
  summary.memory_bytes = machine.memory_bytes;
  if (machine.memory_bytes != 0) {
    const auto cube = largest_cube(summary.config, *backend, machine, cancel);
    if (!cube) {
      return cube.error();
    }
    summary.largest_cube = *cube;
  }
  if (summary.levels.empty()) {
    return {};
  }
  const auto plan = plan_memory(summary.config, summary.cost_grid, *backend, machine);
  if (!plan && plan.error().code != ErrorCode::kResource) {
    return plan.error();
  }
  const Status fits =
      plan ? check_memory(plan->peak_bytes, std::nullopt, machine) : Status(plan.error());
  if (plan) {
    summary.memory = *plan;
  }
  if (!fits) {
    summary.notes.push_back(fmt::format("one evaluation at {} {}; {}",
                                        fmt::join(summary.cost_grid, "x"), fits.error().message,
                                        cube_note(summary)));
  }
  return {};
}

// The grid that costs are told for: as asked, or the model's own.
Status tell_costs(const Model& model, const ModelQuestions& questions, const Machine& machine,
                  ModelSummary& summary, const CancelToken* cancel) {
  const auto grid = choose_grid(model, questions.size);
  if (!grid && questions.size) {
    return grid.error();
  }
  if (grid) {
    summary.cost_grid = *grid;
    auto levels = level_costs(model.config, *grid);
    if (!levels) {
      return levels.error();
    }
    summary.levels = std::move(*levels);
  } else {
    summary.notes.push_back(grid.error().message);
  }
  return tell_memory(machine, summary, cancel);
}

}  // namespace

TensorsSummary summarize(const TensorFile& file, std::string_view format) {
  TensorsSummary summary;
  summary.file = file.path();
  summary.files = std::ssize(file.files());
  summary.file_bytes = file.bytes();
  summary.format = format;
  summary.tensors = std::ssize(file.tensors());
  const std::vector<std::string> groups = file.groups();
  summary.group_count = std::ssize(groups);
  for (const std::string& name : std::span(groups).first(std::min(groups.size(), kListedGroups))) {
    summary.groups.push_back({name, 0, 0, {}});
  }
  for (const TensorInfo& tensor : file.tensors()) {
    const auto group = std::ranges::find(summary.groups, tensor.group, &GroupSummary::name);
    if (group != summary.groups.end()) {
      add(*group, tensor);
    }
    if (summary.first.size() < kListedTensors) {
      summary.first.push_back(tensor);
    }
  }
  for (GroupSummary& group : summary.groups) {
    std::ranges::stable_sort(group.types, std::greater(), &DTypeUse::bytes);
  }
  return summary;
}

Result<ModelAnswer> inspect_model(const std::filesystem::path& path,
                                  const ModelQuestions& questions, const CancelToken* cancel) {
  ModelAnswer answer;
  ModelSummary& summary = answer.summary;
  const auto model = open_model_any_weights(path, questions.weights, cancel, questions.variant);
  if (!model) {
    return model.error();
  }
  tell_facts(*model, summary);
  const auto machine = this_machine(/*threads=*/0);
  if (!machine) {
    return machine.error();
  }
  Status status = tell_costs(*model, questions, *machine, summary, cancel);
  if (status && questions.check) {
    status = check_weights(*model, *machine, cancel);
    summary.finite = status.ok();
  }
  return with_problem(std::move(answer), status);
}

}  // namespace mezzotint
