#include "report/plan_comparison_json.h"

#include <nlohmann/json.hpp>

#include "report/compare.h"

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json fusions_json(const std::optional<Fusions>& fusions) {
  if (!fusions) {
    return nullptr;
  }
  Json list = Json::array();
  for (const Fusion fusion : *fusions) {
    list.push_back(name_of(fusion));
  }
  return list;
}

Json entry_json(const std::optional<PlanEntry>& entry) {
  if (!entry) {
    return nullptr;
  }
  return {{"implementation", entry->implementation.empty() ? Json() : Json(entry->implementation)},
          {"layout", entry->layout ? Json(layout_words(entry->layout)) : Json()},
          {"fuse", fusions_json(entry->fuse)}};
}

Json op_json(const PlannedOp& op) {
  Json json = {{"op", op.op}, {"entries", Json::array()}};
  for (const std::optional<PlanEntry>& entry : op.entries) {
    json["entries"].push_back(entry_json(entry));
  }
  return json;
}

Json plan_entry(std::size_t index, const ComparedPlan& plan, std::size_t differing) {
  return {{"label", compared_label(index)},
          {"file", plan.name},
          {"version", plan.version},
          {"backend", plan.backend},
          {"isa", plan.isa},
          {"precision", name_of(plan.precision)},
          {"layout", layout_words(plan.layout)},
          {"entries", plan.entries},
          {"differing", differing},
          {"processor", plan.processor},
          {"threads", plan.threads},
          {"predicted_seconds", or_null(plan.predicted_seconds)},
          {"measured_seconds", or_null(plan.measured_seconds)},
          {"default_seconds", or_null(plan.default_seconds)},
          {"relative_l2", or_null(plan.relative_l2)},
          {"notes", plan.notes}};
}

}  // namespace

std::string comparison_json(const PlanComparison& comparison) {
  Json json = {{"kind", Comparison::kKind},
               {"schema", Comparison::kSchema},
               {"of", "plans"},
               {"model", comparison.model},
               {"grid", comparison.grid},
               {"sentences", comparison.sentences},
               {"plans", Json::array()},
               {"equal_ops", comparison.equal_ops},
               {"ops", Json::array()}};
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    json["plans"].push_back(plan_entry(i, comparison.plans[i], comparison.differing(i)));
  }
  for (const PlannedOp& op : comparison.ops) {
    json["ops"].push_back(op_json(op));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mezzotint
