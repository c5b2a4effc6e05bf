#include "tune/op_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/text.h"
#include "runtime/choices.h"
#include "tune/one_op.h"

namespace mezzotint {

const Way* TableOp::find(const std::string& implementation) const {
  const auto found =
      std::ranges::find_if(ways, [&](const Way& way) { return way.name() == implementation; });
  return found == ways.end() ? nullptr : &*found;
}

Result<std::size_t> OpTable::add(const OpView& view) {
  auto graph = one_op_graph(view);
  if (!graph) {
    return graph.error();
  }
  std::string text = to_text(*graph);
  if (const auto found = by_text_.find(text); found != by_text_.end()) {
    return found->second;
  }
  TableOp op{std::move(*graph), text, {}, {}};
  const OpView alone{op.graph, op.graph.op(0)};
  const Explanation explanation =
      explain_op(alone, *backend_, target_, /*planned=*/"", /*memory_price=*/0);
  const auto implementations = backend_->implementations(alone.op.kind);
  for (std::size_t i = 0; i < implementations.size(); ++i) {
    const Choice& choice = explanation.choices[i];
    if (!choice.refusal.empty()) {
      op.refusals[choice.implementation] = choice.refusal;
      continue;
    }
    const bool is_priced = std::isfinite(choice.one_thread_seconds);
    op.ways.push_back(
        {implementations[i],
         is_priced ? choice.predicted_seconds : std::numeric_limits<double>::infinity(),
         implementations[i]->error_growth(alone), std::nullopt});
  }
  by_text_[std::move(text)] = ops_.size();
  ops_.push_back(std::move(op));
  return ops_.size() - 1;
}

void OpTable::set_timing(const WayId& id, const OpTiming& timing) {
  Way& way = ops_[id.op].ways[id.way];
  way.timing = timing;
  const double ratio = timing.seconds / way.predicted_seconds;
  if (ratio > 0 && std::isfinite(ratio)) {
    for (const std::string& name : {way.name(), std::string()}) {
      Scale& scale = scales_[name];
      scale.log_sum += std::log(ratio);
      ++scale.count;
    }
  }
}

void OpTable::set_seconds(const WayId& id, double seconds) {
  std::optional<OpTiming>& timing = ops_[id.op].ways[id.way].timing;
  timing = timing.value_or(OpTiming{0, 0, 1});
  timing->seconds = seconds;
}

int OpTable::ways() const {
  std::size_t count = 0;
  for (const TableOp& op : ops_) {
    count += op.is_used ? op.ways.size() : 0;
  }
  return static_cast<int>(count);
}

std::vector<WayId> OpTable::unmeasured() const {
  struct Candidate {
    WayId id;
    double slower = 1;  // than the best prediction for the op
    double seconds = 0;
  };
  std::vector<Candidate> candidates;
  for (std::size_t op = 0; op < ops_.size(); ++op) {
    if (!ops_[op].is_used) {
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    for (const Way& way : ops_[op].ways) {
      best = std::min(best, way.predicted_seconds);
    }
    for (std::size_t way = 0; way < ops_[op].ways.size(); ++way) {
      const Way& each = ops_[op].ways[way];
      if (!each.timing) {
        const double slower = each.predicted_seconds == best ? 1 : each.predicted_seconds / best;
        candidates.push_back({{op, way}, slower, each.predicted_seconds});
      }
    }
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.slower != b.slower ? a.slower < b.slower : a.seconds > b.seconds;
  });
  std::vector<WayId> ids;
  for (const Candidate& candidate : candidates) {
    ids.push_back(candidate.id);
  }
  return ids;
}

double OpTable::seconds(const Way& way) const {
  if (way.timing) {
    return way.timing->seconds;
  }
  for (const std::string& name : {way.name(), std::string()}) {
    if (const auto found = scales_.find(name); found != scales_.end()) {
      return way.predicted_seconds * std::exp(found->second.log_sum / found->second.count);
    }
  }
  return way.predicted_seconds;
}

const Way* OpTable::fastest(std::size_t op) const {
  const Way* best = nullptr;
  for (const Way& way : ops_[op].ways) {
    if (best == nullptr || seconds(way) < seconds(*best)) {
      best = &way;
    }
  }
  return best;
}

}  // namespace mezzotint
