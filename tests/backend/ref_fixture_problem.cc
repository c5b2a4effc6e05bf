#include "backend/ref_fixture_problem.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "graph/graph_builder.h"

namespace mezzotint::testing {
namespace {

// The first group of `pattern` in `text`, as a number.
std::optional<double> number_in(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) {
    return std::nullopt;
  }
  return std::stod(match[1].str());
}

std::string stem_of(const FixtureTensor& truth) {
  return truth.name.substr(0, truth.name.rfind('.'));
}

// The tensor `leaf` that belongs to `truth`: under the longest prefix of its name that has one. A
// part that ends in a stride ("k3s2") also stands for the part without it.
const FixtureTensor* sibling(const FixtureCase& fixture, const FixtureTensor& truth,
                             const std::string& leaf) {
  static const std::regex stride("\\.?s[0-9]+$");
  std::string prefix = stem_of(truth);
  while (!prefix.empty()) {
    for (const std::string& candidate : {prefix, std::regex_replace(prefix, stride, "")}) {
      if (const FixtureTensor* found = fixture.find(candidate + "." + leaf)) {
        return found;
      }
    }
    const std::size_t dot = prefix.rfind('.');
    prefix.resize(dot == std::string::npos ? 0 : dot);
  }
  return fixture.find(leaf);
}

Shape as_kernel(const Shape& shape) {
  std::vector<std::int64_t> dims = shape.dims();
  dims.resize(5, 1);
  return Shape(std::move(dims));
}

// Of a graph that is one convolution or matrix product.
std::int64_t terms_of(const Graph& graph) {
  const Op& op = graph.op(0);
  if (graph.ops().size() > 1 || (op.kind != OpKind::conv3d && op.kind != OpKind::linear)) {
    return 0;
  }
  const Shape& weight = graph.value(op.inputs[1]).type.shape;
  return weight.elements() / weight[0];
}

// The tensors around one truth as inputs and parameters of a graph. The first error sticks.
class Builder {
 public:
  Builder(const FixtureCase& fixture, const FixtureTensor& truth, Layout activations)
      : fixture_(fixture), truth_(truth), activations_(activations) {}

  GraphBuilder ops;

  [[nodiscard]] bool has(const std::string& leaf) const {
    return sibling(fixture_, truth_, leaf) != nullptr;
  }
  // Empty when absent, which is an error.
  [[nodiscard]] FixtureTensor tensor(const std::string& leaf) {
    if (const FixtureTensor* found = sibling(fixture_, truth_, leaf)) {
      return *found;
    }
    fail(invalid_input("{}: {} has no tensor {} beside it", fixture_.name(), truth_.name, leaf));
    return {};
  }

  ValueId input(const std::string& leaf) { return input(leaf, Shape(tensor(leaf).shape)); }
  ValueId input(const std::string& leaf, const Shape& shape) {
    return input(leaf, shape, read(leaf));
  }
  ValueId input(const std::string& leaf, const Shape& shape, std::vector<float> data) {
    bindings_[leaf] = std::move(data);
    const Layout layout = shape.rank() == 5 ? activations_ : Layout::kRowMajor;
    return ops.input(leaf, {shape, DType::kF32, layout}, Rate::kStep);
  }

  ValueId parameter(const std::string& leaf) { return parameter(leaf, Shape(tensor(leaf).shape)); }
  ValueId parameter(const std::string& leaf, const Shape& shape) {
    bindings_[leaf] = read(leaf);
    return ops.parameter(leaf, shape);
  }

  // With weights named <path>weight and <path>bias.
  ValueId conv(const std::string& name, const std::string& path, ValueId x, std::int64_t stride,
               std::optional<std::int64_t> padding = std::nullopt) {
    const Shape kernel = as_kernel(Shape(tensor(path + "weight").shape));
    const ValueId weight = parameter(path + "weight", kernel);
    return ops.conv3d(name, x, weight, bias(path), stride, padding.value_or(kernel[2] / 2));
  }
  ValueId linear(const std::string& name, const std::string& path, ValueId x) {
    return ops.linear(name, x, parameter(path + "weight"), bias(path));
  }
  ValueId group_norm(const std::string& name, const std::string& path, ValueId x,
                     const std::string& activation, std::int64_t groups = 32, double eps = 1e-5) {
    const ValueId moments = ops.channel_moments(name + ".moments", x);
    const ValueId weight = parameter(path + "weight");
    const ValueId shift = parameter(path + "bias");
    const ValueId coefficients =
        ops.group_norm_coefficients(name + ".coefficients", moments, weight, shift, groups, eps);
    return ops.affine(name, x, coefficients, activation);
  }

