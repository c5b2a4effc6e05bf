#include "mezzotint/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

TEST(Result, HoldsAValue) {
  Result<int> result = 7;
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 7);
  *result = 8;
  EXPECT_EQ(result.value(), 8);
}

TEST(Result, HoldsAnError) {
  const Result<int> result = Error{ErrorCode::kNotFound, "a.nii: cannot open"};
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(result.error().message, "a.nii: cannot open");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  EXPECT_EQ(**result, 5);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Status, IsOkOrCarriesTheError) {
  const Status fine;
  EXPECT_TRUE(fine.ok());
  const Status failed = invalid_input("{}: expected {} bytes", "b.pt", 12);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(failed.error().message, "b.pt: expected 12 bytes");
}

TEST(Errors, ShorthandsSetTheirCode) {
  EXPECT_EQ(unsupported("x").code, ErrorCode::kUnsupported);
  EXPECT_EQ(resource_error("x").code, ErrorCode::kResource);
  EXPECT_EQ(make_error(ErrorCode::kCancelled, "{}", 1).code, ErrorCode::kCancelled);
}

TEST(CheckDeathTest, AbortsWithFileAndReason) {
  check(true, "never seen");
  EXPECT_DEATH(check(false, "two and two"), "result\\.cc.*two and two");
}

}  // namespace
}  // namespace mezzotint
