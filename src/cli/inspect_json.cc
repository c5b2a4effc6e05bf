#include <nlohmann/json.hpp>

#include "cli/inspect_print.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

using nlohmann::ordered_json;

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const TensorsSummary& tensors) {
  ordered_json json{{"file", tensors.file.string()},   {"files", tensors.files},
                    {"bytes", tensors.file_bytes},     {"format", tensors.format},
                    {"count", tensors.tensors},        {"group_count", tensors.group_count},
                    {"groups", ordered_json::array()}, {"first", ordered_json::array()}};
  for (const GroupSummary& group : tensors.groups) {
    ordered_json types = ordered_json::array();
    for (const DTypeUse& use : group.types) {
      types.push_back({{"dtype", std::string(name_of(use.dtype))},
                       {"tensors", use.tensors},
                       {"bytes", use.bytes}});
    }
    json["groups"].push_back({{"name", group.name},
                              {"tensors", group.tensors},
                              {"elements", group.elements},
                              {"dtypes", std::move(types)}});
  }
  for (const TensorInfo& tensor : tensors.first) {
    json["first"].push_back({{"group", tensor.group},
                             {"name", tensor.name},
                             {"dtype", std::string(name_of(tensor.dtype))},
                             {"shape", tensor.shape}});
  }
  return json;
}

ordered_json to_json(const MedDdpmConfig& config) {
  return {{"image_channels", config.image_channels},
          {"condition_channels", config.condition_channels},
          {"base_channels", config.base_channels},
          {"channel_multiplier", config.channel_multiplier},
          {"res_blocks", config.res_blocks},
          {"attention_levels", config.attention_levels},
          {"heads", config.heads},
          {"size_multiple", config.size_multiple()}};
}

ordered_json to_json(const LevelCost& cost) {
  return {{"grid", cost.grid},
          {"channels", cost.channels},
          {"conv_flops", cost.conv_flops},
          {"attention_flops", cost.attention_flops},
          {"other_flops", cost.other_flops},
          {"activation_bytes", cost.activation_bytes},
          {"largest_bytes", cost.largest_bytes}};
}

ordered_json evaluation_json(const ModelSummary& model) {
  ordered_json json{{"grid", model.cost_grid}, {"levels", ordered_json::array()}};
  for (const LevelCost& cost : model.levels) {
    json["levels"].push_back(to_json(cost));
  }
  json["memory"] = nullptr;
  if (model.memory) {
    json["memory"] = {{"packed_bytes", model.memory->packed_bytes},
                      {"arena_bytes", model.memory->arena_bytes},
                      {"peak_bytes", model.memory->peak_bytes}};
    json["predicted_seconds"] = model.memory->predicted_seconds;
  }
  return json;
}

ordered_json to_json(const ModelSummary& model) {
  ordered_json labels = ordered_json::object();
  for (const LabelName& label : model.labels) {
    labels[std::to_string(label.value)] = label.name;
  }
  return {{"sha256", model.sha256},
          {"weights", model.weights},
          {"weights_default", model.weights_default},
          {"group", model.group},
          {"recipe", model.recipe},
          {"modalities", model.modalities},
          {"network", to_json(model.config)},
          {"parameters", model.parameters},
          {"finite", model.finite},
          {"grid", or_null(model.grid)},
          {"spacing_mm", or_null(model.spacing_mm)},
          {"frame", model.frame},
          {"labels", std::move(labels)},
          {"licence", or_null(model.licence)},
          {"timesteps", or_null(model.timesteps)},
          {"schedule_checked", model.schedule_checked},
          {"training_steps", or_null(model.step)},
          {"evaluation", model.levels.empty() ? ordered_json(nullptr) : evaluation_json(model)},
          {"memory_bytes", model.memory_bytes},
          {"largest_cube", or_null(model.largest_cube)},
          {"notes", model.notes}};
}

ordered_json to_json(const VoxelSummary& voxels) {
  ordered_json labels = ordered_json::object();
  for (const LabelCount& label : voxels.labels) {
    labels[std::to_string(label.value)] = label.voxels;
  }
  return {{"count", voxels.voxels},
          {"not_finite", voxels.not_finite},
          {"least", voxels.least},
          {"most", voxels.most},
          {"labels", voxels.labels.empty() ? ordered_json(nullptr) : std::move(labels)}};
}

