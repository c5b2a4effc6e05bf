#include "pipeline/relative_l2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mezzotint {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(RelativeL2, IsTheErrorsNormByTheTruths) {
  const std::vector<float> truth = {3, 4};
  const std::vector<float> values = {4, 1};
  EXPECT_DOUBLE_EQ(relative_l2(values, truth), std::sqrt(10.0) / 5);
  EXPECT_EQ(relative_l2(truth, truth), 0);
  EXPECT_EQ(relative_l2(std::vector<float>{0, 0}, std::vector<float>{0, 0}), 0);
}

TEST(RelativeL2, IsInfiniteForWhatCannotBeCompared) {
  const std::vector<float> fine = {3, 4};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    const std::vector<float> broken = {3, bad};
    EXPECT_EQ(relative_l2(broken, fine), infinity) << bad;
    EXPECT_EQ(relative_l2(fine, broken), infinity) << bad;
    EXPECT_EQ(relative_l2(broken, broken), infinity) << bad;
  }
  EXPECT_EQ(relative_l2(fine, std::vector<float>{0, 0}), infinity);
  EXPECT_EQ(relative_l2(fine, std::vector<float>{3, 4, 5}), infinity);
}

TEST(RelativeL2, DoesNotOverflow) {
  const std::vector<float> large(1000, std::numeric_limits<float>::max());
  EXPECT_DOUBLE_EQ(relative_l2(std::vector<float>(1000, 0), large), 1);
}

}  // namespace
}  // namespace mezzotint
