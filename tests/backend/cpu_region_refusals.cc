// What the convolutions refuse of the regions that describe_conv reads.
#include <gtest/gtest.h>

#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/onednn/onednn_ops.h"
#include "graph/text.h"

namespace mezzotint {
namespace {

std::string refusal(const Implementation& implementation, const std::string& text) {
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  const auto reason = implementation.refusal({*graph, graph->op(0)}, {});
  return reason ? *reason : "accepted";
}

// `source` makes %s from an input %x of `x_type`; `tail` makes the results from the convolution %y.
std::string region(const std::string& x_type, const std::string& channels,
                   const std::string& source, const std::string& tail) {
  const std::string weight = "[" + channels + ", 16, 3, 3, 3]";
  return "input %x step " + x_type + "\nparameter %w " + weight + "\n%r = region(%x, %w) {\n" +
         "input %x step " + x_type + "\ninput %w model float32" + weight + "\n" + source +
         "%y = conv3d(%s, %w) padding=1\n" + tail + "}\noutput %r\n";
}

const std::string channels_last = "float32[1, 16, 4, 4, 4] channels_last";
const std::string row_major = "float32[1, 16, 4, 4, 4]";
const std::string upsample = "%s = upsample_trilinear(%x)\n";
const std::string reorder = "%s = reorder(%x) layout=\"channels_last\"\n";
const std::string to_row_major = "%z = reorder(%y) layout=\"row_major\"\noutput %z\n";
const std::string plain = "output %y\n";

TEST(RegionRefusals, OnednnLoadsAndStoresPlainChannelsLast) {
  const auto conv = make_onednn_conv();
  EXPECT_EQ(refusal(*conv, region(channels_last, "16", reorder, plain)), "accepted");
  EXPECT_EQ(refusal(*conv, region(channels_last, "16", upsample, plain)),
            "oneDNN cannot interpolate while loading");
  EXPECT_EQ(refusal(*conv, region(row_major, "16", reorder, plain)),
            "a source must be channels_last, is row_major");
  EXPECT_EQ(refusal(*conv, region(channels_last, "16", reorder, to_row_major)),
            "the result must be channels_last, is row_major");
}

TEST(RegionRefusals, OnednnReadsResidualsInChannelsLast) {
  const std::string text = R"(input %x step float32[1, 16, 4, 4, 4] channels_last
input %r step float32[1, 16, 4, 4, 4]
parameter %w [16, 16, 1, 1, 1]
%region = region(%x, %r, %w) {
  input %x step float32[1, 16, 4, 4, 4] channels_last
  input %r step float32[1, 16, 4, 4, 4]
  input %w model float32[16, 16, 1, 1, 1]
  %s = reorder(%x) layout="row_major"
  %y = conv3d(%s, %w)
  %sum = add(%y, %r)
  %z = reorder(%sum) layout="channels_last"
  output %z
}
output %region
)";
  EXPECT_EQ(refusal(*make_onednn_conv(), text), "the residual must be channels_last, is row_major");
}

TEST(RegionRefusals, FewOutputsLoadsPlainChannelsLast) {
  const auto conv = kernels::make_conv_few_outputs();
  EXPECT_EQ(refusal(*conv, region(channels_last, "2", reorder, plain)), "accepted");
  EXPECT_EQ(refusal(*conv, region(channels_last, "2", upsample, plain)),
            "computes one plain source with bias, nothing fused");
  EXPECT_EQ(refusal(*conv, region(row_major, "2", reorder, plain)),
            "x must be channels_last, is row_major [1, 16, 4, 4, 4]");
  EXPECT_EQ(refusal(*conv, region(channels_last, "2", reorder, to_row_major)), "accepted");
}

}  // namespace
}  // namespace mezzotint
