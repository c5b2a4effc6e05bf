#include "report/profile_json.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "report/sample_profile.h"

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

std::string refusal(const std::string& text) {
  const auto profile = read_profile(text, "p.json");
  return profile ? "accepted" : profile.error().message;
}

// The sample's file after one change.
std::string refusal_of(const std::function<void(Json&)>& change) {
  Json json = Json::parse(profile_json(sample_profile()));
  change(json);
  return refusal(json.dump());
}

std::string line(const std::string& problem) {
  return "p.json: " + problem + "; make it again with `mezzotint profile`";
}

TEST(ProfileJson, ReadsBackWithoutLoss) {
  const Profile profile = sample_profile();
  const std::string text = profile_json(profile);
  const auto again = read_profile(text, "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(profile_json(*again), text);

  // The text could lose a field on both ways: some of each kind are compared themselves.
  ASSERT_EQ(again->ops.size(), profile.ops.size());
  const OpProfile& op = profile.ops[5];
  EXPECT_EQ(again->ops[5].op, op.op);
  EXPECT_EQ(again->ops[5].seconds.median, op.seconds.median);
  EXPECT_EQ(again->ops[5].seconds.high, op.seconds.high);
  EXPECT_EQ(again->ops[5].bottleneck, op.bottleneck);
  EXPECT_EQ(again->ops[5].busy_seconds, op.busy_seconds);
  EXPECT_EQ(again->ops[5].live_bytes, op.live_bytes);
  EXPECT_FALSE(again->ops[5].counters);
  ASSERT_TRUE(again->ops[0].counters);
  EXPECT_EQ(again->ops[0].counters->instructions, 5.1e8);
  EXPECT_EQ(again->ops[0].counters->cache_references, std::nullopt);
  EXPECT_EQ(again->machine.units[3].absent, "not on this processor");
  EXPECT_EQ(again->machine.units[3].elements, "bfloat16 into float32");
  EXPECT_EQ(again->ops[5].imbalance, op.imbalance);
  EXPECT_EQ(again->ops[5].begin, op.begin);
  EXPECT_EQ(again->ops[5].end, op.end);
  EXPECT_EQ(again->machine.levels[0].caches, 2);
  ASSERT_EQ(again->units.size(), std::size(kAllMathUnits));
  EXPECT_EQ(again->units[0].flops, profile.units[0].flops);
  EXPECT_EQ(again->units[0].seconds, profile.units[0].seconds);
  EXPECT_FALSE(again->matrix_share);
  ASSERT_TRUE(again->narrow_share);
  EXPECT_EQ(again->machine.levels[0].bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(again->grid, profile.grid);
  ASSERT_EQ(again->trace.size(), profile.trace.size());
  EXPECT_EQ(again->trace.back().op, profile.trace.back().op);
  EXPECT_EQ(again->trace.back().thread, profile.trace.back().thread);
  EXPECT_EQ(again->trace.back().end, profile.trace.back().end);
  EXPECT_EQ(again->verdict.advice[0].predicted_ratio, 0.62);
  EXPECT_EQ(again->warnings, profile.warnings);
  EXPECT_EQ(again->groups.size(), profile.groups.size());
}

TEST(ProfileJson, AbsentIsNullAndNotZero) {
  const Json json = Json::parse(profile_json(sample_profile()));
  EXPECT_TRUE(json["plan"].is_null());
  EXPECT_TRUE(json["matrix_share"].is_null());
  EXPECT_EQ(json["narrow_share"]["flops"], 0) << "the unit is there and idle";
  EXPECT_TRUE(json["ops"][5]["counters"].is_null());
  EXPECT_TRUE(json["ops"][0]["counters"]["cache_references"].is_null());
  EXPECT_TRUE(json["machine"]["units"][3]["all_threads"].is_null());
  EXPECT_EQ(json["machine"]["units"][3]["absent"], "not on this processor");
  EXPECT_TRUE(json["machine"]["units"][0]["absent"].is_null());
  EXPECT_TRUE(json["machine"]["levels"][2]["bytes"].is_null());
}

TEST(ProfileJson, RefusesAnotherSchemaWithBothNumbers) {
  EXPECT_EQ(refusal_of([](Json& json) { json["schema"] = 7; }),
            "p.json: is a mezzotint profile of schema 7, this version reads 1; make it again with "
            "`mezzotint profile`");
  EXPECT_EQ(refusal(R"({"schema": 1})"), line("is no mezzotint profile"));
  EXPECT_EQ(refusal("[]"), line("is no mezzotint profile"));
}

TEST(ProfileJson, RefusesWrongTypesAndRanges) {
  EXPECT_EQ(refusal_of([](Json& json) { json["ops"][3]["seconds"]["median"] = -1; }),
            line("`ops[3].seconds.median`: expected a number from 0 to 1e+09"));
  EXPECT_EQ(refusal_of([](Json& json) { json["ops"][3]["flops"] = nullptr; }),
            line("`ops[3].flops`: expected a number from 0 to 1e+24"));
  EXPECT_EQ(refusal_of([](Json& json) { json["arena_bytes"] = 1.5; }),
            line("`arena_bytes`: expected a whole number from 0 to 1152921504606846976"));
  EXPECT_EQ(refusal_of([](Json& json) { json["model"] = 3; }),
            line("`model`: expected a text of at most 4096 bytes"));
  EXPECT_EQ(refusal_of([](Json& json) { json["model"] = std::string(5000, 'a'); }),
            line("`model`: expected a text of at most 4096 bytes"));
  EXPECT_EQ(refusal_of([](Json& json) { json["verdict"] = Json::array(); }),
            line("`verdict`: expected an object"));
  EXPECT_EQ(
      refusal_of([](Json& json) { json["ops"][0]["bottleneck"] = "luck"; }),
      line("`ops[0].bottleneck`: expected one of the names that this schema has, found `luck`"));
  EXPECT_EQ(refusal_of([](Json& json) {
              json["grid"] = {1, 2};
            }),
            line("`grid`: expected three whole numbers from 1 to 1000000000"));
  EXPECT_EQ(refusal_of([](Json& json) { json["machine"]["units"][3]["all_threads"] = 5; }),
            line("`machine.units[3].all_threads`: expected null beside a reason why it "
                 "is absent"));
  EXPECT_EQ(refusal_of([](Json& json) { json["warnings"] = std::vector<std::string>(1001, "w"); }),
            line("`warnings`: expected a list of at most 1000"));
}

TEST(ProfileJson, RefusesMissingAndUnknownFields) {
  EXPECT_EQ(refusal_of([](Json& json) { json["ops"][7].erase("tasks"); }),
            line("`ops[7].tasks`: is missing"));
  EXPECT_EQ(
      refusal_of([](Json& json) { json["machine"]["colour"] = 1; }),
      line("`machine.colour`: unknown key; known are processor, isa, threads, version, units, "
           "levels, start_seconds, task_seconds, took_seconds, spread"));
}

TEST(ProfileJson, RefusesWhatContradictsItself) {
  EXPECT_EQ(refusal_of([](Json& json) { json["trace"]["op"][2] = 99999; }),
            line("`trace`: entry 2 names an op or a thread that is not there"));
  EXPECT_EQ(refusal_of([](Json& json) { json["trace"]["op"][2] = 0.5; }),
            line("`trace.op[2]`: expected a whole number from 0 to 100000"));
  EXPECT_EQ(refusal_of([](Json& json) {
              json["trace"]["end"][2] = 0;
              json["trace"]["begin"][2] = 1;
            }),
            line("`trace`: entry 2 ends before it begins"));
  EXPECT_EQ(refusal_of([](Json& json) { json["trace"]["thread"].erase(0); }),
            line("`trace.op`: expected as many as in `thread`, `begin` and `end`"));
  EXPECT_EQ(refusal_of([](Json& json) { json["ops"][3]["begin"] = 1e6; }),
            line("`ops[3]`: ends before it begins"));
  EXPECT_EQ(refusal_of([](Json& json) { json["seconds"]["low"] = 1e6; }),
            line("`seconds`, `plain_seconds`: the median is not between the "
                 "quartiles"));
  EXPECT_EQ(refusal_of([](Json& json) { json["machine"]["threads"] = 0; }),
            line("`machine.threads`: expected at least 1"));
  EXPECT_EQ(refusal_of([](Json& json) { json["grid"][1] = 0; }),
            line("`grid`: expected three whole numbers from 1 to 1000000000"));
}

TEST(ProfileJson, RefusesTextThatIsNoJson) {
  const std::string kind = R"({"kind": "mezzotint profile", "a": )";
  EXPECT_EQ(refusal(kind + "NaN}"), line("not JSON at byte 36"));
  EXPECT_EQ(refusal(kind + "1e999}"), line("not JSON at byte 40"));
  EXPECT_EQ(refusal(kind + std::string("0}\0", 3)), line("not JSON at byte 38"));
  EXPECT_EQ(refusal(kind + R"(1, "a": 2})"), line("`a` is there twice"));
  EXPECT_EQ(refusal(kind + std::string(1 << 20, '[')), line("nested deeper than 16"));
  std::string many = kind + "[0";
  for (int i = 0; i < (1 << 23); ++i) {
    many += ",0";
  }
  EXPECT_EQ(refusal(many + "]}"), line("more than 8388608 values"));
  EXPECT_EQ(refusal(kind + std::string((std::size_t{64} << 20) + 1 - kind.size(), ' ')),
            line("67108865 bytes, expected at most 67108864"));
}

TEST(ProfileJson, RefusesEveryTruncation) {
  Profile small = sample_profile();
  small.ops.resize(1);
  small.groups.resize(1);
  small.trace.resize(1);
  const std::string text = profile_json(small);
  ASSERT_TRUE(read_profile(text, "p.json"));
  // Without its last byte, a newline, it is whole.
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    ASSERT_FALSE(read_profile(std::string_view(text).substr(0, size), "p.json")) << size;
  }
}

TEST(ProfileJson, NamesMayHoldAnyBytes) {
  Profile profile = sample_profile();
  profile.model = "a\"\\\n\x01</script>";
  const auto again = read_profile(profile_json(profile), "p.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->model, profile.model);
  profile.model = std::string("\xff");
  EXPECT_EQ(read_profile(profile_json(profile), "p.json")->model, "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace mezzotint
