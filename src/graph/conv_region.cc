#include "graph/conv_region.h"

#include <algorithm>

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

  bool read_source(ValueId id, ConvRegion& region) {
    ConvSource source;
    source.channels = body_.value(id).type.shape[1];
    if (const Op* op = producer(id); op != nullptr) {
      if (op->kind != OpKind::affine) {
        return false;
      }
      consumed_ += 1;
      source.coefficients = position(op->inputs[1]);
      source.channel_offset = op->attributes.integer("channel_offset", 0);
      source.silu = op->attributes.text("activation", "none") == "silu";
      id = op->inputs[0];
      if (!source.coefficients) {
        return false;
      }
    }
    const auto input = position(id);
    if (!input) {
      return false;
    }
    source.input = *input;
    region.sources.push_back(source);
    return true;
  }

  // Follows the chain of adds from the convolution to the first output.
  bool read_epilogue(ValueId current, ConvRegion& region) {
    for (bool grew = true; grew;) {
      grew = false;
      for (const Op& op : body_.ops()) {
        const auto use = std::find(op.inputs.begin(), op.inputs.end(), current);
        if (use == op.inputs.end()) {
          continue;
        }
        if (op.kind == OpKind::add_channels && use == op.inputs.begin()) {
          if (region.time_vector || region.residual) {
            return false;
          }
          region.time_vector = position(op.inputs[1]);
          if (!region.time_vector) {
            return false;
          }
        } else if (op.kind == OpKind::add) {
          const ValueId other = use == op.inputs.begin() ? op.inputs[1] : op.inputs[0];
          if (region.residual || !(region.residual = position(other))) {
            return false;
          }
        } else if (op.kind == OpKind::channel_moments) {
          const auto outputs = body_.outputs();
          const auto out = std::find(outputs.begin(), outputs.end(), op.outputs[0]);
          if (region.moments || out == outputs.end()) {
            return false;
          }
          region.moments = static_cast<std::size_t>(out - outputs.begin());
          moments_of_ = current;
          consumed_ += 1;
          continue;
        } else {
          return false;
        }
        consumed_ += 1;
        current = op.outputs[0];
        grew = true;
        break;
      }
    }
    return body_.outputs()[0] == current && (!region.moments || moments_of_ == current);
  }

  const Graph& body_;
  std::size_t consumed_ = 0;
  ValueId moments_of_ = 0;
};

}  // namespace

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