  std::vector<float> read(const std::string& leaf) {
    const std::string name = tensor(leaf).name;
    if (error_) {
      return {};
    }
    Result<std::vector<float>> data = fixture_.read(name);
    if (!data) {
      fail(data.error());
      return {};
    }
    return *std::move(data);
  }

  Result<Problem> finish(ValueId result, std::vector<float> expected) {
    ops.output(result);
    Result<Graph> graph = ops.finish();
    if (error_) {
      return *error_;
    }
    if (!graph) {
      return graph.error();
    }
    const std::int64_t terms = terms_of(*graph);
    return Problem{*std::move(graph), std::move(bindings_), std::move(expected), terms};
  }

 private:
  std::optional<ValueId> bias(const std::string& path) {
    return has(path + "bias") ? std::optional(parameter(path + "bias")) : std::nullopt;
  }
  void fail(Error error) {
    if (!error_) {
      error_ = std::move(error);
    }
  }

  const FixtureCase& fixture_;
  const FixtureTensor& truth_;
  Layout activations_;
  HostTensors bindings_;
  std::optional<Error> error_;
};

ValueId conv3d(Builder& b, const FixtureTensor& truth) {
  const double stride = number_in(truth.what, "stride ([0-9]+)")
                            .value_or(number_in(truth.name, "s([0-9]+)\\.y").value_or(1));
  const auto padding = number_in(truth.what, "padding ([0-9]+)");
  return b.conv("y", "", b.input("x"), static_cast<std::int64_t>(stride),
                padding ? std::optional(static_cast<std::int64_t>(*padding)) : std::nullopt);
}

ValueId group_norm(Builder& b, const FixtureCase& fixture, const FixtureTensor& truth) {
  const double groups = number_in(fixture.what(), "([0-9]+) groups").value_or(32);
  const double eps = number_in(fixture.what(), "eps ([0-9.e-]+)").value_or(1e-5);
  const bool silu = stem_of(truth).ends_with("silu");
  return b.group_norm("y", "", b.input("x"), silu ? "silu" : "none",
                      static_cast<std::int64_t>(groups), eps);
}

ValueId timestep_embedding(Builder& b, const FixtureCase& fixture, const FixtureTensor& truth) {
  const std::string formula = fixture.facts().value("formula", "");
  return b.ops.timestep_embedding("y", b.input("t"), truth.shape.back(),
                                  number_in(formula, "ln\\(([0-9]+)\\)").value_or(1000));
}

// A volume of one line of tokens.
ValueId attention(Builder& b) {
  const FixtureTensor qkv = b.tensor("qkv");
  const double heads =
      number_in(qkv.what, "([0-9]+) heads").value_or(number_in(qkv.name, "h([0-9]+)").value_or(1));
  Shape shape(qkv.shape);
  if (shape.rank() == 3) {
    shape = Shape{shape[0], shape[1], 1, 1, shape[2]};
  }
  return b.ops.attention("y", b.input("qkv", shape), static_cast<std::int64_t>(heads));
}

// Softmax is no op of its own, but attention contains it: with q = 1, k = the logits, one channel,
// and v of each head the unit vector of one key, that head returns that key's weight, at every
// query alike. At most 64 keys, evenly spread, are looked at: each depends on all logits of its
// row.
ValueId softmax(Builder& b, const FixtureTensor& truth, std::vector<float>& expected) {
  const auto rows = static_cast<std::size_t>(truth.shape.front());
  const auto keys = static_cast<std::size_t>(truth.shape.back());
  const std::size_t step = (keys + 63) / 64;
  const std::size_t heads = (keys + step - 1) / step;
  const std::vector<float> logits = b.read("x");
  std::vector<float> qkv;
  std::vector<float> repeated;
  for (std::size_t row = 0; row < rows && !logits.empty(); ++row) {
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row * keys);
    for (std::size_t key = 0; key < keys; key += step) {
      qkv.insert(qkv.end(), keys, 1.0F);
      qkv.insert(qkv.end(), first, first + static_cast<std::ptrdiff_t>(keys));
      qkv.insert(qkv.end(), keys, 0.0F);
      qkv[qkv.size() - keys + key] = 1.0F;
      repeated.insert(repeated.end(), keys, expected[row * keys + key]);
    }
  }
  expected = std::move(repeated);
  const auto width = static_cast<std::int64_t>(keys);
  const auto count = static_cast<std::int64_t>(heads);
  const Shape shape{static_cast<std::int64_t>(rows), 3 * count, 1, 1, width};
  return b.ops.attention("y", b.input("qkv", shape, std::move(qkv)), count);
}

