#include "backend/conv_op.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mezzotint::testing {
namespace {

Shape with_channels(std::int64_t samples, std::int64_t channels, const Shape& volume) {
  return {samples, channels, volume[0], volume[1], volume[2]};
}

Shape half_of(const Shape& volume) {
  return {volume[0] / 2, volume[1] / 2, volume[2] / 2};
}

Shape weight_shape(const ConvCase& c) {
  return {c.out, c.in, c.kernel[0], c.kernel[1], c.kernel[2]};
}

Attributes attributes_of(const ConvCase& c) {
  return {{"stride", c.stride}, {"padding", c.padding}};
}

// An op and the body of its region, whose inputs are made in one order.
struct RegionBuilder {
  SingleOp op;
  std::shared_ptr<Graph> body = std::make_shared<Graph>();

  ValueId input(const Shape& shape, Layout layout = Layout::kRowMajor) {
    op.input(shape, layout);
    return add(ValueType{shape, DType::kF32, layout});
  }
  ValueId parameter(const Shape& shape) {
    op.parameter(shape);
    return add(ValueType{shape});
  }
  ValueId append(OpKind kind, Attributes attributes, std::vector<ValueId> inputs) {
    const auto id = body->add_op({kind,
                                  fmt::format("op{}", body->ops().size()),
                                  std::move(attributes),
                                  std::move(inputs),
                                  {},
                                  {}});
    EXPECT_TRUE(id.ok()) << id.error().message;
    return body->op(*id).outputs[0];
  }

 private:
  ValueId add(const ValueType& type) {
    return body->add_input(fmt::format("v{}", body->inputs().size()), type, Rate::kStep);
  }
};

}  // namespace

std::string ConvCase::text() const {
  return fmt::format("{} -> {} channels, n{} {}, kernel {}, stride {}, padding {}", in, out,
                     samples, volume.to_string(), kernel.to_string(), stride, padding);
}

SingleOp plain_conv(const ConvCase& c) {
  SingleOp op;
  op.input(with_channels(c.samples, c.in, c.volume), Layout::kChannelsLast);
  op.parameter(weight_shape(c));
  if (c.bias) {
    op.parameter({c.out});
  }
  op.op(OpKind::conv3d, attributes_of(c));
  return op;
}

SingleOp fused_conv(const ConvCase& c, const Fused& fused) {
  RegionBuilder region;
  std::vector<ValueId> parts;
  for (const std::int64_t channels : fused.sources) {
    const Shape volume = fused.upsample && parts.empty() ? half_of(c.volume) : c.volume;
    parts.push_back(region.input(with_channels(c.samples, channels, volume), fused.source_layout));
  }
  std::vector<ValueId> operands{{}, region.parameter(weight_shape(c))};
  if (c.bias) {
    operands.push_back(region.parameter({c.out}));
  }
  std::optional<ValueId> time;
  if (fused.time_vector) {
    time = region.input({c.samples, c.out});
  }
  std::optional<ValueId> residual;
  if (fused.residual) {
    const auto extent = [&](std::size_t axis) {
      return (c.volume[axis] + 2 * c.padding - c.kernel[axis]) / c.stride + 1;
    };
    residual = region.input(with_channels(c.samples, c.out, {extent(0), extent(1), extent(2)}),
                            Layout::kChannelsLast);
  }
  if (fused.source_layout != Layout::kChannelsLast) {
    for (ValueId& part : parts) {
      part = region.append(OpKind::reorder, {{"layout", std::string("channels_last")}}, {part});
    }
  }
  if (fused.upsample) {
    parts[0] = region.append(OpKind::upsample_trilinear, {}, {parts[0]});
  }
  if (fused.affine) {
    const ValueId coefficients = region.input({c.samples, c.in, 2});
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] =
          region.append(OpKind::affine, {{"activation", *fused.affine}, {"channel_offset", offset}},
                        {parts[i], coefficients});
      offset += fused.sources[i];
    }
  }
  operands[0] = parts.size() > 1 ? region.append(OpKind::concat, {}, parts) : parts[0];
  ValueId y = region.append(OpKind::conv3d, attributes_of(c), operands);
  if (time) {
    y = region.append(OpKind::add_channels, {}, {y, *time});
  }
  if (residual) {
    y = region.append(OpKind::add, {}, {y, *residual});
  }
  if (fused.result_layout != Layout::kChannelsLast) {
    y = region.append(OpKind::reorder, {{"layout", std::string("row_major")}}, {y});
  }
  region.body->add_output(y);
  if (fused.moments) {
    region.body->add_output(region.append(OpKind::channel_moments, {}, {y}));
  }
  region.op.op(OpKind::region, {}, region.body);
  return std::move(region.op);
}

}  // namespace mezzotint::testing
