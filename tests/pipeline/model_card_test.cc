#include "pipeline/model_card.h"

#include <gtest/gtest.h>

#include "formats/ckpt_files.h"

namespace mezzotint::testing {
namespace {

Result<ModelCard> read(std::string_view text) {
  const TemporaryFile file(text);
  return read_model_card(file.path());
}

TEST(ModelCard, ReadsEveryKey) {
  const auto card = read(R"({"recipe": "whole-head", "grid": [64, 48, 32],
    "spacing_mm": [1, 1.5, 2], "frame": "LPS+", "labels": {"1": "brain", "2": "lesion"},
    "timesteps": 250, "schedule": "cosine", "weights": "a.pt", "licence": "CC0"})");
  ASSERT_TRUE(card.ok()) << card.error().message;
  EXPECT_EQ(card->recipe, "whole-head");
  EXPECT_EQ(card->grid, (std::array<std::int64_t, 3>{64, 48, 32}));
  EXPECT_EQ(card->spacing_mm, (std::array<double, 3>{1, 1.5, 2}));
  EXPECT_EQ(card->frame, "LPS+");
  EXPECT_EQ(card->labels, (std::map<int, std::string>{{1, "brain"}, {2, "lesion"}}));
  EXPECT_EQ(card->timesteps, 250);
  EXPECT_EQ(card->weights, "a.pt");
  EXPECT_EQ(card->licence, "CC0");
}

TEST(ModelCard, MayBeEmpty) {
  const auto card = read("{}");
  ASSERT_TRUE(card.ok()) << card.error().message;
  EXPECT_FALSE(card->grid.has_value());
  EXPECT_FALSE(card->timesteps.has_value());
  EXPECT_TRUE(card->labels.empty());
}

TEST(ModelCard, RefusesWhatIsNoObject) {
  expect_error(read("[]"), "not a JSON object");
  for (const char* text : {"", "{", "{\"recipe\": }", "\x89PNG"}) {
    expect_error(read(text), "not JSON at byte ");
  }
  expect_error(read(std::string_view("{}\0", 3)), "not JSON at byte 3");
  expect_error(read("{\"recipe\": " + std::string(500000, '[')), "nested deeper than 16");
}

// A misspelt key would otherwise be ignored in silence.
TEST(ModelCard, RefusesUnknownKeys) {
  expect_error(read(R"({"timestep": 250})"), "`timestep`: unknown key; known are recipe, grid,");
}

TEST(ModelCard, RefusesKeysThatAreThereTwice) {
  expect_error(read(R"({"timesteps": 250, "timesteps": 1000})"), ": `timesteps` is there twice");
  expect_error(read(R"({"labels": {"1": "brain", "1": "tumour"}})"), ": `1` is there twice");
}

TEST(ModelCard, RefusesValuesOfAnotherKind) {
  expect_error(read(R"({"recipe": 3})"), "`recipe`: expected a text");
  expect_error(read(R"({"grid": 64})"), "`grid`: expected three whole numbers");
  expect_error(read(R"({"grid": [64, 64]})"), "`grid`: expected three whole numbers from 1 to");
  expect_error(read(R"({"grid": [64, 64, 64.5]})"), "`grid`: expected three whole numbers");
  expect_error(read(R"({"grid": [64, 64, 0]})"), "`grid`: expected three whole numbers");
  expect_error(read(R"({"grid": [64, 64, 18446744073709551615]})"), "three whole numbers");
  expect_error(read(R"({"spacing_mm": [1, 1, -1]})"), "`spacing_mm`: expected three numbers from");
  expect_error(read(R"({"spacing_mm": [1, 1, "1"]})"), "`spacing_mm`: expected three numbers");
  expect_error(read(R"({"timesteps": "many"})"), "`timesteps`: expected a whole number");
  expect_error(read(R"({"timesteps": 1})"),
               "`timesteps`: expected a whole number from 2 to 100000");
  expect_error(read(R"({"labels": ["brain"]})"), "`labels`: expected an object");
  expect_error(read(R"({"labels": {"brain": "1"}})"), "names for labels 1 to 255");
  expect_error(read(R"({"labels": {"256": "brain"}})"), "names for labels 1 to 255");
  expect_error(read(R"({"labels": {"1": 1}})"), "`labels.1`: expected a text");
}

TEST(ModelCard, RefusesOtherSchedules) {
  const auto card = read(R"({"schedule": "linear"})");
  expect_error(card, "`schedule`: expected cosine, no other is known, found `linear`");
  ASSERT_FALSE(card.ok());
  EXPECT_EQ(card.error().code, ErrorCode::kUnsupported);
}

// A licence may be the whole text of one.
TEST(ModelCard, TakesTextsOfAnyLength) {
  const std::string longest(500'000, 'a');
  const auto card =
      read(R"({"licence": ")" + longest + R"(", "labels": {"1": ")" + longest + "\"}}");
  ASSERT_TRUE(card.ok()) << card.error().message;
  EXPECT_EQ(card->licence, longest);
  EXPECT_EQ(card->labels.at(1), longest);
}

TEST(ModelCard, RefusesFilesThatAreNone) {
  expect_error(read_model_card("nowhere.json"), "nowhere.json: cannot open");
  expect_error(read(std::string((1 << 20) + 1, ' ')), "larger than the limit");
}

}  // namespace
}  // namespace mezzotint::testing
