// The reference as a backend: layouts, dtypes, parameters, several outputs.
#include "backend/ref/ref_backend.h"

#include <gtest/gtest.h>

#include <memory>

#include "graph/graph_builder.h"
#include "support/graph_runner.h"
#include "support/random_fill.h"

namespace mezzotint {
namespace {

using testing::HostTensors;
using testing::random_floats;
using testing::run_graph;
using testing::test_machine;

class Weights : public ParameterSource {
 public:
  Status read(std::string_view name, std::span<float> out) override {
    names.emplace_back(name);
    std::fill(out.begin(), out.end(), 2.0F);
    return {};
  }
  std::vector<std::string> names;
};

// conv(affine(x)) and its channel moments, activations in `layout`.
Graph fused_conv(Layout layout) {
  GraphBuilder inner;
  const ValueType x_type{{2, 3, 4, 5, 3}, DType::kF32, layout};
  const ValueType k_type{{2, 3, 2}, DType::kF32, Layout::kRowMajor};
  const ValueType w_type{{4, 3, 3, 3, 3}, DType::kF32, Layout::kRowMajor};
  const ValueId x = inner.input("x", x_type, Rate::kStep);
  const ValueId k = inner.input("k", k_type, Rate::kStep);
  const ValueId w = inner.input("w", w_type, Rate::kModel);
  const ValueId conv =
      inner.conv3d("conv", inner.affine("affine", x, k, "silu"), w, std::nullopt, 1, 1);
  inner.output(conv);
  inner.output(inner.channel_moments("moments", conv));
  Result<Graph> body = inner.finish();

  GraphBuilder outer;
  const ValueId inputs[] = {outer.input("x", x_type, Rate::kStep),
                            outer.input("k", k_type, Rate::kStep),
                            outer.parameter("w", w_type.shape)};
  const ValueId y = outer.region("y", inputs, std::make_shared<const Graph>(*std::move(body)));
  outer.output(y);
  outer.output(outer.result(y, 1));
  return *outer.finish();
}

TEST(RefBackend, layouts_do_not_change_results) {
  const HostTensors bindings{
      {"x", random_floats(360, 1)}, {"k", random_floats(12, 2)}, {"w", random_floats(324, 3)}};
  const auto backend = make_ref_backend();
  const auto plain = run_graph(fused_conv(Layout::kRowMajor), *backend, bindings, test_machine());
  const auto last =
      run_graph(fused_conv(Layout::kChannelsLast), *backend, bindings, test_machine());
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  ASSERT_TRUE(last.ok()) << last.error().message;
  EXPECT_EQ(plain->at("y").size(), 480U);
  EXPECT_EQ(*plain, *last);
}

TEST(RefBackend, takes_every_op_by_one_implementation) {
  const auto backend = make_ref_backend();
  for (const OpKind kind : kAllOpKinds) {
    ASSERT_EQ(backend->implementations(kind).size(), 1U) << name_of(kind);
    EXPECT_EQ(backend->implementations(kind)[0]->name(), "ref.loops");
  }
  EXPECT_TRUE(backend->costs().find("ref.loops", Isa::kAvx512).has_value());
}

TEST(RefBackend, kernel_outlives_its_graph_and_holds_its_parameters) {
  const auto backend = make_ref_backend();
  std::unique_ptr<Kernel> kernel;
  {
    GraphBuilder builder;
    const ValueId x = builder.input("x", {{1, 3}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
    builder.output(builder.linear("y", x, builder.parameter("path.weight", {2, 3}),
                                  builder.parameter("path.bias", {2})));
    const Graph graph = *builder.finish();
    auto prepared = backend->implementations(OpKind::linear)[0]->prepare({graph, graph.op(0)},
                                                                         {test_machine()});
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    kernel = *std::move(prepared);
  }
  EXPECT_EQ(kernel->packed_bytes(), (6 + 2) * sizeof(float));
  Weights weights;
  ASSERT_TRUE(kernel->load(weights).ok());
  EXPECT_EQ(weights.names, (std::vector<std::string>{"path.weight", "path.bias"}));

  float x[] = {1, 2, 3};
  float y[] = {0, 0};
  const Buffer inputs[] = {{reinterpret_cast<std::byte*>(x)}, {}, {}};
  const Buffer outputs[] = {{reinterpret_cast<std::byte*>(y)}};
  const ThreadTeam team(1);
  kernel->launch({inputs, outputs, nullptr, team});
  EXPECT_EQ(y[0], 14.0F);
  EXPECT_EQ(y[1], 14.0F);
}

TEST(RefBackend, threads_do_not_change_bytes) {
  const HostTensors bindings{
      {"x", random_floats(360, 1)}, {"k", random_floats(12, 2)}, {"w", random_floats(324, 3)}};
  const auto backend = make_ref_backend();
  const Graph graph = fused_conv(Layout::kChannelsLast);
  const auto one = run_graph(graph, *backend, bindings, test_machine(1));
  const auto three = run_graph(graph, *backend, bindings, test_machine(3));
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(*one, *three);
}

}  // namespace
}  // namespace mezzotint
