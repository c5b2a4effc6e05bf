#include "report/compare_json.h"

#include <nlohmann/json.hpp>

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}};
}

Json ratio_json(const std::optional<TimeRatio>& ratio) {
  return ratio ? Json{{"median", ratio->median}, {"low", ratio->low}, {"high", ratio->high}}
               : Json(nullptr);
}

Json profile_entry(std::size_t index, const NamedProfile& named) {
  const Profile& profile = named.profile;
  return {{"label", compared_label(index)},
          {"file", named.name},
          {"version", profile.version},
          {"model", profile.model},
          {"grid", profile.grid},
          {"timestep", profile.timestep},
          {"precision", profile.precision},
          {"plan", profile.plan.empty() ? Json(nullptr) : Json(profile.plan)},
          {"plan_hash", profile.plan_hash},
          {"processor", profile.machine.processor},
          {"isa", profile.machine.isa},
          {"threads", profile.machine.threads},
          {"runs", profile.runs},
          {"plain_seconds", spread_json(profile.plain_seconds)},
          {"kernels", kernels_of(profile)},
          {"conversion_share", conversion_share_of(profile)},
          {"arena_bytes", profile.arena_bytes},
          {"packed_bytes", profile.packed_bytes},
          {"peak_bytes", profile.peak_bytes}};
}

Json group_side(const std::optional<GroupProfile>& group) {
  return group ? Json{{"ops", group->ops},
                      {"seconds", spread_json(group->seconds)},
                      {"bottleneck", name_of(group->bottleneck)}}
               : Json(nullptr);
}

Json group_json(const GroupChange& group) {
  return {{"level", group.level},
          {"kind", group.kind},
          {"base", group_side(group.base)},
          {"other", group_side(group.other)},
          {"ratio", ratio_json(group.ratio)},
          {"beyond_noise", group.beyond_noise},
          {"difference", group.difference()},
          {"share", or_null(group.share)}};
}

Json sum_json(const SumChange& sum) {
  return {{"name", sum.name},
          {"base", sum.base},
          {"other", sum.other},
          {"difference", sum.difference()},
          {"share", or_null(sum.share)}};
}

Json op_side(const OpProfile& op) {
  return {{"implementation", op.implementation},
          {"bottleneck", name_of(op.bottleneck)},
          {"seconds", spread_json(op.seconds)}};
}

Json op_json(const OpChange& op) {
  return {{"op", op.base.op},
          {"level", op.base.level},
          {"kind", op.base.kind},
          {"base", op_side(op.base)},
          {"other", op_side(op.other)},
          {"ratio", ratio_json(time_ratio(op.other.seconds, op.base.seconds))},
          {"difference", op.difference()}};
}

Json figure_json(const FigureChange& figure) {
  return {{"name", figure.name},
          {"unit", name_of(figure.unit)},
          {"base", or_null(figure.base)},
          {"other", or_null(figure.other)},
          {"ratio", or_null(figure.ratio())}};
}

Json lone_json(const LoneOps& lone) {
  return {{"count", lone.count}, {"seconds", lone.seconds}};
}

Json contrast_json(const Contrast& contrast) {
  return {{"what", contrast.what}, {"base", contrast.base}, {"other", contrast.other}};
}

template <typename T>
Json list_json(const std::vector<T>& values, Json (*each)(const T&)) {
  Json list = Json::array();
  for (const T& value : values) {
    list.push_back(each(value));
  }
  return list;
}

Json difference_json(std::size_t index, const Difference& difference) {
  return {{"label", compared_label(index)},
          {"sentences", difference.sentences},
          {"contrasts", list_json(difference.contrasts, contrast_json)},
          {"ratio", ratio_json(difference.ratio)},
          {"beyond_noise", difference.beyond_noise},
          {"base_sum", difference.base_sum},
          {"other_sum", difference.other_sum},
          {"classes", list_json(difference.classes, sum_json)},
          {"kinds", list_json(difference.kinds, sum_json)},
          {"groups", list_json(difference.groups, group_json)},
          {"ops", list_json(difference.ops, op_json)},
          {"only_base", lone_json(difference.only_base)},
          {"only_other", lone_json(difference.only_other)},
          {"figures", list_json(difference.figures, figure_json)}};
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json = {{"kind", Comparison::kKind},
               {"schema", Comparison::kSchema},
               {"of", "profiles"},
               {"profiles", Json::array()},
               {"differences", Json::array()}};
  for (std::size_t i = 0; i < comparison.profiles.size(); ++i) {
    json["profiles"].push_back(profile_entry(i, comparison.profiles[i]));
  }
  for (std::size_t i = 0; i < comparison.differences.size(); ++i) {
    json["differences"].push_back(difference_json(i + 1, comparison.differences[i]));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mezzotint
