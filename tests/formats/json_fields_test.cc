#include "formats/json_fields.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

namespace mezzotint {
namespace {

// What is said of `text`, whose fields `read` asks for.
std::string problem(std::string_view text, const ReadFields& read) {
  const Status status = read_json(text, "f", 1 << 20, read);
  return status ? "" : status.error().message;
}

std::string problem_of_form(std::string_view text, ErrorCode code = ErrorCode::kInvalidInput) {
  const JsonForm form{"mezzotint thing", 3, "make it again"};
  const Status status =
      read_json(text, "f", 1 << 20, form, [](JsonFields& fields) { fields.number("a", 0, 1); });
  EXPECT_EQ(status ? code : status.error().code, code);
  return status ? "" : status.error().message;
}

TEST(JsonFields, ReadsEachKindOfField) {
  std::string order;
  const auto said = problem(
      R"({"number": 2.5, "whole": -3, "most": 9223372036854775807, "text": "\u00fc", "null": null,
          "spacing": [1, 2.5, 3], "grid": [1, 2, 3], "numbers": [0.5, 1], "wholes": [],
          "texts": ["a", ""], "labels": {"1": "one"}, "object": {"x": 1},
          "list": [{"x": 1}, {"x": 2}], "named": {"b": {"x": 4}, "a": {"x": 3}}, "name": "three"})",
      [&](JsonFields& fields) {
        EXPECT_EQ(fields.number("number", 2.5, 2.5), 2.5);
        EXPECT_EQ(fields.whole("whole", -3, 0), -3);
        EXPECT_EQ(fields.whole("most", 0, INT64_MAX), INT64_MAX);
        EXPECT_EQ(fields.text("text", 2), "\u00fc");
        EXPECT_TRUE(fields.has("null") && fields.is_null("null"));
        EXPECT_FALSE(fields.has("nothing"));
        EXPECT_EQ(fields.three_numbers("spacing", 1, 3), (std::array{1.0, 2.5, 3.0}));
        EXPECT_EQ(fields.three_wholes("grid", 1, 3), (std::array<std::int64_t, 3>{1, 2, 3}));
        EXPECT_EQ(fields.numbers("numbers", 2, 0, 1), (std::vector{0.5, 1.0}));
        EXPECT_TRUE(fields.wholes("wholes", 0, 0, 0).empty());
        EXPECT_EQ(fields.texts("texts", 2, 1), (std::vector<std::string>{"a", ""}));
        EXPECT_EQ(fields.texts_by_name("labels", 1, 3).at("1"), "one");
        const auto note = [&](JsonFields& part) { order += std::to_string(part.whole("x", 1, 4)); };
        fields.object("object", note);
        fields.objects("list", 2, note);
        fields.objects_by_name("named", 2, [&](const std::string& name, JsonFields& part) {
          order += name;
          note(part);
        });
        const auto three = [](std::string_view name) {
          return name == "three" ? std::optional(3) : std::nullopt;
        };
        EXPECT_EQ(fields.named("name", three, "three"), 3);
        EXPECT_TRUE(fields.good());
      });
  EXPECT_EQ(said, "");
  EXPECT_EQ(order, "112a3b4");
}

TEST(JsonFields, SaysWhereAndWhatWasExpected) {
  const auto is_refused = [](std::string_view value, const ReadFields& read,
                             std::string_view expected) {
    const auto text = "{\"a\": " + std::string(value) + "}";
    EXPECT_EQ(problem(text, read), "f: `a" + std::string(expected)) << value;
  };
  const auto number = [](JsonFields& fields) { EXPECT_EQ(fields.number("a", 1, 2), 0); };
  for (const char* value : {"0.9", "2.1", "\"1\"", "null", "[1]", "true"}) {
    is_refused(value, number, "`: expected a number from 1 to 2");
  }
  const auto positive = [](JsonFields& fields) {
    fields.number("a", 0, std::numeric_limits<double>::infinity());
  };
  is_refused("-1", positive, "`: expected a number of 0 or more");
  const auto whole = [](JsonFields& fields) { EXPECT_EQ(fields.whole("a", -1, INT64_MAX), 0); };
  for (const char* value : {"-2", "1.0", "1e3", "9223372036854775808", "18446744073709551615"}) {
    is_refused(value, whole, "`: expected a whole number from -1 to 9223372036854775807");
  }
  const auto text = [](JsonFields& fields) { EXPECT_EQ(fields.text("a", 2), ""); };
  is_refused("\"abc\"", text, "`: expected a text of at most 2 bytes");
  is_refused("1", text, "`: expected a text of at most 2 bytes");
  const auto grid = [](JsonFields& fields) { fields.three_wholes("a", 1, 9); };
  for (const char* value : {"[1, 2]", "[1, 2, 3, 4]", "[1, 2, 10]", "[1, 2, 3.5]", "3"}) {
    is_refused(value, grid, "`: expected three whole numbers from 1 to 9");
  }
  const auto spacing = [](JsonFields& fields) { fields.three_numbers("a", 0.5, 9); };
  is_refused("[1, 2, \"3\"]", spacing, "`: expected three numbers from 0.5 to 9");
  const auto numbers = [](JsonFields& fields) { fields.numbers("a", 2, 0, 1); };
  is_refused("[1, 1, 1]", numbers, "`: expected a list of at most 2");
  is_refused("{}", numbers, "`: expected a list of at most 2");
  is_refused("[1, 2]", numbers, "[1]`: expected a number from 0 to 1");
  is_refused(
      "[0, 0.5]", [](JsonFields& fields) { fields.wholes("a", 2, 0, 1); },
      "[1]`: expected a whole number from 0 to 1");
  is_refused(
      "[\"x\", \"xx\"]", [](JsonFields& fields) { fields.texts("a", 2, 1); },
      "[1]`: expected a text of at most 1 bytes");
  const auto labels = [](JsonFields& fields) { fields.texts_by_name("a", 1, 9); };
  is_refused("[]", labels, "`: expected an object of at most 1");
  is_refused("{\"b\": 1}", labels, ".b`: expected a text of at most 9 bytes");
  is_refused(
      "\"four\"",
      [](JsonFields& fields) {
        const auto none = [](std::string_view) { return std::optional<int>(); };
        EXPECT_EQ(fields.named("a", none, "three"), 0);
      },
      "`: expected three, found `four`");
}

