// onednn.conv and kernels.conv_few_outputs against the law, and bit for bit over thread counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backend/conv_op.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/onednn/onednn_ops.h"

namespace mezzotint::testing {
namespace {

std::unique_ptr<Implementation> conv_for(const ConvCase& c) {
  return c.out < 16 ? make_onednn_conv_narrow() : make_onednn_conv();
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// The whole-head network's convolutions (64 channels, multipliers 1, 1, 2, 3, 4) at `size`^3, each
// level at its own resolution.
std::vector<ConvCase> whole_head_convs(std::int64_t size) {
  const std::int64_t channels[] = {64, 64, 128, 192, 256};
  std::vector<ConvCase> cases{{3, 64, {size, size, size}, cube3},
                              {64, 1, {size, size, size}, cube3}};
  for (int level = 0; level < 5; ++level) {
    const std::int64_t extent = size >> level;
    const Shape volume{extent, extent, extent};
    const std::int64_t here = channels[level];
    const std::int64_t finer = channels[level == 0 ? 0 : level - 1];
    const std::int64_t coarser = channels[level == 4 ? 4 : level + 1];
    for (const std::int64_t in : {finer, here, here + here, here + coarser, here + finer}) {
      cases.push_back({in, here, volume, cube3});
      cases.push_back({in, here, volume, cube1, 1, 0});
    }
    cases.push_back({here, here, volume, cube3, 2, 1});
    cases.push_back({here, 3 * here, volume, cube1, 1, 0});
  }
  return cases;
}

TEST(OnednnConv, MatchesTheLaw) {
  const Machine machine = machine_with(runnable_isas().back(), 2);
  const ConvCase cases[] = {
      {1, 1, {1, 1, 1}, cube3},
      {1, 32, {5, 4, 7}, cube3},
      {3, 64, {6, 5, 9}, cube3, 1, 1, 2},
      {64, 1, {4, 9, 5}, cube3},
      {37, 41, {3, 7, 11}, cube3},
      {37, 41, {7, 3, 5}, cube3, 2, 1},
      {13, 17, {8, 4, 6}, cube3, 1, 0},
      {16, 16, {5, 6, 7}, {2, 2, 2}, 2, 0},
      {16, 24, {5, 6, 7}, {2, 3, 1}},
      {32, 32, {4, 5, 6}, cube1, 1, 0, 3},
      {7, 5, {4, 5, 6}, cube1, 2, 1},
      {32, 48, {4, 5, 6}, cube1, 1, 1, 1, false},
      {128, 64, {33, 3, 4}, cube3},
      {64, 64, {70, 2, 3}, cube3, 2, 1},
      // The last rows of the source are not read.
      {3, 5, {4, 3, 3}, {2, 2, 2}, 2, 0},
      {3, 17, {4, 4, 4}, cube3, 2, 0},
      {3, 17, {8, 8, 8}, {3, 1, 3}, 2, 1},
      {3, 17, {68, 4, 3}, cube1, 2, 0},
      {64, 17, {11, 3, 23}, {2, 2, 2}, 2, 0},
  };
  for (const ConvCase& c : cases) {
    SingleOp op = plain_conv(c);
    const Status status = op.run(*conv_for(c), machine);
    ASSERT_TRUE(status.ok()) << c.text() << ": " << status.error().message;
    expect_within_sum_bound(op.check(), c.terms(), c.text());
  }
}

TEST(OnednnConv, FusedEpiloguesAndSourcesMatchTheLaw) {
  const auto conv = make_onednn_conv();
  const Machine machine = machine_with(runnable_isas().back(), 2);
  const Fused forms[] = {{{48}, true, false},    {{48}, false, true},
                         {{48}, true, true},     {{16, 32}, false, false},
                         {{17, 31}, true, true}, {{16, 16, 16}, false, true}};
  for (const Fused& fused : forms) {
    const ConvCase c{48, 40, {5, 6, 7}, cube3, 1, 1, 2};
    SingleOp op = fused_conv(c, fused);
    const Status status = op.run(*conv, machine);
    const std::string what = fmt::format("{} sources, time vector {}, residual {}",
                                         fused.sources.size(), fused.time_vector, fused.residual);
    ASSERT_TRUE(status.ok()) << what << ": " << status.error().message;
    expect_within_sum_bound(op.check(), c.terms(), what);
  }
}

TEST(OnednnConv, ResidualMayShareTheResultsMemory) {
  const auto conv = make_onednn_conv();
  const Machine machine = machine_with(runnable_isas().back(), 2);
  SingleOp op = fused_conv({32, 32, {6, 5, 4}, cube3, 1, 1, 2}, {{32}, true, true});
  constexpr std::size_t kResidual = 4;
  const auto kernel = conv->prepare(op.view(), {machine});
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->aliasable_inputs(), AliasableInputs{kResidual});
  ASSERT_TRUE(op.run(*conv, machine).ok());
  const std::vector<std::byte> apart = copy_of(op.output_bytes());
  ASSERT_TRUE(op.run(*conv, machine, kResidual).ok());
  EXPECT_TRUE(std::ranges::equal(apart, op.output_bytes()));
}

TEST(OnednnConv, BytesDoNotDependOnThreads) {
  std::vector<ConvCase> cases = whole_head_convs(16);
  const ConvCase larger[] = {{64, 64, {32, 32, 32}, cube3},   {128, 64, {32, 32, 32}, cube3},
                             {320, 192, {16, 16, 16}, cube3}, {192, 192, {16, 16, 16}, cube3, 2, 1},
                             {3, 64, {64, 64, 64}, cube3},    {64, 64, {64, 64, 64}, cube1, 1, 0}};
  cases.insert(cases.end(), std::begin(larger), std::end(larger));
  for (const ConvCase& c : cases) {
    SingleOp op = plain_conv(c);
    std::vector<std::byte> expected;
    for (const int threads : {1, 2, 3, 4}) {
      const Status status = op.run(*conv_for(c), machine_with(runnable_isas().back(), threads));
      ASSERT_TRUE(status.ok()) << c.text() << ": " << status.error().message;
      if (expected.empty()) {
        expected = copy_of(op.output_bytes());
      }
      EXPECT_TRUE(std::ranges::equal(expected, op.output_bytes()))
          << c.text() << " with " << threads << " threads";
    }
  }
}

TEST(OnednnConv, BytesOfFusedFormsDoNotDependOnThreadsNorOnTheBatch) {
  const auto conv = make_onednn_conv();
  const ConvCase one{96, 64, {9, 10, 11}, cube3};
  SingleOp single = fused_conv(one, {{64, 32}, true, true});
  ConvCase two = one;
  two.samples = 2;
  SingleOp pair = fused_conv(two, {{64, 32}, true, true});
  // Sample 1 of the pair becomes the single problem.
  for (const std::size_t i : {0U, 1U, 4U, 5U}) {
    const auto half = pair.input_floats(i).size() / 2;
    std::ranges::copy(single.input_floats(i), pair.input_floats(i).subspan(half).begin());
  }
  for (const std::size_t i : {2U, 3U}) {
    std::ranges::copy(single.input_floats(i), pair.input_floats(i).begin());
  }
  ASSERT_TRUE(single.run(*conv, machine_with(runnable_isas().back(), 1)).ok());
  for (const int threads : {1, 2, 4}) {
    ASSERT_TRUE(pair.run(*conv, machine_with(runnable_isas().back(), threads)).ok());
    const auto bytes = pair.output_bytes();
    EXPECT_TRUE(std::ranges::equal(single.output_bytes(), bytes.subspan(bytes.size() / 2)))
        << threads << " threads";
  }
}

TEST(OnednnConv, SaysWhyNot) {
  const auto conv = make_onednn_conv();
  const Machine machine = machine_with(Isa::kAvx2, 1);
  SingleOp small_sources = fused_conv({3, 64, {4, 4, 4}, cube3}, {{1, 2}, false, false});
  EXPECT_NE(conv->refusal(small_sources.view(), {machine})->find("1 channels"), std::string::npos);

  SingleOp narrow = plain_conv({64, 1, {4, 4, 4}, cube3});
  EXPECT_EQ(conv->refusal(narrow.view(), {machine}), "made for at least 16 output channels, has 1");
  EXPECT_EQ(make_onednn_conv_narrow()->refusal(narrow.view(), {machine}), std::nullopt);

  SingleOp row_major;
  row_major.input({1, 16, 4, 4, 4}, Layout::kRowMajor);
  row_major.parameter({16, 16, 3, 3, 3});
  row_major.op(OpKind::conv3d, {{"padding", std::int64_t{1}}});
  EXPECT_NE(conv->refusal(row_major.view(), {machine})->find("must be channels_last, is row_major"),
            std::string::npos);
}

TEST(OnednnConv, KnowsItsMemory) {
  const auto conv = make_onednn_conv();
  const ConvCase c{64, 64, {8, 8, 8}, cube3};
  SingleOp op = plain_conv(c);
  const auto kernel = conv->prepare(op.view(), {machine_with(runnable_isas().back(), 2)});
  ASSERT_TRUE(kernel.ok());
  const std::size_t weights = 64 * 64 * 27 * sizeof(float);
  EXPECT_EQ((*kernel)->packed_bytes(), weights + 64 * sizeof(float));
  EXPECT_EQ((*kernel)->load_bytes(), weights);
  EXPECT_LT((*kernel)->workspace_bytes(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace mezzotint::testing
