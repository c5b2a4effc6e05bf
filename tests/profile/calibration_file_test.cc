#include "profile/calibration_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "base/file_test_base.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

Calibration example() {
  Calibration calibration;
  calibration.processor = "A Processor \"X\"";
  calibration.isa = "avx512";
  calibration.threads = 2;
  calibration.version = kVersion;
  calibration.units = {{MathUnit::kFma, 1.25e11, 2.5e11, "", "float32"},
                       {MathUnit::kAmxBf16, 0, 0, "no AMX on this processor", "bfloat16"}};
  calibration.levels = {{"L2", 2097152, 9e10, 1.7e11, 2}, {"DRAM", 0, 1.5e10, 2.1e10}};
  calibration.start_seconds = 1.25e-6;
  calibration.task_seconds = 0;
  calibration.took_seconds = 7.5;
  calibration.spread = 0.125;
  return calibration;
}

void expect_equal(const Calibration& a, const Calibration& b) {
  EXPECT_EQ(a.processor, b.processor);
  EXPECT_EQ(a.isa, b.isa);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.version, b.version);
  ASSERT_EQ(a.units.size(), b.units.size());
  for (std::size_t i = 0; i < a.units.size(); ++i) {
    EXPECT_EQ(a.units[i].unit, b.units[i].unit);
    EXPECT_EQ(a.units[i].one_thread, b.units[i].one_thread);
    EXPECT_EQ(a.units[i].all_threads, b.units[i].all_threads);
    EXPECT_EQ(a.units[i].absent, b.units[i].absent);
    EXPECT_EQ(a.units[i].elements, b.units[i].elements);
  }
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t i = 0; i < a.levels.size(); ++i) {
    EXPECT_EQ(a.levels[i].name, b.levels[i].name);
    EXPECT_EQ(a.levels[i].bytes, b.levels[i].bytes);
    EXPECT_EQ(a.levels[i].caches, b.levels[i].caches);
    EXPECT_EQ(a.levels[i].one_thread, b.levels[i].one_thread);
    EXPECT_EQ(a.levels[i].all_threads, b.levels[i].all_threads);
  }
  EXPECT_EQ(a.start_seconds, b.start_seconds);
  EXPECT_EQ(a.task_seconds, b.task_seconds);
  EXPECT_EQ(a.took_seconds, b.took_seconds);
  EXPECT_EQ(a.spread, b.spread);
}

