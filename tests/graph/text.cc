#include "graph/text.h"

#include <gtest/gtest.h>

#include "graph/graph_builder.h"

namespace mezzotint {
namespace {

// One of each kind of statement, and of each kind of attribute.
constexpr std::string_view kText = R"(input %x step float32[1, 32, 4, 4, 4] channels_last
parameter %conv.0.weight [32, 32, 3, 3, 3]
parameter %norm.weight [32]
parameter %norm.bias [32]
%conv.0 = region(%x, %conv.0.weight) -> float32[1, 32, 4, 4, 4] channels_last, float64[1, 32, 2] {
  input %source step float32[1, 32, 4, 4, 4] channels_last
  input %weight model float32[32, 32, 3, 3, 3]
  %y = conv3d(%source, %weight) padding=1 stride=1 -> float32[1, 32, 4, 4, 4] channels_last
  %y.moments = channel_moments(%y) -> float64[1, 32, 2]
  output %y
  output %y.moments
}
%norm = group_norm_coefficients(%conv.0:1, %norm.weight, %norm.bias) eps=1e-05 groups=32 -> float32[1, 32, 2]
%"act 1" = affine(%conv.0, %norm) activation="silu" -> float32[1, 32, 4, 4, 4] channels_last
%last = reorder(%"act 1") layout="row_major" -> float32[1, 32, 4, 4, 4]
output %last
alias %eps = %last
)";

TEST(Text, RoundTripsEveryStatement) {
  const auto graph = graph_from_text(kText);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(to_text(*graph), kText);
}

TEST(Text, KeepsIdsRatesBodiesAndAttributes) {
  const auto graph = graph_from_text(kText);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->ops().size(), 4u);
  EXPECT_EQ(graph->value(0).name, "x");
  EXPECT_EQ(graph->value(0).rate, Rate::kStep);
  EXPECT_EQ(graph->value(*graph->find_value("conv.0:1")).type.dtype, DType::kF64);
  EXPECT_EQ(graph->find_value("eps"), graph->find_value("last"));
  const Op& region = graph->op(0);
  ASSERT_NE(region.body, nullptr);
  EXPECT_EQ(region.body->ops().size(), 2u);
  EXPECT_EQ(graph->op(1).attributes.real("eps", 0), 1e-5);
  EXPECT_EQ(graph->op(1).attributes.integer("groups", 0), 32);
}

TEST(Text, WritesWhatTheBuilderBuilt) {
  GraphBuilder b;
  const ValueId t = b.input("t", {Shape{2}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  const ValueId v = b.timestep_embedding("embedding", t, 8, 1000);
  b.output(b.silu("a\"b\\\n", v));
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const std::string text = to_text(*graph);
  EXPECT_EQ(text, R"(input %t step float32[2]
%embedding = timestep_embedding(%t) dim=8 max_period=1000.0 -> float32[2, 8]
%"a\"b\\\x0a" = silu(%embedding) -> float32[2, 8]
output %"a\"b\\\x0a"
)");
  const auto again = graph_from_text(text);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_text(*again), text);
  EXPECT_EQ(again->value(2).name, "a\"b\\\n");
}

// Reals come back bit for bit.
TEST(Text, RoundTripsReals) {
  for (const double eps : {0.1, 1.0, 1e-300, 1.0 / 3.0, 5e-324, 1e22, -2.5}) {
    GraphBuilder b;
    const ValueId t = b.input("t", {Shape{1}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
    b.output(b.timestep_embedding("e", t, 4, eps));
    const auto graph = b.finish();
    ASSERT_TRUE(graph.ok());
    const auto again = graph_from_text(to_text(*graph));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->op(0).attributes.real("max_period", 0), eps);
  }
}

TEST(Text, TypesMayBeLeftOutAndCommentsAreSkipped) {
  const auto graph = graph_from_text(
      "# a comment\n\n  input %x volume float32[1, 2]\n  %y = silu(%x)\n  output %y\n");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(to_text(*graph),
            "input %x volume float32[1, 2]\n%y = silu(%x) -> float32[1, 2]\noutput %y\n");
}

struct BadText {
  std::string name;
  std::string text;
  std::string message;
};

void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}

class BadTexts : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTexts, NamesTheLine) {
  const auto graph = graph_from_text(GetParam().text);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(graph.error().message, "graph text, " + GetParam().message);
}

const std::string input_line = "input %x step float32[1, 2]\n";