ValueId attention_block(Builder& b, const FixtureTensor& truth) {
  const double heads = number_in(truth.name, "_([0-9]+)h").value_or(1);
  const ValueId x = b.input("x");
  ValueId h = b.group_norm("norm", "param.norm.", x, "none");
  h = b.conv("qkv", "param.qkv.", h, 1);
  h = b.ops.attention("attention", h, static_cast<std::int64_t>(heads));
  return b.ops.add("y", x, b.conv("proj_out", "param.proj_out.", h, 1));
}

ValueId res_block(Builder& b) {
  const ValueId x = b.input("x");
  ValueId h = b.group_norm("norm1", "param.in_layers.0.", x, "silu");
  h = b.conv("conv1", "param.in_layers.2.", h, 1);
  const ValueId emb = b.ops.silu("emb_silu", b.input("emb"));
  h = b.ops.add_channels("add_emb", h, b.linear("emb_linear", "param.emb_layers.1.", emb));
  h = b.group_norm("norm2", "param.out_layers.0.", h, "silu");
  h = b.conv("conv2", "param.out_layers.3.", h, 1);
  const ValueId skip =
      b.has("param.skip_connection.weight") ? b.conv("skip", "param.skip_connection.", x, 1) : x;
  return b.ops.add("y", skip, h);
}

}  // namespace

ProblemKind kind_of(const FixtureCase& fixture, const FixtureTensor& truth) {
  const auto has = [&](const char* leaf) { return sibling(fixture, truth, leaf) != nullptr; };
  const auto weight_rank = [&] {
    const FixtureTensor* weight = sibling(fixture, truth, "weight");
    return weight == nullptr ? 0 : weight->shape.size();
  };
  if (has("param.qkv.weight")) {
    return {"attention block", OpKind::attention};
  }
  if (has("param.in_layers.0.weight")) {
    return {"residual block", OpKind::conv3d};
  }
  if (has("param.op.weight")) {
    return {"downsampling block", OpKind::conv3d};
  }
  if (has("param.conv.weight")) {
    return {"upsampling block", OpKind::conv3d};
  }
  if (has("qkv")) {
    return {"attention", OpKind::attention};
  }
  if (has("t") && truth.shape.size() == 2) {
    return {"timestep embedding", OpKind::timestep_embedding};
  }
  if (stem_of(truth).ends_with(".norm") || stem_of(truth).ends_with(".norm_silu")) {
    return {"group norm", OpKind::affine};
  }
  if (has("x") && weight_rank() == 5) {
    return {"conv3d", OpKind::conv3d};
  }
  if (has("x") && weight_rank() == 2) {
    return {"linear", OpKind::linear};
  }
  if (has("x") && truth.what.find("softmax") != std::string::npos) {
    return {"softmax", OpKind::attention};
  }
  if (has("x") && truth.what.find("sigmoid") != std::string::npos) {
    return {"silu", OpKind::silu};
  }
  if (has("x") && truth.what.find("twice the size") != std::string::npos) {
    return {"upsample", OpKind::upsample_trilinear};
  }
  return {fixture.name() + " " + truth.name, std::nullopt};
}

Result<Problem> make_problem(const FixtureCase& fixture, const FixtureTensor& truth,
                             Layout activations) {
  Result<std::vector<float>> read = fixture.read(truth.name);
  if (!read) {
    return read.error();
  }
  std::vector<float> expected = *std::move(read);
  Builder b(fixture, truth, activations);
  const std::string kind = kind_of(fixture, truth).name;
  ValueId y = 0;
  if (kind == "attention block") {
    y = attention_block(b, truth);
  } else if (kind == "residual block") {
    y = res_block(b);
  } else if (kind == "downsampling block") {
    y = b.conv("y", "param.op.", b.input("x"), 2);
  } else if (kind == "upsampling block") {
    y = b.conv("y", "param.conv.", b.ops.upsample_trilinear("up", b.input("x")), 1);
  } else if (kind == "attention") {
    y = attention(b);
  } else if (kind == "timestep embedding") {
    y = timestep_embedding(b, fixture, truth);
  } else if (kind == "group norm") {
    y = group_norm(b, fixture, truth);
  } else if (kind == "conv3d") {
    y = conv3d(b, truth);
  } else if (kind == "linear") {
    y = b.linear("y", "", b.input("x"));
  } else if (kind == "softmax") {
    y = softmax(b, truth, expected);
  } else if (kind == "silu") {
    y = b.ops.silu("y", b.input("x"));
  } else if (kind == "upsample") {
    y = b.ops.upsample_trilinear("y", b.input("x"));
  } else {
    return unsupported("no graph computes {}", kind);
  }
  return b.finish(y, std::move(expected));
}

}  // namespace mezzotint::testing