TEST(JsonFields, GivesTheWholePath) {
  const auto x = [](JsonFields& fields) { fields.number("x", 0, 1); };
  const auto read = [&](JsonFields& fields) {
    fields.objects("a", 9, [&](JsonFields& element) {
      element.objects_by_name("b", 9,
                              [&](const std::string&, JsonFields& part) { part.object("c", x); });
    });
  };
  const auto said = [&](std::string_view c) {
    return problem(R"({"a": [{"b": {}}, {"b": {"q\n": {"c": )" + std::string(c) + "}}}]}", read);
  };
  EXPECT_EQ(said(R"({"x": 1})"), "");
  EXPECT_EQ(said(R"({"x": 2})"), R"(f: `a[1].b.q\x0a.c.x`: expected a number from 0 to 1)");
  EXPECT_EQ(said("{}"), R"(f: `a[1].b.q\x0a.c.x`: is missing)");
  EXPECT_EQ(said("[]"), R"(f: `a[1].b.q\x0a.c`: expected an object)");
  EXPECT_EQ(said(R"({"x": 1, "y": 1})"), R"(f: `a[1].b.q\x0a.c.y`: unknown key; known are x)");
}

TEST(JsonFields, KeepsTheFirstProblemAndStops) {
  int visited = 0;
  const auto said = problem(R"({"a": 1, "b": [{}, {}], "c": {}})", [&](JsonFields& fields) {
    fields.objects("b", 2, [&](JsonFields& element) {
      ++visited;
      element.refuse("x", "luck");
    });
    EXPECT_FALSE(fields.good() || fields.has("a"));
    EXPECT_TRUE(fields.is_null("a"));
    EXPECT_EQ(fields.number("a", 0, 1), 0);
    fields.object("c", [&](JsonFields&) { ++visited; });
    fields.fail("late");
  });
  EXPECT_EQ(said, "f: `b[0].x`: expected luck");
  EXPECT_EQ(visited, 1);
}

TEST(JsonFields, KnowsTheKeysThatWereAskedFor) {
  const auto read = [](JsonFields& fields) {
    if (fields.has("a")) {
      fields.number("a", 0, 1);
    }
    (void)fields.is_null("b");
  };
  EXPECT_EQ(problem(R"({"b": null})", read), "");
  EXPECT_EQ(problem(R"({"a": 1})", read), "f: `b`: is missing");
  EXPECT_EQ(problem(R"({"b": 1, "c": 1})", read), "f: `c`: unknown key; known are a, b");
  EXPECT_EQ(problem("[]", read), "f: not a JSON object");
  EXPECT_EQ(problem(R"({"a": 1, "a": 1})", read), "f: `a` is there twice");
}

TEST(JsonFields, AFileSaysWhatItIs) {
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing", "schema": 3, "a": 1})"), "");
  for (const char* text :
       {"", "[]", "{", "{}", R"({"kind": 1})", R"({"kind": "mezzotint plan"})"}) {
    EXPECT_EQ(problem_of_form(text), "f: is no mezzotint thing; make it again") << text;
  }
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing", "schema": 2, "other": 1})",
                            ErrorCode::kUnsupported),
            "f: is a mezzotint thing of schema 2, this version reads 3; make it again");
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing"})"),
            "f: `schema`: is missing; make it again");
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing", "schema": 3.0})"),
            "f: `schema`: expected a whole number from 0 to 9223372036854775807; make it again");
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing", "schema": 3, "a": 2})"),
            "f: `a`: expected a number from 0 to 1; make it again");
  EXPECT_EQ(problem_of_form(R"({"kind": "mezzotint thing",)"),
            "f: not JSON at byte 28; make it again");
}

}  // namespace
}  // namespace mezzotint
