#include "graph/verifier.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/graph_builder.h"

namespace mezzotint {
namespace {

// Graphs made through the API are mostly valid by construction; a pass with a bug is imitated by
// writing to the graph's (non-const) insides through its const views.
Value& value_of(Graph& graph, std::string_view name) {
  return const_cast<Value&>(graph.value(*graph.find_value(name)));
}
Op& op_of(Graph& graph, std::string_view name) {
  return const_cast<Op&>(graph.op(value_of(graph, name).producer));
}
ValueId id_of(const Graph& graph, std::string_view name) {
  return *graph.find_value(name);
}
template <typename T>
T& writable(std::span<const T> items, std::size_t i) {
  return const_cast<T&>(items[i]);
}

Graph make_body() {
  GraphBuilder b;
  const ValueId source =
      b.input("source", {Shape{1, 2, 4, 4, 4}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  b.output(b.silu("inner", source));
  return std::move(b.finish().value());
}

// x, c -> sum -> act -> r (a region) -> conv
Graph make_graph() {
  GraphBuilder b;
  const ValueType type{Shape{1, 2, 4, 4, 4}, DType::kF32, Layout::kRowMajor};
  const ValueId x = b.input("x", type, Rate::kStep);
  const ValueId c = b.input("c", type, Rate::kVolume);
  const ValueId w = b.parameter("w", {3, 2, 1, 1, 1});
  const ValueId act = b.silu("act", b.add("sum", x, c));
  const ValueId r = b.region("r", std::array{act}, std::make_shared<const Graph>(make_body()));
  b.output(b.conv3d("conv", r, w, std::nullopt, 1, 0));
  b.alias("last", b.graph().ops().back().outputs[0]);
  return std::move(b.finish().value());
}

struct Corruption {
  std::string name;
  std::function<void(Graph&)> apply;
  std::string message;
};

void PrintTo(const Corruption& corruption, std::ostream* out) {
  *out << corruption.name;
}

class Corruptions : public ::testing::TestWithParam<Corruption> {};

TEST_P(Corruptions, AreFound) {
  Graph graph = make_graph();
  ASSERT_TRUE(verify(graph).ok());
  GetParam().apply(graph);
  const Status status = verify(graph);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, GetParam().message);
}

void set_body(Graph& graph, Graph body) {
  op_of(graph, "r").body = std::make_shared<const Graph>(std::move(body));
}

INSTANTIATE_TEST_SUITE_P(
    Verifier, Corruptions,
    ::testing::Values(
        Corruption{"inputOutOfRange", [](Graph& g) { op_of(g, "act").inputs[0] = 99; },
                   "op `act` reads value 99, the graph has 7"},
        Corruption{"readBeforeDefined", [](Graph& g) { op_of(g, "sum").inputs[0] = id_of(g, "r"); },
                   "op `sum` reads `r` before it is defined"},
        Corruption{"outputOutOfRange", [](Graph& g) { op_of(g, "act").outputs[0] = 99; },
                   "op `act` makes value 99, the graph has 7"},
        Corruption{"definedTwice", [](Graph& g) { op_of(g, "act").outputs[0] = id_of(g, "sum"); },
                   "op `act` makes `sum`, which is already defined"},
        Corruption{"wrongProducer", [](Graph& g) { value_of(g, "act").producer = 0; },
                   "op `act` makes `act`, which names another producer"},
        Corruption{"wrongKind", [](Graph& g) { value_of(g, "act").kind = ValueKind::kParameter; },
                   "op `act` makes `act`, which names another producer"},
        Corruption{"listedTwice",
                   [](Graph& g) {
                     g.add_input("y", {Shape{1}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
                     writable(g.inputs(), 2) = id_of(g, "c");
                   },
                   "input `c` is listed twice"},
        Corruption{"listedAsAnotherKind",
                   [](Graph& g) {
                     g.add_parameter("v", {1});
                     value_of(g, "v").kind = ValueKind::kResult;
                   },
                   "value `v` is listed as a parameter but is of another kind"},
        Corruption{"parameterType", [](Graph& g) { value_of(g, "w").type.dtype = DType::kF16; },
                   "parameter `w` must be row_major float32 with rate model"},
        Corruption{"typeChanged",
                   [](Graph& g) {
                     value_of(g, "act").type.shape = Shape{1, 2, 4, 4, 5};
                   },
                   "result `act` is recorded as float32 [1, 2, 4, 4, 5] row_major, op silu gives"
                   " float32 [1, 2, 4, 4, 4] row_major"},
        Corruption{
            "layoutChanged",
            [](Graph& g) { value_of(g, "act").type.layout = Layout::kChannelsLast; },
            "result `act` is recorded as float32 [1, 2, 4, 4, 4] channels_last, op silu gives"
            " float32 [1, 2, 4, 4, 4] row_major"},
        Corruption{"inference",
                   [](Graph& g) {
                     value_of(g, "w").type.shape = Shape{3, 5, 1, 1, 1};
                   },
                   "op `conv` (conv3d): weight [3, 5, 1, 1, 1] is for 5 input channels, x"
                   " [1, 2, 4, 4, 4] has 2"},
        Corruption{"rate", [](Graph& g) { value_of(g, "sum").rate = Rate::kVolume; },
                   "result `sum` has rate volume, its inputs make it step"},
        Corruption{"resultName", [](Graph& g) { value_of(g, "act").name = "other"; },
                   "result 0 of op `act` is named `other`"},
        Corruption{"sameName", [](Graph& g) { value_of(g, "c").name = "x"; },
                   "value 1 has the name of another: `x`"},
        Corruption{"unfindableName", [](Graph& g) { value_of(g, "c").name = "z"; },
                   "value `z` is not found by its name"},
        Corruption{"zeroDimension",
                   [](Graph& g) {
                     g.add_input("y", {Shape{1, 0}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
                   },
                   "value `y` has shape [1, 0]; dimensions must be at least 1 and the size fit into"
                   " 64 bits"},
        Corruption{"negativeDimension",
                   [](Graph& g) {
                     g.add_input("y", {Shape{-1, -2}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
                   },
                   "value `y` has shape [-1, -2]; dimensions must be at least 1 and the size fit"
                   " into 64 bits"},
        Corruption{"tooLarge", [](Graph& g) { g.add_parameter("y", Shape{std::int64_t{1} << 61}); },
                   "value `y` has shape [2305843009213693952]; dimensions must be at least 1 and"
                   " the size fit into 64 bits"},
        Corruption{
            "channelsLastRank",
            [](Graph& g) {
              g.add_input("y", {Shape{1, 2}, DType::kF32, Layout::kChannelsLast}, Rate::kStep);
            },
            "value `y` is channels_last with shape [1, 2]"},
        Corruption{"graphOutput", [](Graph& g) { g.add_output(7); },
                   "output is value 7, the graph has 7"},
        Corruption{"aliasOutOfRange", [](Graph& g) { g.add_alias("a", 7); },
                   "alias `a` is value 7, the graph has 7"},
        Corruption{"aliasShadowed", [](Graph& g) { g.add_alias("act", id_of(g, "x")); },
                   "alias `act` stands for `x`, but another value has that name"},
        Corruption{"bodyMissing", [](Graph& g) { op_of(g, "r").body = nullptr; },
                   "op `r` (region) has no body"},
        Corruption{"bodyOnSilu", [](Graph& g) { op_of(g, "act").body = op_of(g, "r").body; },
                   "op `act` (silu) must not have a body"},
        Corruption{"bodyGrewAnOutput",
                   [](Graph& g) { const_cast<Graph&>(*op_of(g, "r").body).add_output(0); },
                   "op `r` has 1 results, region gives 2"},
        Corruption{"bodyBroken",
                   [](Graph& g) { const_cast<Graph&>(*op_of(g, "r").body).add_output(5); },
                   "body of `r`: output is value 5, the graph has 2"},
        Corruption{"bodyInputs",
                   [](Graph& g) {
                     const_cast<Graph&>(*op_of(g, "r").body)
                         .add_input("more", {Shape{1}, DType::kF32, Layout::kRowMajor},
                                    Rate::kStep);
                   },
                   "op `r` (region): takes 2 to 2 inputs, was given 1"},
        Corruption{
            "bodyParameter",
            [](Graph& g) { const_cast<Graph&>(*op_of(g, "r").body).add_parameter("own", {1}); },
            "body of `r` has parameter `own`; weights reach a body as inputs"},
        Corruption{"bodyRate",
                   [](Graph& g) {
                     Graph body = make_body();
                     value_of(body, "source").rate = Rate::kVolume;
                     value_of(body, "inner").rate = Rate::kVolume;
                     set_body(g, std::move(body));
                   },
                   "body of `r`: input `source` has rate volume, the op is given rate step"}),
    [](const auto& info) { return info.param.name; });

TEST(Verifier, WantsAnOutput) {
  Graph graph;
  graph.add_input("x", {Shape{1}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  const Status status = verify(graph);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the graph has no output");
}

TEST(Verifier, LimitsTheDepthOfBodies) {
  Graph graph = make_body();
  for (int depth = 0; depth <= kMaxBodyDepth; ++depth) {
    EXPECT_TRUE(verify(graph).ok()) << depth;
    Graph outer;
    const ValueId x = outer.add_input("source", graph.value(0).type, Rate::kStep);
    const auto op = outer.add_op(
        {OpKind::region, "inner", {}, {x}, {}, std::make_shared<const Graph>(std::move(graph))});
    ASSERT_TRUE(op.ok());
    outer.add_output(outer.op(*op).outputs[0]);
    graph = std::move(outer);
  }
  const Status status = verify(graph);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("bodies nest more than 8 deep"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace mezzotint