INSTANTIATE_TEST_SUITE_P(
    Text, BadTexts,
    ::testing::Values(
        BadText{"statement", "nonsense\n",
                "line 1: expected input, parameter, output, alias or %name = ..."},
        BadText{"rate", "input %x often float32[1]\n",
                "line 1: expected rate model, volume or step, found `often`"},
        BadText{"type", "input %x step float31[1]\n",
                "line 1: expected a type such as float32[1, 64], found `float31`"},
        BadText{"shape", "\n\nparameter %w [1, two]\n",
                "line 3: expected a shape such as [1, 64, 8, 8, 8]"},
        BadText{"hugeDimension", "parameter %w [99999999999999999999]\n",
                "line 1: expected a shape such as [1, 64, 8, 8, 8]"},
        BadText{"hugeShape", "parameter %w [4294967296, 4294967296]\n",
                "line 1: `w` has shape [4294967296, 4294967296]; each dimension must be at least"
                " 1 and the size fit into 64 bits"},
        BadText{"zero", "parameter %w [0]\n",
                "line 1: `w` has shape [0]; each dimension must be at least 1 and the size fit"
                " into 64 bits"},
        BadText{"layout", "input %x step float32[1, 2] channels_last\n",
                "line 1: `x` has shape [1, 2], channels_last needs rank 5"},
        BadText{"op", input_line + "%y = sillu(%x)\n", "line 2: there is no op `sillu`"},
        BadText{"forward", input_line + "%y = silu(%z)\n", "line 2: no value is named `z` so far"},
        BadText{"twice", input_line + "%x = silu(%x)\n", "line 2: the name `x` is already in use"},
        BadText{"operand", input_line + "%y = silu(%x\n",
                "line 2: expected , or ) after an operand"},
        BadText{"attribute", input_line + "%y = silu(%x) k=\n",
                "line 2: expected an integer, a real or a quoted text, found ``"},
        BadText{"attributeTwice", input_line + "%y = silu(%x) k=1 k=2\n",
                "line 2: attribute `k` is given twice"},
        BadText{"unfinished", "input %\"x step\n",
                "line 1: a quoted text does not end, or has a \\ other than \\\\, \\\" and \\xNN"},
        BadText{"inference", input_line + "%y = add(%x)\n",
                "line 2: op `y` (add): takes 2 to 2 inputs, was given 1"},
        BadText{"wrongType", input_line + "%y = silu(%x) -> float32[1, 3]\n",
                "line 2: result 0 is float32[1, 2], the text says float32[1, 3]"},
        BadText{"tooManyTypes", input_line + "%y = silu(%x) -> float32[1, 2], float32[1, 2]\n",
                "line 2: 2 types are given, silu has 1 results"},
        BadText{"trailing", input_line + "output %x %x\n", "line 2: unexpected `%x` at the end"},
        BadText{"alias", input_line + "alias %a %x\n", "line 2: expected alias %name = %value"},
        BadText{"brace", input_line + "}\n", "line 2: unexpected `}`"},
        BadText{"noOutput", input_line, "line 1: the graph has no output"},
        BadText{"openBody", input_line + "%y = region(%x) {\n  input %a step float32[1, 2]\n",
                "line 3: the text ends inside a body; expected `}`"},
        BadText{
            "bodyLine",
            input_line + "%y = region(%x) {\n  input %a step float32[1, 2]\n  %b = silu(%c)\n}\n",
            "line 4: no value is named `c` so far"},
        BadText{"bodyMismatch",
                input_line + "%y = region(%x) {\n  input %a step float32[1, 3]\n  output %a\n}\n",
                "line 2: op `y` (region): input 0 is [1, 2], its body expects [1, 3]"},
        BadText{"bodyOnSilu",
                input_line + "%y = silu(%x) {\n  input %a step float32[1, 2]\n  output %a\n}\n"
                             "output %y\n",
                "line 6: op `y` (silu) must not have a body"}),
    [](const auto& info) { return info.param.name; });

// Statements about a volume, its weight and its moments; each ends in a wrong attribute or size.
const std::string volume_lines =
    "input %x step float32[1, 2, 4, 4, 4]\nparameter %w [2, 2, 3, 3, 3]\nparameter %b [2]\n"
    "%m = channel_moments(%x)\n%k = group_norm_coefficients(%m, %b, %b)\n";

struct BadOp {
  std::string name;
  std::string statement;
  std::string message;
};

void PrintTo(const BadOp& bad, std::ostream* out) {
  *out << bad.name;
}

class BadOps : public ::testing::TestWithParam<BadOp> {};