ordered_json to_json(const SidecarClaim& claim) {
  ordered_json files = ordered_json::array();
  for (const ClaimedFile& file : claim.files) {
    files.push_back({{"name", file.name}, {"modality", file.modality}, {"sha256", file.sha256}});
  }
  return {{"version", claim.version},  {"model", claim.model},
          {"mask", claim.mask},        {"sampler", claim.sampler},
          {"steps", claim.steps},      {"seed", or_null(claim.seed)},
          {"files", std::move(files)}, {"run_sha256", claim.run_sha256}};
}

ordered_json to_json(const Origin& origin) {
  ordered_json json{{"sidecar", origin.sidecar.string()},
                    {"modality", origin.modality},
                    {"unchanged", origin.unchanged}};
  json.update(to_json(origin.claim));
  return json;
}

ordered_json to_json(const RunStateContent& state) {
  return {{"step", state.step},
          {"steps", state.shape.steps},
          {"values", state.shape.elements},
          {"carried", state.shape.carried},
          {"run_sha256", state.shape.identity}};
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json to_json(const RecordSummary& record) {
  ordered_json json{{"schema", record.schema},
                    {"version", text_or_null(record.version)},
                    {"model", text_or_null(record.model)},
                    {"model_sha256", text_or_null(record.model_sha256)},
                    {"grid", or_null(record.grid)},
                    {"precision", text_or_null(record.precision)},
                    {"isa", text_or_null(record.isa)},
                    {"processor", text_or_null(record.processor)},
                    {"threads", record.threads > 0 ? ordered_json(record.threads) : nullptr},
                    {"facts", ordered_json::array()},
                    {"commands", record.commands}};
  for (const RecordFact& fact : record.facts) {
    json["facts"].push_back({{"name", fact.name}, {"text", fact.text}});
  }
  return json;
}

ordered_json to_json(const ImageSummary& image) {
  const NiftiHeader& header = image.header;
  ordered_json json{
      {"version", header.version},
      {"big_endian", header.big_endian},
      {"pair", header.two_files},
      {"compressed", image.compressed},
      {"bytes", image.file_bytes},
      {"dims", header.dims},
      {"dtype", std::string(name_of(header.type))},
      {"slope", header.slope},
      {"intercept", header.intercept},
      {"spacing_mm", header.spacing},
      {"field_mm", image.field_mm},
      {"orientation", image.orientation},
      {"affine", header.affine},
      {"affine_source", std::string(name_of(header.affine_source))},
      {"placed_by", image.placed_by},
      {"sform_code", header.geometry.sform_code},
      {"qform_code", header.geometry.qform_code},
      {"description", header.description},
      {"notes", header.notes},
      {"sha256", image.sha256.empty() ? ordered_json(nullptr) : ordered_json(image.sha256)},
      {"voxels", image.voxels ? to_json(*image.voxels) : ordered_json(nullptr)},
      {"masks", ordered_json::array()},
      {"origin", image.origin ? to_json(*image.origin) : ordered_json(nullptr)}};
  for (const MaskVerdict& mask : image.masks) {
    json["masks"].push_back({{"for", mask.target},
                             {"usable", mask.usable},
                             {"detail", mask.detail},
                             {"notes", mask.notes}});
  }
  return json;
}

}  // namespace

void print_report_json(const InspectReport& report) {
  const std::string_view kind = report.record ? report.record->kind : name_of(report.kind);
  ordered_json json{{"path", report.path.string()}, {"kind", std::string(kind)}};
  if (report.tensors) {
    json["tensors"] = to_json(*report.tensors);
  }
  if (report.model) {
    json["model"] = to_json(*report.model);
  }
  if (report.image) {
    json["image"] = to_json(*report.image);
  }
  if (report.sidecar) {
    json["sidecar"] = to_json(*report.sidecar);
  }
  if (report.state) {
    json["run_state"] = to_json(*report.state);
  }
  if (report.record) {
    json["record"] = to_json(*report.record);
  }
  json["problem"] = report.problem ? ordered_json(report.problem->message) : ordered_json(nullptr);
  // Texts from files may hold bytes that are not UTF-8.
  print_to(stdout, "{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace mezzotint::cli
