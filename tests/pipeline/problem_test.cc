// The grammar of a problem line.
#include "pipeline/problem.h"

#include <gtest/gtest.h>

#include <string>

namespace mezzotint {
namespace {

TEST(Problem, says_every_size_of_a_convolution) {
  const auto problem = parse_problem("conv3d n1 c64 k48 d32 h16 w8 f3x1x2 s2 p0 fp32");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->op, "conv3d");
  EXPECT_EQ(problem->c, 64);
  EXPECT_EQ(problem->k, 48);
  EXPECT_EQ(problem->d, 32);
  EXPECT_EQ(problem->h, 16);
  EXPECT_EQ(problem->w, 8);
  EXPECT_EQ(problem->f, (std::array<std::int64_t, 3>{3, 1, 2}));
  EXPECT_EQ(problem->s, 2);
  EXPECT_EQ(problem->p, 0);
}

TEST(Problem, fills_in_what_is_usual) {
  const auto problem = parse_problem("  conv3d w5 h6\td7 k2 c1 ");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(to_string(*problem), "conv3d n1 c1 k2 d7 h6 w5 f3 s1 p1 fp32");
}

class ProblemLine : public ::testing::TestWithParam<const char*> {};

TEST_P(ProblemLine, survives_a_round_trip) {
  const auto problem = parse_problem(GetParam());
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(to_string(*problem), GetParam());
  const auto again = parse_problem(to_string(*problem));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *problem);
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ProblemLine,
    ::testing::Values("add n1 c3 d4 h5 w6 fp32", "add_channels n2 c3 d4 h5 w6 fp32",
                      "affine n1 c3 d4 h5 w6 fp32", "affine_silu n1 c3 d4 h5 w6 fp32",
                      "attention n1 c8 d2 h3 w4 a2 fp32", "channel_moments n1 c3 d4 h5 w6 fp32",
                      "concat n1 c3 k4 d4 h5 w6 fp32", "conv3d n1 c3 k4 d4 h5 w6 f3 s1 p1 fp32",
                      "conv3d n1 c3 k4 d4 h5 w6 f3x1x2 s2 p0 fp32", "linear n2 c3 k4 fp32",
                      "silu n1 c3 d4 h5 w6 fp32", "upsample_trilinear n1 c3 d4 h5 w6 fp32"));

struct BadLine {
  const char* text;
  const char* message;
};

class BadProblemLine : public ::testing::TestWithParam<BadLine> {};

TEST_P(BadProblemLine, is_refused_with_what_was_expected) {
  const auto problem = parse_problem(GetParam().text);
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(problem.error().message, GetParam().message);
}

constexpr char kOps[] =
    "add, add_channels, affine, affine_silu, attention, channel_moments, concat, conv3d, linear, "
    "silu, upsample_trilinear";

INSTANTIATE_TEST_SUITE_P(
    Words, BadProblemLine,
    ::testing::Values(
        BadLine{"conv3d c64 k64 d8 h8", "problem: conv3d needs w, as in `w64`"},
        BadLine{"conv3d c64 k64 d8 h8 w8 q1",
                "problem: `q1`: conv3d takes n c k d h w f s p with a number each, and the type "
                "fp32"},
        BadLine{"linear c64 k64 d8",
                "problem: `d8`: linear takes n c k with a number each, and the type fp32"},
        BadLine{"linear c64 k64 bf16",
                "problem: `bf16`: linear takes n c k with a number each, and the type fp32"},
        BadLine{"linear c64 k64 c8", "problem: `c8`: c was given before"},
        BadLine{"linear c0 k64", "problem: `c0`: expected c and a number from 1 to 65536"},
        BadLine{"linear c-4 k64", "problem: `c-4`: expected c and a number from 1 to 65536"},
        BadLine{"linear c99999999999999999999 k64",
                "problem: `c99999999999999999999`: expected c and a number from 1 to 65536"},
        BadLine{"linear c6x k64", "problem: `c6x`: expected c and a number from 1 to 65536"},
        BadLine{"conv3d c1 k1 d8 h8 w8 s3", "problem: `s3`: expected s and a number from 1 to 2"},
        BadLine{"conv3d c1 k1 d8 h8 w8 p2", "problem: `p2`: expected p and a number from 0 to 1"},
        BadLine{"conv3d c1 k1 d8 h8 w8 f4",
                "problem: `f4`: a kernel is one side from 1 to 3 (f3) or three (f3x1x2)"},
        BadLine{"conv3d c1 k1 d8 h8 w8 f3x1",
                "problem: `f3x1`: a kernel is one side from 1 to 3 (f3) or three (f3x1x2)"},
        BadLine{"conv3d c1 k1 d8 h8 w8 f3x1x2x1",
                "problem: `f3x1x2x1`: a kernel is one side from 1 to 3 (f3) or three (f3x1x2)"}));

TEST(Problem, lists_the_ops_when_the_first_word_is_none) {
  for (const auto& [text, what] :
       {std::pair{"conv4d c1", "`conv4d`"}, std::pair{"  ", "nothing"}}) {
    const auto problem = parse_problem(text);
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().message, std::string("problem: ") + what +
                                           " is no op to measure; it begins with one of " + kOps);
  }
}

TEST(Problem, builds_the_op_alone) {
  const auto graph = build_problem(*parse_problem("conv3d c3 k4 d6 h5 w4 f3x1x2 s2 p0"));
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->ops().size(), 1U);
  EXPECT_EQ(graph->value(graph->outputs()[0]).type,
            (ValueType{{1, 4, 2, 3, 2}, DType::kF32, Layout::kChannelsLast}));
}

TEST(Problem, says_which_sizes_do_not_go_together) {
  const auto graph = build_problem(*parse_problem("conv3d c3 k4 d2 h5 w4 f3 p0"));
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("problem: conv3d n1 c3 k4 d2 h5 w4 f3 s1 p0 fp32: "),
            std::string::npos);
  EXPECT_NE(graph.error().message.find("does not fit into x"), std::string::npos);
}

}  // namespace
}  // namespace mezzotint
