#include "base/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace mezzotint {
namespace {

TEST(Quantile, IsBetweenTheTwoNearestSamples) {
  const std::vector<double> samples{1, 2, 4, 8};
  EXPECT_EQ(quantile(samples, 0), 1);
  EXPECT_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_EQ(quantile(samples, 0.5), 3);
  EXPECT_EQ(quantile(samples, 0.75), 5);
  EXPECT_EQ(quantile(samples, 1), 8);
}

TEST(Quantile, ByNearestRankIsASample) {
  const std::vector<double> samples{1, 2, 4, 8};
  EXPECT_EQ(nearest_rank(samples, 0), 1);
  EXPECT_EQ(nearest_rank(samples, 0.25), 1);
  EXPECT_EQ(nearest_rank(samples, 0.26), 2);
  EXPECT_EQ(nearest_rank(samples, 0.5), 2);
  EXPECT_EQ(nearest_rank(samples, 1), 8);
}

TEST(Quantile, OfOneSampleIsThatSample) {
  const std::vector<double> samples{3};
  for (const double fraction : {0.0, 0.1, 0.5, 1.0}) {
    EXPECT_EQ(quantile(samples, fraction), 3);
    EXPECT_EQ(nearest_rank(samples, fraction), 3);
  }
}

}  // namespace
}  // namespace mezzotint
