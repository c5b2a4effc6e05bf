#include "graph/conv_region.h"

#include <algorithm>

#include "graph/op_definition.h"

namespace mezzotint {
namespace {

// Reads one region body. `position` maps a body value to its place among the body's inputs.
class BodyReader {
 public:
  explicit BodyReader(const Graph& body) : body_(body) {}

  std::optional<ConvRegion> read() {
    const Op* conv = find_conv();
    if (conv == nullptr) {
      return std::nullopt;
    }
    ConvRegion region;
    region.stride = conv->attributes.integer("stride", 1);
    region.padding = conv->attributes.integer("padding", 0);
    const auto weight = position(conv->inputs[1]);
    if (!weight || !read_sources(conv->inputs[0], region)) {
      return std::nullopt;
    }
    region.weight = *weight;
    if (conv->inputs.size() == 3) {
      region.bias = position(conv->inputs[2]);
      if (!region.bias) {
        return std::nullopt;
      }
    }
    consumed_ += 1;
    if (!read_epilogue(conv->outputs[0], region) || consumed_ != body_.ops().size()) {
      return std::nullopt;
    }
    return region;
  }

 private:
  const Op* find_conv() const {
    const Op* found = nullptr;
    for (const Op& op : body_.ops()) {
      if (op.kind == OpKind::conv3d) {
        if (found != nullptr) {
          return nullptr;
        }
        found = &op;
      }
    }
    return found;
  }

  std::optional<std::size_t> position(ValueId id) const {
    const auto inputs = body_.inputs();
    const auto found = std::find(inputs.begin(), inputs.end(), id);
    if (found == inputs.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - inputs.begin());
  }

  const Op* producer(ValueId id) const {
    const Value& value = body_.value(id);
    return value.kind == ValueKind::kResult ? &body_.op(value.producer) : nullptr;
  }

  bool read_sources(ValueId id, ConvRegion& region) {
    const Op* op = producer(id);
    if (op != nullptr && op->kind == OpKind::concat) {
      consumed_ += 1;
      return std::all_of(op->inputs.begin(), op->inputs.end(),
                         [&](ValueId part) { return read_source(part, region); });
    }
    return read_source(id, region);
  }

  // From an op's result to what it is made from.
  ValueId pass(const Op& op) {
    consumed_ += 1;
    return op.inputs[0];
  }

  bool read_source(ValueId id, ConvRegion& region) {
    ConvSource source;
    source.channels = body_.value(id).type.shape[1];
    const Op* op = producer(id);
    if (op != nullptr && op->kind == OpKind::affine) {
      source.coefficients = position(op->inputs[1]);
      source.channel_offset = op->attributes.integer("channel_offset", 0);
      source.silu = op->attributes.text("activation", "none") == "silu";
      if (!source.coefficients) {
        return false;
      }
      id = pass(*op);
    } else if (op != nullptr && op->kind == OpKind::upsample_trilinear) {
      source.upsample = true;
      id = pass(*op);
    }
    if (op = producer(id); op != nullptr && op->kind == OpKind::reorder) {
      id = pass(*op);
    }
    const auto input = position(id);
    if (!input) {
      return false;
    }
    source.input = *input;
    region.sources.push_back(source);
    return true;
  }

  // Follows the chain from the convolution to the first output: adds, then a reorder.
  bool read_epilogue(ValueId current, ConvRegion& region) {
    bool ended = false;
    while (const Op* op = next_in_chain(current)) {
      if (ended || !read_step(*op, current, region)) {
        return false;
      }
      ended = op->kind == OpKind::reorder;
      current = op->outputs[0];
      consumed_ += 1;
    }
    return body_.outputs()[0] == current && read_moments(current, region) &&
           body_.outputs().size() == (region.moments ? 2U : 1U);
  }

  const Op* next_in_chain(ValueId current) const {
    const auto ops = body_.ops();
    const auto found = std::find_if(ops.begin(), ops.end(), [&](const Op& op) {
      return op.kind != OpKind::channel_moments &&
             std::find(op.inputs.begin(), op.inputs.end(), current) != op.inputs.end();
    });
    return found == ops.end() ? nullptr : &*found;
  }

  bool read_step(const Op& op, ValueId current, ConvRegion& region) const {
    const bool first = op.inputs[0] == current;
    if (op.kind == OpKind::add_channels && first && !region.time_vector && !region.residual) {
      region.time_vector = position(op.inputs[1]);
      return region.time_vector.has_value();
    }
    if (op.kind == OpKind::add && !region.residual) {
      region.residual = position(op.inputs[first ? 1 : 0]);
      return region.residual.has_value();
    }
    return op.kind == OpKind::reorder;
  }