TEST(CalibrationJson, RoundTrips) {
  const auto read = read_calibration(calibration_json(example()), "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_equal(*read, example());
}

TEST(CalibrationJson, EveryTruncationIsRefused) {
  const std::string text = calibration_json(example());
  const std::size_t content = text.rfind('}') + 1;
  for (std::size_t length = 0; length < content; ++length) {
    EXPECT_FALSE(read_calibration(text.substr(0, length), "x").ok()) << length;
  }
}

TEST(CalibrationJson, EveryMemberIsNeeded) {
  const auto whole = nlohmann::json::parse(calibration_json(example()));
  for (const auto& [key, value] : whole.items()) {
    auto part = whole;
    part.erase(key);
    EXPECT_FALSE(read_calibration(part.dump(), "x").ok()) << key;
    const nlohmann::json wrongs[] = {nullptr, true, -1};
    for (const nlohmann::json& wrong : wrongs) {
      part[key] = wrong;
      EXPECT_FALSE(read_calibration(part.dump(), "x").ok()) << key << " " << wrong;
    }
  }
  for (const char* list : {"units", "levels"}) {
    for (const auto& [key, value] : whole[list][0].items()) {
      auto part = whole;
      part[list][0].erase(key);
      const auto read = read_calibration(part.dump(), "x");
      ASSERT_FALSE(read.ok()) << list << " " << key;
      EXPECT_NE(read.error().message.find(std::string(list) + "[0]."), std::string::npos)
          << read.error().message;
    }
  }
}

TEST(CalibrationJson, FiguresMustMakeSense) {
  const auto whole = nlohmann::json::parse(calibration_json(example()));
  const auto refused = [](const nlohmann::json& json, std::string_view part) {
    expect_error(read_calibration(json.dump(), "file.json"), ErrorCode::kInvalidInput, part);
  };
  auto json = whole;
  json["schema"] = 2;
  expect_error(read_calibration(json.dump(), "file.json"), ErrorCode::kUnsupported,
               "file.json: is a mezzotint calibration of schema 2, this version reads 1");
  json = whole;
  json["kind"] = "mezzotint plan";
  refused(json, "file.json: is no mezzotint calibration");
  json = whole;
  json["threads"] = 0;
  refused(json, "a whole number from 1 to");
  json = whole;
  json["threads"] = 1e30;
  refused(json, "threads");
  json = whole;
  json["units"][0]["flops_one_thread"] = 0;
  refused(json, "`units[0].flops_one_thread`: expected a number from 1e+06 to 1e+16");
  json["units"][0]["flops_one_thread"] = 5e-324;
  refused(json, "`units[0].flops_one_thread`");
  json["units"][0]["flops_one_thread"] = 1e300;
  refused(json, "`units[0].flops_one_thread`");
  json = whole;
  json["loop_start_seconds"] = 5e-324;
  refused(json, "`loop_start_seconds`: expected a number from 1e-10 to 1");
  json = whole;
  json["spread"] = 0.26;
  refused(json, "`spread`: expected a number from 0 to 0.25");
  json = whole;
  json["units"].clear();
  refused(json, "has no figure of fma");
  json = whole;
  json["levels"].clear();
  refused(json, "no level of memory");
  std::string twice = calibration_json(example());
  twice.insert(1, "\"threads\": 4,");
  expect_error(read_calibration(twice, "x"), ErrorCode::kInvalidInput, "`threads` is there twice");
  json = whole;
  json["colour"] = 1;
  refused(json, "`colour`: unknown key");
  json = whole;
  json["units"][0]["unit"] = "abacus";
  refused(json, "a known unit");
  json = whole;
  json["units"][1]["absent"] = "";
  refused(json, "absent");
  json = whole;
  json["levels"][0]["capacity_bytes"] = std::numeric_limits<std::uint64_t>::max();
  refused(json, "capacity_bytes");
  json = whole;
  json["levels"] = nlohmann::json::array();
  for (int i = 0; i < 17; ++i) {
    json["levels"].push_back(whole["levels"][0]);
  }
  refused(json, "a list of at most 16");
  expect_error(read_calibration(std::string(1000, '['), "x"), ErrorCode::kInvalidInput, "x: ");
  std::string infinite = calibration_json(example());
  infinite.replace(infinite.find("0.125"), 5, "1e999");
  EXPECT_FALSE(read_calibration(infinite, "x").ok());
}

TEST(CalibrationFileName, FollowsFromWhatIsMeasured) {
  const std::string name = calibration_file_name(example());
  EXPECT_TRUE(name.starts_with("calibration-") && name.ends_with(".json")) << name;
  EXPECT_EQ(name.size(), std::string("calibration-0123456789ab.json").size());
  Calibration other = example();
  other.spread = 0.5;
  other.units.clear();
  EXPECT_EQ(calibration_file_name(other), name) << "not from the figures";
  const auto differs = [&](auto change) {
    Calibration changed = example();
    change(changed);
    return calibration_file_name(changed) != name;
  };
  EXPECT_TRUE(differs([](Calibration& c) { c.processor = "B"; }));
  EXPECT_TRUE(differs([](Calibration& c) { c.isa = "avx2"; }));
  EXPECT_TRUE(differs([](Calibration& c) { c.threads = 3; }));
  EXPECT_TRUE(differs([](Calibration& c) { c.version = "9"; }));
}

class SteadyUnit final : public UnitProbe {
 public:
  MathUnit unit() const override { return MathUnit::kFma; }
  std::string_view elements() const override { return "float32"; }
  std::optional<std::string> refusal(const Machine&) const override { return std::nullopt; }
  double run(const Machine&, const ThreadTeam& team, double) const override {
    return 1e9 * team.size();
  }
};

// As fast in every run, or ten times as fast in every second.
class Stream final : public StreamProbe {
 public:
  explicit Stream(bool steady) : steady_(steady) {}
  double run(const Machine&, const ThreadTeam&, std::span<float>, double seconds) const override {
    runs_ += seconds < kRunSeconds ? 0 : 1;
    return steady_ || runs_ / 6 % 2 == 0 ? 1e9 : 1e10;
  }
  static constexpr double kRunSeconds = 1e-6;

 private:
  bool steady_;
  mutable int runs_ = 0;
};

// A device that takes no time to measure.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(bool steady = true) : stream_(steady) {}
  std::string_view name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  Probes probes() const override { return {units_, &stream_}; }
  std::span<const Implementation* const> implementations(OpKind) const override { return {}; }
  const CostTable& costs() const override { return costs_; }

 private:
  SteadyUnit unit_;
  const UnitProbe* units_[1] = {&unit_};
  Stream stream_;
  CostTable costs_{std::span<const CostRow>()};
};

