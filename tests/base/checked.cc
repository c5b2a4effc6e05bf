#include "base/checked.h"

#include <gtest/gtest.h>

#include <vector>

namespace mezzotint {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, AddStopsAtTheLimit) {
  EXPECT_EQ(checked_add(2, 3), 5U);
  EXPECT_EQ(checked_add(kMax, 0), kMax);
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_FALSE(checked_add(kMax, 1).has_value());
  EXPECT_FALSE(checked_add(1, kMax).has_value());
}

TEST(Checked, MultiplyStopsAtTheLimit) {
  EXPECT_EQ(checked_multiply(6, 7), 42U);
  EXPECT_EQ(checked_multiply(0, kMax), 0U);
  EXPECT_EQ(checked_multiply(kMax, 1), kMax);
  EXPECT_EQ(checked_multiply(kMax / 3, 3), kMax);
  EXPECT_FALSE(checked_multiply(kMax / 3 + 1, 3).has_value());
  EXPECT_FALSE(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32).has_value());
}

TEST(Checked, ElementsIsTheProductWithinInt64) {
  using Dims = std::vector<std::int64_t>;
  EXPECT_EQ(checked_elements(Dims{}), 1);
  EXPECT_EQ(checked_elements(Dims{1, 4, 128, 128, 128}), 8388608);
  EXPECT_EQ(checked_elements(Dims{5, 0, 7}), 0);
  EXPECT_EQ(checked_elements(Dims{std::numeric_limits<std::int64_t>::max()}),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(checked_elements(Dims{2, -1}).has_value());
  EXPECT_FALSE(checked_elements(Dims{std::int64_t{1} << 62, 2}).has_value());
  EXPECT_FALSE(checked_elements(Dims{std::int64_t{1} << 40, std::int64_t{1} << 40}).has_value());
}

}  // namespace
}  // namespace mezzotint
