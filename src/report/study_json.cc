#include "report/study_json.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json share_json(const std::optional<WorkShare>& share) {
  return share ? Json{{"flops", share->flops}, {"time", share->time}} : Json(nullptr);
}

Json row_json(const StudyRow& row) {
  Json json = {{"name", row.name}, {"meaning", row.meaning}};
  if (!row.absent.empty()) {
    json["absent"] = row.absent;
    return json;
  }
  json["seconds"] = {
      {"median", row.seconds.median}, {"low", row.seconds.low}, {"high", row.seconds.high}};
  json["spread"] = row.seconds.relative();
  json["precision"] = row.profile.precision;
  json["plan_sha256"] = row.profile.plan_hash;
  json["ops"] = row.profile.ops.size();
  json["loops"] = row.loops;
  json["pieces"] = row.tasks;
  json["piece_seconds"] = row.task_seconds;
  json["kernels"] = row.kernels;
  json["kernel_seconds"] = row.kernel_seconds;
  json["conversions"] = row.conversions;
  json["conversion_share"] = row.conversion_share;
  json["convolution_share"] = row.convolution_share;
  json["matrix_share"] = share_json(row.profile.matrix_share);
  json["narrow_share"] = share_json(row.profile.narrow_share);
  json["attained"] = or_null(row.attained);
  json["peak_bytes"] = row.profile.peak_bytes;
  json["relative_l2"] = row.relative_l2;
  json["ssim"] = or_null(row.ssim);
  json["warnings"] = row.profile.warnings;
  return json;
}

}  // namespace

std::string study_json(const Study& study) {
  Json json = {
      {"kind", Study::kKind},     {"schema", Study::kSchema},  {"study", "med-ddpm"},
      {"version", study.version}, {"model", study.model},      {"grid", study.grid},
      {"machine", study.machine}, {"truth", Study::kTruth},    {"rounds", study.rounds},
      {"steps", study.steps},     {"variants", Json::array()}, {"findings", study.findings}};
  for (const StudyRow& row : study.rows) {
    json["variants"].push_back(row_json(row));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mezzotint