class CalibrationFileTest : public FileTest {
 protected:
  [[nodiscard]] CachedCalibration get_calibration(int threads = 1, bool fresh = false) const {
    Machine machine;
    machine.processor = "A Processor";
    CalibrationRequest request;
    request.cache = in("cache");
    request.fresh = fresh;
    request.effort = {Stream::kRunSeconds, 2, 50, 1 << 20};
    const auto result = cached_calibration(FakeBackend(), machine, ThreadTeam(threads), request);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : CachedCalibration();
  }
  void expect_measured_anew(const std::filesystem::path& path, std::string_view why) const {
    const auto again = get_calibration();
    EXPECT_TRUE(again.measured);
    ASSERT_EQ(again.notes.size(), 1U);
    EXPECT_TRUE(again.notes[0].starts_with("The calibration is measured anew: " + path.string()))
        << again.notes[0];
    EXPECT_NE(again.notes[0].find(why), std::string::npos) << again.notes[0];
    EXPECT_EQ(again.notes[0].find('\n'), std::string::npos);
    const auto third = get_calibration();
    EXPECT_FALSE(third.measured) << "the file was replaced";
    EXPECT_TRUE(third.notes.empty());
  }
};

TEST_F(CalibrationFileTest, IsMeasuredOnceAndThenRead) {
  const auto first = get_calibration();
  EXPECT_TRUE(first.measured);
  EXPECT_TRUE(first.notes.empty());
  EXPECT_EQ(first.path, in("cache") / calibration_file_name(first.calibration));
  EXPECT_EQ(get(first.path), calibration_json(first.calibration));
  const auto second = get_calibration();
  EXPECT_FALSE(second.measured);
  expect_equal(second.calibration, first.calibration);
  const auto forced = get_calibration(1, /*fresh=*/true);
  EXPECT_TRUE(forced.measured);
  EXPECT_EQ(get(forced.path), calibration_json(forced.calibration));
}

TEST_F(CalibrationFileTest, OtherThreadsHaveAFileOfTheirOwn) {
  const auto one = get_calibration(1);
  const auto two = get_calibration(2);
  EXPECT_TRUE(two.measured);
  EXPECT_NE(one.path, two.path);
  EXPECT_FALSE(get_calibration(1).measured);
  EXPECT_FALSE(get_calibration(2).measured);
}

