// How onednn.conv cuts a convolution into calls.
#include "backend/cpu/onednn/conv_schedule.h"

#include <gtest/gtest.h>

#include <map>

#include "backend/conv_op.h"

namespace mezzotint::testing {
namespace {

// The forms are what compile asks the library about, so none may be missing and none left over.
void expect_forms_count_the_calls(const SingleOp& op, DType operands, const std::string& what) {
  const auto region = describe_conv(op.view());
  ASSERT_TRUE(region.has_value()) << what;
  const ConvSchedule forms = conv_forms(op.view(), *region, operands);
  const ConvSchedule whole = schedule_conv(op.view(), *region, operands);
  EXPECT_TRUE(forms.calls.empty()) << what;
  ASSERT_EQ(forms.forms.size(), whole.forms.size()) << what;
  std::map<std::size_t, std::int64_t> calls;
  for (const ConvCall& call : whole.calls) {
    ++calls[call.form];
  }
  for (std::size_t form = 0; form < forms.forms.size(); ++form) {
    EXPECT_GT(calls[form], 0) << what << ", form " << form;
    EXPECT_EQ(forms.forms[form].calls, calls[form]) << what << ", form " << form;
  }
}

TEST(ConvSchedule, FormsCountTheCalls) {
  const ConvCase cases[] = {
      {1, 1, {1, 1, 1}, cube3},          {37, 41, {3, 7, 11}, cube3},
      {37, 41, {7, 3, 5}, cube3, 2, 1},  {64, 64, {70, 9, 130}, cube3},
      {16, 24, {5, 6, 7}, {2, 3, 1}},    {3, 17, {4, 4, 4}, cube3, 2, 0},
      {32, 32, {68, 5, 6}, cube1, 1, 0}, {32, 48, {4, 5, 6}, cube1, 1, 1},
  };
  for (const ConvCase& c : cases) {
    expect_forms_count_the_calls(plain_conv(c), DType::kF32, c.text());
    expect_forms_count_the_calls(plain_conv(c), DType::kBF16, c.text() + " bf16");
  }
}

TEST(ConvSchedule, FormsCountTheCallsOfEachSource) {
  const ConvCase c{48, 64, {9, 40, 70}, cube3};
  const SingleOp op = fused_conv(c, {.sources = {16, 32}});
  expect_forms_count_the_calls(op, DType::kF32, c.text());
  expect_forms_count_the_calls(op, DType::kBF16, c.text());
}

}  // namespace
}  // namespace mezzotint::testing