  bool read_moments(ValueId result, ConvRegion& region) {
    for (const Op& op : body_.ops()) {
      if (op.kind != OpKind::channel_moments || op.inputs[0] != result) {
        continue;
      }
      const auto outputs = body_.outputs();
      const auto out = std::find(outputs.begin(), outputs.end(), op.outputs[0]);
      if (region.moments || out == outputs.end()) {
        return false;
      }
      region.moments = static_cast<std::size_t>(out - outputs.begin());
      consumed_ += 1;
    }
    return true;
  }

  const Graph& body_;
  std::size_t consumed_ = 0;
};

// Pairs of an output and a tap along one axis whose input exists.
std::int64_t pairs_inside(const Op& conv, std::int64_t inputs, std::int64_t outputs,
                          std::int64_t taps) {
  const std::int64_t stride = conv.attributes.integer("stride", 1);
  const std::int64_t padding = conv.attributes.integer("padding", 0);
  std::int64_t pairs = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    // Outputs o with 0 <= o * stride + tap - padding < inputs.
    const std::int64_t first = std::max<std::int64_t>(0, padding - tap + stride - 1) / stride;
    const std::int64_t reach = inputs - 1 + padding - tap;
    const std::int64_t end = reach < 0 ? 0 : std::min(outputs, reach / stride + 1);
    pairs += std::max<std::int64_t>(0, end - first);
  }
  return pairs;
}

}  // namespace

std::vector<std::size_t> in_place_inputs(const ConvRegion& region) {
  const auto is_residual = [&](const ConvSource& source) {
    return source.input == region.residual;
  };
  if (!region.residual || std::ranges::any_of(region.sources, is_residual)) {
    return {};
  }
  return {*region.residual};
}

std::optional<Fusion> fusion_of(OpKind kind, bool behind) {
  switch (kind) {
    case OpKind::concat: return Fusion::kConcat;
    case OpKind::affine: return Fusion::kNormalise;
    case OpKind::upsample_trilinear: return Fusion::kUpsample;
    case OpKind::add_channels: return Fusion::kTimeVector;
    case OpKind::add: return Fusion::kResidual;
    case OpKind::channel_moments: return Fusion::kMoments;
    case OpKind::reorder: return behind ? Fusion::kReorderOut : Fusion::kReorderIn;
    default: return std::nullopt;
  }
}

Fusions fusions_of(const Op& op) {
  Fusions fusions;
  if (op.body == nullptr) {
    return fusions;
  }
  bool behind = false;
  for (const Op& member : op.body->ops()) {
    behind = behind || member.kind == OpKind::conv3d;
    if (const auto fusion = fusion_of(member.kind, behind)) {
      fusions.insert(*fusion);
    }
  }
  return fusions;
}

double flops_without_padding(const OpView& view) {
  if (view.op.kind == OpKind::region) {
    double total = 0;
    for (const Op& op : view.op.body->ops()) {
      total += flops_without_padding({*view.op.body, op});
    }
    return total;
  }
  if (view.op.kind != OpKind::conv3d) {
    return flops_of(view);
  }
  const Shape& in = view.input(0).type.shape;
  const Shape& weight = view.input(1).type.shape;
  const Shape& out = view.output().type.shape;
  double flops = 2.0 * static_cast<double>(out[0] * weight[0]) * static_cast<double>(weight[1]);
  for (const std::size_t axis : {2u, 3u, 4u}) {
    flops *= static_cast<double>(pairs_inside(view.op, in[axis], out[axis], weight[axis]));
  }
  return flops;
}

std::optional<ConvRegion> describe_conv(const OpView& view) {
  const Op& op = view.op;
  if (op.kind == OpKind::region) {
    return BodyReader(*op.body).read();
  }
  if (op.kind != OpKind::conv3d) {
    return std::nullopt;
  }
  ConvRegion region;
  ConvSource source;
  source.channels = view.input(0).type.shape[1];
  region.sources.push_back(source);
  region.weight = 1;
  if (op.inputs.size() == 3) {
    region.bias = 2;
  }
  region.stride = op.attributes.integer("stride", 1);
  region.padding = op.attributes.integer("padding", 0);
  return region;
}

}  // namespace mezzotint