TEST_F(CalibrationFileTest, ADamagedFileIsReplacedAndSaid) {
  const auto path = get_calibration().path;
  const std::string good = get(path);
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("\0\xff", 2), std::string("[1]")}) {
    put(path, bad);
    expect_measured_anew(path, "is no mezzotint calibration");
  }
  put(path, good.substr(0, good.size() / 2));
  expect_measured_anew(path, "not JSON at byte ");
  put(path, std::string(70'000, ' '));
  expect_measured_anew(path, "70000 bytes, larger than the limit of 65536");
}

TEST_F(CalibrationFileTest, AFileOfSomethingElseIsReplacedAndSaid) {
  const auto first = get_calibration();
  Calibration other = first.calibration;
  other.version = "9.9.9";
  put(first.path, calibration_json(other));
  expect_measured_anew(first.path, "version `9.9.9`");
  other = first.calibration;
  other.threads = 7;
  put(first.path, calibration_json(other));
  expect_measured_anew(first.path, "7 threads");
  other = first.calibration;
  other.processor = "Another";
  put(first.path, calibration_json(other));
  expect_measured_anew(first.path, "is of `Another`");
}

TEST_F(CalibrationFileTest, ACacheThatCannotBeUsedCostsOnlyTime) {
  put(in("cache"), "a file");
  const auto result = get_calibration();
  EXPECT_TRUE(result.measured);
  EXPECT_TRUE(result.path.empty());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_TRUE(result.notes[0].starts_with("The calibration is not kept: ")) << result.notes[0];
  EXPECT_EQ(get(in("cache")), "a file");
}

TEST_F(CalibrationFileTest, OneThatSaysNothingOfTheMachineIsNotKept) {
  const auto measured = [&](bool steady, const CalibrationEffort& effort) {
    Machine machine;
    machine.processor = "A Processor";
    const auto result = cached_calibration(FakeBackend(steady), machine, ThreadTeam(1),
                                           {in("cache"), false, effort});
    EXPECT_TRUE(result.ok() && result->measured && result->path.empty());
    EXPECT_EQ(result.ok() ? result->notes.size() : 0, 1U);
    EXPECT_TRUE(std::filesystem::is_empty(in("cache")));
    return result.ok() && !result->notes.empty() ? result->notes[0] : "";
  };
  const CalibrationEffort two{Stream::kRunSeconds, 2, 50, 1 << 20};
  EXPECT_NE(measured(false, two).find("this machine is busy, rates spread by"), std::string::npos);
  EXPECT_NE(measured(true, {Stream::kRunSeconds, 2, 0, 1 << 20}).find("more than one round"),
            std::string::npos);
  CalibrationEffort small = two;
  small.most_bytes = 1 << 12;
  EXPECT_NE(measured(true, small).find("of memory are left below the limit"), std::string::npos);
}

TEST_F(CalibrationFileTest, AFolderInPlaceOfTheFileIsLeftAlone) {
  const auto path = get_calibration().path;
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const auto result = get_calibration();
  EXPECT_TRUE(result.measured);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0],
            "The calibration is not kept: " + path.string() +
                ": is a folder, expected a file; remove it, or pass another folder with --cache.");
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

// Opening a pipe without a writer would wait for one.
TEST_F(CalibrationFileTest, APipeInPlaceOfTheFileIsLeftAlone) {
  const auto path = get_calibration().path;
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto result = get_calibration();
  EXPECT_TRUE(result.measured);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("is not a regular file, expected a file; remove it"),
            std::string::npos)
      << result.notes[0];
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST_F(CalibrationFileTest, ALinkIsReplacedAndNotWhatItPointsTo) {
  const auto path = get_calibration().path;
  std::filesystem::remove(path);
  put(in("mine"), "mine");
  std::filesystem::create_symlink(in("mine"), path);
  const auto result = get_calibration();
  EXPECT_TRUE(result.measured);
  EXPECT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(get(in("mine")), "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_EQ(get(path), calibration_json(result.calibration));
}

// The reason is known before the seconds of measuring.
TEST_F(CalibrationFileTest, TellsNotesBeforeItMeasures) {
  put(get_calibration().path, "damaged");
  std::vector<std::string> events;
  CalibrationRequest request{in("cache"), false, {Stream::kRunSeconds, 2, 50, 1 << 20}};
  request.on_note = [&](const std::string& note) { events.push_back(note); };
  request.on_measure = [&] { events.emplace_back("measure"); };
  Machine machine;
  machine.processor = "A Processor";
  const auto result = cached_calibration(FakeBackend(), machine, ThreadTeam(1), request);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0], result->notes.at(0));
  EXPECT_EQ(events[1], "measure");
}

}  // namespace
}  // namespace mezzotint
