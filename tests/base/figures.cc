#include "base/figures.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

TEST(Figures, DurationsHaveTheUnitThatFits) {
  EXPECT_EQ(format_duration(0), "0.0 us");
  EXPECT_EQ(format_duration(8.14e-6), "8.1 us");
  EXPECT_EQ(format_duration(999.94e-6), "999.9 us");
  EXPECT_EQ(format_duration(999.96e-6), "1.00 ms");
  EXPECT_EQ(format_duration(12.346e-3), "12.35 ms");
  EXPECT_EQ(format_duration(0.999994), "999.99 ms");
  EXPECT_EQ(format_duration(0.999996), "1.000 s");
  EXPECT_EQ(format_duration(3.4124), "3.412 s");
  EXPECT_EQ(format_duration(-0.25), "-250.00 ms");
}

TEST(Figures, ChangesHaveASign) {
  EXPECT_EQ(format_change(0.0123), "+12.30 ms");
  EXPECT_EQ(format_change(-2), "-2.000 s");
  EXPECT_EQ(format_change(0), "+0.0 us");
}

TEST(Figures, PercentHasTwoDigitsOrMore) {
  EXPECT_EQ(format_percent(0), "0.0 %");
  EXPECT_EQ(format_percent(0.0051), "0.5 %");
  EXPECT_EQ(format_percent(0.0994), "9.9 %");
  EXPECT_EQ(format_percent(0.0996), "10 %");
  EXPECT_EQ(format_percent(0.834), "83 %");
  EXPECT_EQ(format_percent(1.5), "150 %");
  EXPECT_EQ(format_percent(-0.05), "-5.0 %");
  EXPECT_EQ(format_percent(-0.0004), "0.0 %");
}

TEST(Figures, BytesAreInDecimalUnits) {
  EXPECT_EQ(format_bytes(3'412'000'000), "3.41 GB");
  EXPECT_EQ(format_bytes(80'760'832), "80.76 MB");
  EXPECT_EQ(format_bytes(90'000'000), "90 MB");
  EXPECT_EQ(format_bytes(1024), "1.024 kB");
  EXPECT_EQ(format_bytes(999), "999 bytes");
}

}  // namespace
}  // namespace mezzotint
