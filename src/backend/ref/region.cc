#include <algorithm>

#include "backend/ref/pointwise.h"
#include "base/check.h"

namespace mezzotint::ref {
namespace {

// One element of any value of a region's body, computed from the region's inputs when asked for.
class Body {
 public:
  Body(const Graph& graph, const Elements& outside) : graph_(graph), outside_(outside) {}

  double element(ValueId id, const std::int64_t* index) const {
    if (const auto i = place(graph_.inputs(), id)) {
      return outside_.input(*i, index);
    }
    if (const auto k = place(graph_.outputs(), id)) {
      if (const auto stored = outside_.stored_output(*k, index)) {
        return *stored;
      }
    }
    return computed(id, index);
  }

  double computed(ValueId id, const std::int64_t* index) const {
    const Value& value = graph_.value(id);
    check(value.kind == ValueKind::kResult, "a region's body has parameters of its own");
    const Op& op = graph_.op(value.producer);
    return element_at({graph_, op}, *place(op.outputs, id), index, InnerElements(*this, op));
  }

 private:
  class InnerElements : public Elements {
   public:
    InnerElements(const Body& body, const Op& op) : body_(body), op_(op) {}
    double input(std::size_t i, const std::int64_t* index) const override {
      return body_.element(op_.inputs[i], index);
    }

   private:
    const Body& body_;
    const Op& op_;
  };

  static std::optional<std::size_t> place(std::span<const ValueId> ids, ValueId id) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - ids.begin());
  }

  const Graph& graph_;
  const Elements& outside_;
};

}  // namespace

double region_at(const OpView& view, std::size_t output, const std::int64_t* index,
                 const Elements& elements) {
  const Graph& graph = *view.op.body;
  const ValueId id = graph.outputs()[output];
  const Body body(graph, elements);
  return graph.value(id).kind == ValueKind::kResult ? body.computed(id, index)
                                                    : body.element(id, index);
}

}  // namespace mezzotint::ref
