#include "graph/verifier.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, int depth)
      : graph_(graph), depth_(depth), defined_(graph.values().size(), false) {}

  Status run() {
    if (Status status = check_sources(graph_.inputs(), ValueKind::kInput); !status) {
      return status;
    }
    if (Status status = check_sources(graph_.parameters(), ValueKind::kParameter); !status) {
      return status;
    }
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      if (Status status = check_op(static_cast<OpId>(i)); !status) {
        return status;
      }
    }
    if (Status status = check_values(); !status) {
      return status;
    }
    return check_outputs();
  }

 private:
  bool in_range(ValueId id) const { return id < graph_.values().size(); }

  Status check_sources(std::span<const ValueId> ids, ValueKind kind) {
    const std::string_view what = kind == ValueKind::kInput ? "input" : "parameter";
    for (const ValueId id : ids) {
      if (!in_range(id)) {
        return invalid_input("{} list holds value {}, the graph has {}", what, id,
                             graph_.values().size());
      }
      const Value& value = graph_.value(id);
      if (value.kind != kind) {
        return invalid_input("value {} is listed as {} {} but is of another kind",
                             in_quotes(value.name), kind == ValueKind::kInput ? "an" : "a", what);
      }
      if (defined_[id]) {
        return invalid_input("{} {} is listed twice", what, in_quotes(value.name));
      }
      if (kind == ValueKind::kParameter &&
          (value.rate != Rate::kModel || value.type.dtype != DType::kF32 ||
           value.type.layout != Layout::kRowMajor)) {
        return invalid_input("parameter {} must be row_major float32 with rate model",
                             in_quotes(value.name));
      }
      defined_[id] = true;
    }
    return {};
  }

  Status check_op(OpId id) {
    const Op& op = graph_.op(id);
    OpInputs inputs{op, {}};
    Rate rate = Rate::kModel;
    for (const ValueId input : op.inputs) {
      if (!in_range(input)) {
        return invalid_input("op {} reads value {}, the graph has {}", in_quotes(op.name), input,
                             graph_.values().size());
      }
      const Value& value = graph_.value(input);
      if (!defined_[input]) {
        return invalid_input("op {} reads {} before it is defined", in_quotes(op.name),
                             in_quotes(value.name));
      }
      inputs.values.push_back(&value);
      rate = std::max(rate, value.rate);
    }
    if (Status status = check_body(inputs); !status) {
      return status;
    }
    const auto types = infer_types(inputs);
    if (!types) {
      return invalid_input("op {} ({}): {}", in_quotes(op.name), name_of(op.kind),
                           types.error().message);
    }
    if (types->size() != op.outputs.size() || types->empty()) {
      return invalid_input("op {} has {} results, {} gives {}", in_quotes(op.name),
                           op.outputs.size(), name_of(op.kind), types->size());
    }
    for (std::size_t k = 0; k < types->size(); ++k) {
      if (Status status = check_result(id, k, (*types)[k], rate); !status) {
        return status;
      }
    }
    return {};
  }

  Status check_result(OpId op_id, std::size_t k, const ValueType& type, Rate rate) {
    const Op& op = graph_.op(op_id);
    const ValueId id = op.outputs[k];
    if (!in_range(id)) {
      return invalid_input("op {} makes value {}, the graph has {}", in_quotes(op.name), id,
                           graph_.values().size());
    }
    const Value& value = graph_.value(id);
    if (defined_[id]) {
      return invalid_input("op {} makes {}, which is already defined", in_quotes(op.name),
                           in_quotes(value.name));
    }
    if (value.kind != ValueKind::kResult || value.producer != op_id) {
      return invalid_input("op {} makes {}, which names another producer", in_quotes(op.name),
                           in_quotes(value.name));
    }
    if (value.name != (k == 0 ? op.name : fmt::format("{}:{}", op.name, k))) {
      return invalid_input("result {} of op {} is named {}", k, in_quotes(op.name),
                           in_quotes(value.name));
    }
    if (value.type != type) {
      return invalid_input(
          "result {} is recorded as {} {} {}, op {} gives {} {} {}", in_quotes(value.name),
          name_of(value.type.dtype), value.type.shape.to_string(), name_of(value.type.layout),
          name_of(op.kind), name_of(type.dtype), type.shape.to_string(), name_of(type.layout));
    }
    if (value.rate != rate) {
      return invalid_input("result {} has rate {}, its inputs make it {}", in_quotes(value.name),
                           name_of(value.rate), name_of(rate));
    }
    defined_[id] = true;
    return {};
  }

  // Types of the region's inputs against the body's are the op's own inference.
  Status check_body(const OpInputs& inputs) const {
    const Op& op = inputs.op;
    if ((op.kind == OpKind::region) != (op.body != nullptr)) {
      return invalid_input("op {} ({}) {}", in_quotes(op.name), name_of(op.kind),
                           op.body ? "must not have a body" : "has no body");
    }
    if (op.body == nullptr) {
      return {};
    }
    if (depth_ == kMaxBodyDepth) {
      return invalid_input("op {}: bodies nest more than {} deep", in_quotes(op.name),
                           kMaxBodyDepth);
    }
    if (Status status = Verifier(*op.body, depth_ + 1).run(); !status) {
      return invalid_input("body of {}: {}", in_quotes(op.name), status.error().message);
    }
    const Graph& body = *op.body;
    if (!body.parameters().empty()) {
      return invalid_input("body of {} has parameter {}; weights reach a body as inputs",
                           in_quotes(op.name), in_quotes(body.value(body.parameters()[0]).name));
    }
    const std::size_t both = std::min(body.inputs().size(), inputs.values.size());
    for (std::size_t i = 0; i < both; ++i) {
      const Value& inner = body.value(body.inputs()[i]);
      if (inner.rate != inputs.values[i]->rate) {
        return invalid_input("body of {}: input {} has rate {}, the op is given rate {}",
                             in_quotes(op.name), in_quotes(inner.name), name_of(inner.rate),
                             name_of(inputs.values[i]->rate));
      }
    }
    return {};
  }

  Status check_values() const {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Value& value = graph_.value(id);
      if (!defined_[id]) {
        return invalid_input("value {} is neither listed nor made by an op", in_quotes(value.name));
      }
      if (value.name.empty() || !names.insert(value.name).second) {
        return invalid_input("value {} has {}", id,
                             value.name.empty()
                                 ? std::string("no name")
                                 : fmt::format("the name of another: {}", in_quotes(value.name)));
      }
      if (graph_.find_value(value.name) != id) {
        return invalid_input("value {} is not found by its name", in_quotes(value.name));
      }
      const auto bytes = checked_bytes(value.type);
      if (!bytes || *bytes < 1) {
        return invalid_input(
            "value {} has shape {}; dimensions must be at least 1 and the size fit"
            " into 64 bits",
            in_quotes(value.name), value.type.shape.to_string());
      }
      if (value.type.layout == Layout::kChannelsLast && value.type.shape.rank() != 5) {
        return invalid_input("value {} is channels_last with shape {}", in_quotes(value.name),
                             value.type.shape.to_string());
      }
    }
    return {};
  }

  Status check_outputs() const {
    if (graph_.outputs().empty()) {
      return invalid_input("the graph has no output");
    }
    for (const ValueId id : graph_.outputs()) {
      if (!in_range(id)) {
        return invalid_input("output is value {}, the graph has {}", id, graph_.values().size());
      }
    }
    for (const auto& [name, id] : graph_.aliases()) {
      if (!in_range(id)) {
        return invalid_input("alias {} is value {}, the graph has {}", in_quotes(name), id,
                             graph_.values().size());
      }
      if (graph_.find_value(name) != id) {
        return invalid_input("alias {} stands for {}, but another value has that name",
                             in_quotes(name), in_quotes(graph_.value(id).name));
      }
    }
    return {};
  }

  const Graph& graph_;
  int depth_;
  std::vector<bool> defined_;
};

}  // namespace

Status verify(const Graph& graph) {
  return Verifier(graph, 0).run();
}

}  // namespace mezzotint
