#include "imaging/label_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "imaging/label_sets.h"

namespace mezzotint {
namespace {

using Labels = std::map<std::int64_t, std::uint8_t>;

const LabelSet whole_head = testing::whole_head_labels();
const LabelSet brats = testing::brats_labels();

void expect_map(std::string_view text, const LabelSet& recipe, const Labels& labels,
                std::optional<std::uint8_t> others = std::nullopt) {
  const auto map = parse_label_map(text, recipe);
  ASSERT_TRUE(map.ok()) << map.error().message;
  EXPECT_EQ(map->labels, labels) << text;
  EXPECT_EQ(map->others, others) << text;
}

void expect_refused(std::string_view text, std::string_view message,
                    const LabelSet& recipe = whole_head) {
  const auto map = parse_label_map(text, recipe);
  ASSERT_FALSE(map.ok()) << text;
  EXPECT_EQ(map.error().message, message);
}

TEST(LabelMap, NumbersAndNames) {
  expect_map("1=brain,2=tumour", whole_head, {{0, 0}, {1, 1}, {2, 2}});
  expect_map(" 3 = BRAIN , -4=Tumour\t,5=background,6=0", whole_head,
             {{0, 0}, {3, 1}, {-4, 2}, {5, 0}, {6, 0}});
  expect_map("4=enhancing tumour,1=1", brats, {{-1, 0}, {0, 0}, {1, 1}, {4, 3}});
}

TEST(LabelMap, TheRest) {
  expect_map("*=brain", whole_head, {{0, 0}}, std::uint8_t{1});
  expect_map("7=tumour,*=0", whole_head, {{0, 0}, {7, 2}}, std::uint8_t{0});
  const auto map = parse_label_map("7=tumour,*=brain", brats);
  EXPECT_FALSE(map.ok()) << "brats has no label named tumour";
}

TEST(LabelMap, BackgroundMayBeListed) {
  expect_map("0=brain,1=background", whole_head, {{0, 1}, {1, 0}});
  expect_map("-1=brain,*=oedema", brats, {{-1, 4}, {0, 0}}, std::uint8_t{2});
}

TEST(LabelMap, FindsListedValuesFirst) {
  const auto map = parse_label_map("7=tumour,*=brain", whole_head);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->find(7), 2);
  EXPECT_EQ(map->find(0), 0);
  EXPECT_EQ(map->find(99), 1);
  EXPECT_EQ(own_labels(whole_head).find(99), std::nullopt);
  EXPECT_EQ(own_labels(whole_head).find(-1), std::nullopt);
  EXPECT_EQ(own_labels(brats).find(-1), 0);
}

TEST(LabelMap, Malformed) {
  const auto expected = [](std::string_view part) {
    return fmt::format(
        "label-map: {} is not VALUE=LABEL, expected a list such as \"1=1,2=background\"", part);
  };
  expect_refused("", expected("``"));
  expect_refused("  ", expected("``"));
  expect_refused("1:brain", expected("`1:brain`"));
  expect_refused("1=brain,", expected("``"));
  expect_refused("1=brain,,2=tumour", expected("``"));
  expect_refused("=brain", expected("`=brain`"));
}

TEST(LabelMap, ValuesThatAreNoWholeNumbers) {
  for (const std::string value : {"one", "1.5", "+1", "1 2", "99999999999", "**", "0x1"}) {
    expect_refused(value + "=brain",
                   fmt::format("label-map: `{0}` in `{0}=brain` is neither a whole number (up to "
                               "2147483647) nor *",
                               value));
  }
}

TEST(LabelMap, UnknownLabels) {
  for (const std::string label : {"brian", "", "3", "-1", "256", "257", "brain=2"}) {
    expect_refused("1=" + label,
                   fmt::format("label-map: `{0}` in `1={0}` is no label of this model, expected "
                               "one of 0 (background), 1 (brain), 2 (tumour)",
                               label));
  }
}

TEST(LabelMap, ValuesListedTwice) {
  expect_refused("1=brain,2=tumour,1=brain", "label-map: `1` is listed twice");
  expect_refused("01=brain,1=tumour", "label-map: `1` is listed twice");
  expect_refused("*=brain,*=brain", "label-map: `*` is listed twice");
}

// model.json may call two labels the same.
TEST(LabelMap, NamesOfTwoLabels) {
  LabelSet twins = whole_head;
  twins.labels[1].name = "Brain";
  expect_refused("1=brain",
                 "label-map: `brain` in `1=brain` is no label of this model, expected one of 0 "
                 "(background), 1 (brain), 2 (Brain)",
                 twins);
  EXPECT_TRUE(parse_label_map("1=2", twins).ok());
}

TEST(LabelMap, TextFromOutsideStaysOnOneLine) {
  const auto map = parse_label_map("1=a\nb\x1b[2J", whole_head);
  ASSERT_FALSE(map.ok());
  EXPECT_NE(map.error().message.find("`a\\x0ab\\x1b[2J`"), std::string::npos);
}

}  // namespace
}  // namespace mezzotint
