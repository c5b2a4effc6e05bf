#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

// NAME.again, NAME.again2 ...
std::string free_name(const Graph& graph, const std::string& name) {
  std::string again = fmt::format("{}.again", name);
  for (int number = 2; graph.find_value(again); ++number) {
    again = fmt::format("{}.again{}", name, number);
  }
  return again;
}

}  // namespace

Result<Graph> repeat_op(const Graph& graph, OpId op, std::span<const OpId> readers) {
  check(!readers.empty() && *std::min_element(readers.begin(), readers.end()) > op,
        "an op is repeated for readers that come after it");
  const OpId first = *std::min_element(readers.begin(), readers.end());
  const Op& original = graph.op(op);
  Rewriter rewriter(graph);
  std::vector<ValueId> repeated;
  for (OpId id = 0; id < graph.ops().size(); ++id) {
    if (id == first) {
      Op copy = original;
      copy.name = free_name(graph, original.name);
      for (ValueId& input : copy.inputs) {
        input = rewriter.at(input);
      }
      const auto made = rewriter.target().add_op(std::move(copy));
      if (!made) {
        return made.error();
      }
      repeated = rewriter.target().op(*made).outputs;
    }
    std::vector<ValueId> held;
    const bool reads_again = std::find(readers.begin(), readers.end(), id) != readers.end();
    for (std::size_t i = 0; reads_again && i < repeated.size(); ++i) {
      held.push_back(rewriter.at(original.outputs[i]));
      rewriter.map(original.outputs[i], repeated[i]);
    }
    if (Status status = rewriter.clone(graph.op(id)); !status) {
      return status.error();
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      rewriter.map(original.outputs[i], held[i]);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace mezzotint
