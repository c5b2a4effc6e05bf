// Builds a Graph op by op without a check after each: the first error sticks, later calls do
// nothing, and finish() reports it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// An op's `name` is the name of its first result too. After an error every ValueId returned is
// meaningless, and harmless to pass on.
class GraphBuilder {
 public:
  // kInvalidInput for a name in use, a dimension below 1, a size beyond 64 bits, or channels_last
  // with a rank other than 5.
  ValueId input(std::string name, ValueType type, Rate rate);
  ValueId parameter(std::string name, Shape shape);

  ValueId add(std::string name, ValueId a, ValueId b);
  // x [N, C, ...] + v [N, C].
  ValueId add_channels(std::string name, ValueId x, ValueId v);
  // activation is "none" or "silu".
  ValueId affine(std::string name, ValueId x, ValueId coefficients, std::string activation = "none",
                 std::int64_t channel_offset = 0);
  ValueId attention(std::string name, ValueId qkv, std::int64_t heads);
  ValueId channel_moments(std::string name, ValueId x);
  ValueId concat(std::string name, std::span<const ValueId> parts);
  ValueId conv3d(std::string name, ValueId x, ValueId weight, std::optional<ValueId> bias,
                 std::int64_t stride, std::int64_t padding);
  ValueId group_norm_coefficients(std::string name, ValueId moments, ValueId weight, ValueId bias,
                                  std::int64_t groups, double eps);
  ValueId linear(std::string name, ValueId x, ValueId weight, std::optional<ValueId> bias);
  // The body's inputs and outputs correspond to the op's; the first result is returned, the k-th is
  // result(first, k).
  ValueId region(std::string name, std::span<const ValueId> inputs,
                 std::shared_ptr<const Graph> body);
  ValueId reorder(std::string name, ValueId x, Layout layout);
  // Rows `index` (int32) of the table.
  ValueId select_rows(std::string name, ValueId table, ValueId index);
  ValueId silu(std::string name, ValueId x);
  ValueId timestep_embedding(std::string name, ValueId t, std::int64_t dim, double max_period);
  ValueId upsample_trilinear(std::string name, ValueId x);

  // Any op; its first result.
  ValueId op(Op op);
  // The k-th result of the op whose first result is `first`.
  ValueId result(ValueId first, std::size_t k);

  void output(ValueId value);
  // kInvalidInput for a name in use.
  void alias(std::string name, ValueId value);

  // Type of a value made by this builder; an empty type after an error.
  [[nodiscard]] ValueType type(ValueId value) const;
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] Status status() const { return error_ ? Status(*error_) : Status(); }
  [[nodiscard]] const Graph& graph() const { return graph_; }

  // The first error, or the verified graph. Call once.
  Result<Graph> finish();

 private:
  bool accept_name(std::string_view name);
  bool accept_type(std::string_view name, const ValueType& type);
  ValueId fail(Error error);

  Graph graph_;
  std::optional<Error> error_;
};

}  // namespace mezzotint
