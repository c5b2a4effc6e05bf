// The typed graph: values and the ops that make them, in topological order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "graph/attributes.h"
#include "graph/op_kind.h"
#include "graph/types.h"
#include "mezzotint/result.h"

namespace mezzotint {

using ValueId = std::uint32_t;
using OpId = std::uint32_t;

class Graph;

struct ValueType {
  Shape shape;
  DType dtype = DType::kF32;
  Layout layout = Layout::kRowMajor;

  [[nodiscard]] std::int64_t bytes() const {
    return shape.elements() * static_cast<std::int64_t>(size_of(dtype));
  }
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// bytes() if dimensions are not negative and it fits into int64.
[[nodiscard]] std::optional<std::int64_t> checked_bytes(const ValueType& type);

enum class ValueKind : std::uint8_t {
  kInput,      // bound by the caller of a run
  kParameter,  // a weight: read once, by name, when kernels are prepared
  kResult,     // made by an op
};

struct Value {
  std::string name;  // unique; a parameter's is its path in the checkpoint
  ValueType type;
  ValueKind kind = ValueKind::kResult;
  Rate rate = Rate::kModel;
  OpId producer = 0;  // kResult only
};

struct Op {
  OpKind kind = OpKind::add;
  std::string name;  // unique among ops; the path of its weights, or of the module it ends
  Attributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // kind == region: the unfused ops this op stands for. Its inputs and outputs correspond to the
  // op's.
  std::shared_ptr<const Graph> body;
};

class Graph {
 public:
  // Names must be new; a duplicate is a bug of the builder.
  ValueId add_input(std::string name, ValueType type, Rate rate);
  ValueId add_parameter(std::string name, Shape shape);

  // Infers the outputs' types. The first output takes the op's name, the k-th "name:k".
  // kInvalidInput names the op and what its inputs should have been.
  Result<OpId> add_op(Op op);

  void add_output(ValueId value) { outputs_.push_back(value); }
  // A second name for a value: modules of the checkpoint whose result it is.
  void add_alias(std::string name, ValueId value) { aliases_[std::move(name)] = value; }

  [[nodiscard]] std::span<const Value> values() const { return values_; }
  [[nodiscard]] std::span<const Op> ops() const { return ops_; }
  [[nodiscard]] std::span<const ValueId> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const ValueId> parameters() const { return parameters_; }
  [[nodiscard]] std::span<const ValueId> outputs() const { return outputs_; }
  [[nodiscard]] const std::map<std::string, ValueId, std::less<>>& aliases() const {
    return aliases_;
  }

  [[nodiscard]] const Value& value(ValueId id) const { return values_.at(id); }
  [[nodiscard]] const Op& op(OpId id) const { return ops_.at(id); }
  // By value name or alias.
  [[nodiscard]] std::optional<ValueId> find_value(std::string_view name) const;

 private:
  ValueId add_value(Value value);

  std::vector<Value> values_;
  std::vector<Op> ops_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> parameters_;
  std::vector<ValueId> outputs_;
  std::map<std::string, ValueId, std::less<>> aliases_;
  std::map<std::string, ValueId, std::less<>> by_name_;
};

// An op with the graph it lives in: what definitions, passes and backends are handed.
struct OpView {
  const Graph& graph;
  const Op& op;

  [[nodiscard]] std::size_t input_count() const { return op.inputs.size(); }
  [[nodiscard]] const Value& input(std::size_t i) const { return graph.value(op.inputs.at(i)); }
  [[nodiscard]] const Value& output(std::size_t i = 0) const {
    return graph.value(op.outputs.at(i));
  }
};

// Number of ops (and graph outputs) that read each value.
[[nodiscard]] std::vector<int> use_counts(const Graph& graph);

}  // namespace mezzotint
