// The small functions of the plain data in profile/profile.h.
#include <gtest/gtest.h>

#include "profile/profile.h"

namespace mezzotint {
namespace {

TEST(ProfileData, NamesOfBottlenecksReadBack) {
  for (int i = 0; i <= static_cast<int>(Bottleneck::kImbalance); ++i) {
    const auto bottleneck = static_cast<Bottleneck>(i);
    EXPECT_FALSE(name_of(bottleneck).empty());
    EXPECT_EQ(bottleneck_from_name(name_of(bottleneck)), bottleneck);
  }
  EXPECT_EQ(bottleneck_from_name("luck"), std::nullopt);
}

TEST(ProfileData, Ratios) {
  EXPECT_DOUBLE_EQ((Spread{2, 1.5, 3}.relative()), 0.75);
  EXPECT_EQ(Spread().relative(), 0);
  OpProfile op;
  EXPECT_EQ(op.intensity(), 0);
  op.flops = 6;
  op.bytes = 4;
  op.seconds.median = 8;
  op.attainable_seconds = 2;
  EXPECT_DOUBLE_EQ(op.intensity(), 1.5);
  EXPECT_DOUBLE_EQ(op.attained(), 0.25);
  Profile profile;
  EXPECT_EQ(profile.sum_ratio(), 0);
  EXPECT_EQ(profile.listening_cost(), 0);
  profile.sum_seconds = 3;
  profile.seconds.median = 4;
  profile.plain_seconds.median = 3.2;
  EXPECT_DOUBLE_EQ(profile.sum_ratio(), 0.75);
  EXPECT_DOUBLE_EQ(profile.listening_cost(), 0.25);
}

}  // namespace
}  // namespace mezzotint
