// What a variant's rounds say together.
#include "pipeline/study_row.h"

#include <gtest/gtest.h>

#include <string>

namespace mezzotint {
namespace {

StudyRow row_of(const std::vector<double>& medians) {
  std::vector<Profile> profiles;
  for (const double median : medians) {
    Profile profile;
    profile.plain_seconds = {median, median, median};
    profile.precision = std::to_string(median);
    profiles.push_back(std::move(profile));
  }
  StudyRow row;
  row.name = "winograd";
  describe_row(std::move(profiles), row);
  return row;
}

TEST(StudyRow, TheProfileIsThatOfTheMedianRound) {
  const StudyRow row = row_of({3, 1, 2});
  EXPECT_EQ(row.seconds.median, 2);
  EXPECT_EQ(row.seconds.low, 1.5);
  EXPECT_EQ(row.seconds.high, 2.5);
  EXPECT_EQ(row.profile.precision, std::to_string(2.0));
}

// One round's spread is that of its own evaluations.
TEST(StudyRow, OneRoundKeepsItsOwnSpread) {
  Profile profile;
  profile.plain_seconds = {2, 1, 4};
  StudyRow row;
  describe_row({profile}, row);
  EXPECT_EQ(row.seconds.low, 1);
  EXPECT_EQ(row.seconds.high, 4);
}

TEST(StudyRow, RoundsThatSpreadAreABusyMachine) {
  EXPECT_TRUE(check_rounds(row_of({1, 1.1, 1.2})).ok());
  const Status busy = check_rounds(row_of({1, 2, 3}));
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.error().code, ErrorCode::kResource);
  for (const char* part : {"winograd", "50 %", "at most 25 %", "--force"}) {
    EXPECT_NE(busy.error().message.find(part), std::string::npos) << busy.error().message;
  }
}

}  // namespace
}  // namespace mezzotint