TEST_P(BadOps, AreRefusedWithTheLine) {
  const auto graph =
      graph_from_text(volume_lines + "%y = " + GetParam().statement + "\noutput %y\n");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(graph.error().message, "graph text, line 6: op `y` " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Text, BadOps,
    ::testing::Values(
        BadOp{"textForInteger", "conv3d(%x, %w) stride=\"a\"",
              "(conv3d): attribute `stride` must be an integer, was a text"},
        BadOp{"realForInteger", "conv3d(%x, %w) padding=1.0",
              "(conv3d): attribute `padding` must be an integer, was a real"},
        BadOp{"integerForReal", "group_norm_coefficients(%m, %b, %b) eps=1",
              "(group_norm_coefficients): attribute `eps` must be a real such as 1.0, was an"
              " integer"},
        BadOp{"notFinite", "group_norm_coefficients(%m, %b, %b) eps=inf",
              "(group_norm_coefficients): attribute `eps` must be finite, was inf"},
        BadOp{"integerForText", "affine(%x, %k) activation=1",
              "(affine): attribute `activation` must be a text, was an integer"},
        BadOp{"unknownText", "affine(%x, %k) activation=\"gelu\"",
              "(affine): activation must be none or silu, was `gelu`"},
        BadOp{"unknownName", "conv3d(%x, %w) strides=1",
              "(conv3d): there is no attribute `strides`; expected padding, stride"},
        BadOp{"unknownNameOfNone", "silu(%x) k=1",
              "(silu): there is no attribute `k`; expected none"},
        BadOp{"zeroStride", "conv3d(%x, %w) stride=0",
              "(conv3d): attribute `stride` must be 1 to 2147483647, was 0"},
        BadOp{"hugePadding", "conv3d(%x, %w) padding=9223372036854775807",
              "(conv3d): attribute `padding` must be 0 to 2147483647, was 9223372036854775807"},
        BadOp{"hugeResult", "conv3d(%x, %w) padding=2147483647",
              "(conv3d): its result on [1, 2, 4, 4, 4] is too large: sizes must fit into 64 bits"},
        BadOp{"hugeHeads", "attention(%x) heads=6148914691236517206",
              "(attention): attribute `heads` must be 1 to 2147483647, was 6148914691236517206"},
        BadOp{"noGroups", "group_norm_coefficients(%m, %b, %b) groups=0",
              "(group_norm_coefficients): attribute `groups` must be 1 to 2147483647, was 0"},
        BadOp{"offsetBeyondTheCoefficients", "affine(%x, %k) channel_offset=1",
              "(affine): x is [1, 2, 4, 4, 4] at channel offset 1; coefficients must be"
              " [N, >= offset + C, 2], were [1, 2, 2]"},
        BadOp{"hugeOffset", "affine(%x, %k) channel_offset=9223372036854775807",
              "(affine): attribute `channel_offset` must be 0 to 2147483647, was"
              " 9223372036854775807"},
        BadOp{"noDim", "timestep_embedding(%b)",
              "(timestep_embedding): attribute `dim` is missing"},
        BadOp{"realIndex", "select_rows(%x, %b)",
              "(select_rows): index must be int32, was float32"},
        BadOp{"indexOfRank3", "select_rows(%x, %m)",
              "(select_rows): input 1 (m) has shape [1, 2, 2], expected rank 1"},
        BadOp{"noIndex", "select_rows(%x)", "(select_rows): takes 2 to 2 inputs, was given 1"},
        BadOp{"unknownLayout", "reorder(%x) layout=\"diagonal\"",
              "(reorder): layout must be row_major or channels_last, was `diagonal`"}),
    [](const auto& info) { return info.param.name; });

// The largest sides that a type may have: what ops make of them does not fit.
TEST(Text, RefusesResultsBeyond64Bits) {
  const std::string side = "6917529027641081856";  // 3 * 2^61
  const std::string input = "input %x step uint8[1, 1, " + side + ", 1, 1]\n";
  const std::string wide = "input %x step uint8[1, " + side + "]\n";
  const std::string tall =
      "input %x step uint8[1, 1, 9223372036854775807, 1, 1]\n"
      "input %w step uint8[1, 1, 1, 1, 1]\n";
  const std::pair<std::string, std::string> cases[] = {
      {input + "%y = upsample_trilinear(%x)\n",
       "line 2: op `y` (upsample_trilinear): its result on [1, 1, " + side + ", 1, 1]"},
      {wide + "%y = concat(%x, %x)\n", "line 2: op `y` (concat): its result on [1, " + side + "]"},
      {tall + "%y = conv3d(%x, %w) padding=1\n",
       "line 3: op `y` (conv3d): its result on [1, 1, 9223372036854775807, 1, 1]"},
  };
  for (const auto& [text, message] : cases) {
    const auto graph = graph_from_text(text);
    ASSERT_FALSE(graph.ok()) << text;
    EXPECT_EQ(graph.error().message,
              "graph text, " + message + " is too large: sizes must fit into 64 bits");
  }
}

TEST(Text, LimitsTheDepthOfBodies) {
  std::string text;
  for (int i = 0; i < 10000; ++i) {
    text += "input %x step float32[1, 2]\n%y = region(%x) {\n";
  }
  const auto graph = graph_from_text(text);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "graph text, line 18: bodies nest more than 8 deep");
}

}  // namespace
}  // namespace mezzotint
