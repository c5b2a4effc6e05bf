#include "graph/graph_builder.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "graph/verifier.h"

namespace mezzotint {
namespace {

std::vector<ValueId> with_optional(std::vector<ValueId> inputs, std::optional<ValueId> last) {
  if (last) {
    inputs.push_back(*last);
  }
  return inputs;
}

}  // namespace

ValueId GraphBuilder::input(std::string name, ValueType type, Rate rate) {
  if (!accept_name(name) || !accept_type(name, type)) {
    return 0;
  }
  return graph_.add_input(std::move(name), std::move(type), rate);
}

ValueId GraphBuilder::parameter(std::string name, Shape shape) {
  if (!accept_name(name) || !accept_type(name, {shape, DType::kF32, Layout::kRowMajor})) {
    return 0;
  }
  return graph_.add_parameter(std::move(name), std::move(shape));
}

ValueId GraphBuilder::add(std::string name, ValueId a, ValueId b) {
  return op({OpKind::add, std::move(name), {}, {a, b}, {}, nullptr});
}

ValueId GraphBuilder::add_channels(std::string name, ValueId x, ValueId v) {
  return op({OpKind::add_channels, std::move(name), {}, {x, v}, {}, nullptr});
}

ValueId GraphBuilder::affine(std::string name, ValueId x, ValueId coefficients,
                             std::string activation, std::int64_t channel_offset) {
  Attributes attributes{{"activation", std::move(activation)}};
  if (channel_offset != 0) {
    attributes.set("channel_offset", channel_offset);
  }
  return op(
      {OpKind::affine, std::move(name), std::move(attributes), {x, coefficients}, {}, nullptr});
}

ValueId GraphBuilder::attention(std::string name, ValueId qkv, std::int64_t heads) {
  return op({OpKind::attention, std::move(name), {{"heads", heads}}, {qkv}, {}, nullptr});
}

ValueId GraphBuilder::channel_moments(std::string name, ValueId x) {
  return op({OpKind::channel_moments, std::move(name), {}, {x}, {}, nullptr});
}

ValueId GraphBuilder::concat(std::string name, std::span<const ValueId> parts) {
  return op({OpKind::concat, std::move(name), {}, {parts.begin(), parts.end()}, {}, nullptr});
}

ValueId GraphBuilder::conv3d(std::string name, ValueId x, ValueId weight,
                             std::optional<ValueId> bias, std::int64_t stride,
                             std::int64_t padding) {
  return op({OpKind::conv3d,
             std::move(name),
             {{"padding", padding}, {"stride", stride}},
             with_optional({x, weight}, bias),
             {},
             nullptr});
}

ValueId GraphBuilder::group_norm_coefficients(std::string name, ValueId moments, ValueId weight,
                                              ValueId bias, std::int64_t groups, double eps) {
  return op({OpKind::group_norm_coefficients,
             std::move(name),
             {{"eps", eps}, {"groups", groups}},
             {moments, weight, bias},
             {},
             nullptr});
}

ValueId GraphBuilder::linear(std::string name, ValueId x, ValueId weight,
                             std::optional<ValueId> bias) {
  return op({OpKind::linear, std::move(name), {}, with_optional({x, weight}, bias), {}, nullptr});
}

ValueId GraphBuilder::region(std::string name, std::span<const ValueId> inputs,
                             std::shared_ptr<const Graph> body) {
  return op(
      {OpKind::region, std::move(name), {}, {inputs.begin(), inputs.end()}, {}, std::move(body)});
}

ValueId GraphBuilder::reorder(std::string name, ValueId x, Layout layout) {
  return op({OpKind::reorder,
             std::move(name),
             {{"layout", std::string(name_of(layout))}},
             {x},
             {},
             nullptr});
}

ValueId GraphBuilder::select_rows(std::string name, ValueId table, ValueId index) {
  return op({OpKind::select_rows, std::move(name), {}, {table, index}, {}, nullptr});
}

ValueId GraphBuilder::silu(std::string name, ValueId x) {
  return op({OpKind::silu, std::move(name), {}, {x}, {}, nullptr});
}

ValueId GraphBuilder::timestep_embedding(std::string name, ValueId t, std::int64_t dim,
                                         double max_period) {
  return op({OpKind::timestep_embedding,
             std::move(name),
             {{"dim", dim}, {"max_period", max_period}},
             {t},
             {},
             nullptr});
}

ValueId GraphBuilder::upsample_trilinear(std::string name, ValueId x) {
  return op({OpKind::upsample_trilinear, std::move(name), {}, {x}, {}, nullptr});
}

ValueId GraphBuilder::op(Op op) {
  if (!accept_name(op.name)) {
    return 0;
  }
  const std::size_t results = op.body != nullptr ? op.body->outputs().size() : 1;
  for (std::size_t k = 1; k < results; ++k) {
    if (!accept_name(fmt::format("{}:{}", op.name, k))) {
      return 0;
    }
  }
  if (results == 0) {
    return fail(invalid_input("op {}: its body has no output", in_quotes(op.name)));
  }
  auto added = graph_.add_op(std::move(op));
  return added ? graph_.op(*added).outputs.front() : fail(added.error());
}

ValueId GraphBuilder::result(ValueId first, std::size_t k) {
  if (error_) {
    return 0;
  }
  const Value& value = graph_.value(first);
  check(value.kind == ValueKind::kResult, "result() of a value that no op makes");
  return graph_.op(value.producer).outputs.at(k);
}

void GraphBuilder::output(ValueId value) {
  if (!error_) {
    check(value < graph_.values().size(), "output() of a value of another graph");
    graph_.add_output(value);
  }
}

void GraphBuilder::alias(std::string name, ValueId value) {
  if (accept_name(name)) {
    check(value < graph_.values().size(), "alias() of a value of another graph");
    graph_.add_alias(std::move(name), value);
  }
}

ValueType GraphBuilder::type(ValueId value) const {
  return error_ ? ValueType{} : graph_.value(value).type;
}

Result<Graph> GraphBuilder::finish() {
  if (error_) {
    return *error_;
  }
  if (Status status = verify(graph_); !status) {
    return status.error();
  }
  return std::move(graph_);
}

bool GraphBuilder::accept_name(std::string_view name) {
  if (error_) {
    return false;
  }
  if (name.empty()) {
    fail(invalid_input("a value without a name"));
  } else if (graph_.find_value(name)) {
    fail(invalid_input("the name {} is already in use", in_quotes(name)));
  }
  return !error_;
}

bool GraphBuilder::accept_type(std::string_view name, const ValueType& type) {
  if (error_) {
    return false;
  }
  const auto bytes = checked_bytes(type);
  if (!bytes || *bytes < 1) {
    fail(
        invalid_input("{} has shape {}; each dimension must be at least 1 and the size fit into"
                      " 64 bits",
                      in_quotes(name), type.shape.to_string()));
  } else if (type.layout == Layout::kChannelsLast && type.shape.rank() != 5) {
    fail(invalid_input("{} has shape {}, channels_last needs rank 5", in_quotes(name),
                       type.shape.to_string()));
  }
  return !error_;
}

ValueId GraphBuilder::fail(Error error) {
  if (!error_) {
    error_ = std::move(error);
  }
  return 0;
}

}  // namespace mezzotint
