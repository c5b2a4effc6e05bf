#include "report/study_html.h"
#include "report/study_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/sample_study.h"

namespace mezzotint {
namespace {

using nlohmann::json;

StudyRow row(std::string name, double seconds, double kernels, double kernel_seconds) {
  StudyRow result;
  result.name = std::move(name);
  result.seconds = {seconds, seconds, seconds};
  result.kernels = kernels;
  result.kernel_seconds = kernel_seconds;
  return result;
}

std::string fragmentation(const StudyRow& first, const StudyRow& last) {
  return study_findings({first, last}).at(1);
}

TEST(StudyFindings, NameTheLayoutThatHasMoreAndShorterKernels) {
  const StudyRow first = row("channels-first", 2, 100, 1e-3);
  const std::string last = fragmentation(first, row("channels-last", 1, 150, 8e-4));
  EXPECT_NE(last.find(": channels-last has more and shorter ones."), std::string::npos) << last;
  const std::string none = fragmentation(first, row("channels-last", 1, 150, 1.2e-3));
  EXPECT_NE(none.find(": neither has more and shorter ones."), std::string::npos) << none;
  const std::string other = fragmentation(first, row("channels-last", 1, 80, 1.2e-3));
  EXPECT_NE(other.find(": channels-first has more and shorter ones."), std::string::npos) << other;
  EXPECT_NE(other.find("Both share one convolution kernel"), std::string::npos) << other;
}

TEST(StudyFindings, CountConversions) {
  StudyRow first = row("channels-first", 2, 1, 1);
  first.conversions = 86;
  first.conversion_share = 0.25;
  const std::string text = study_findings({first, row("channels-last", 1, 1, 1)}).at(0);
  EXPECT_NE(text.find("channels-first has 86 that take 25.0 % of the time, channels-last none; "
                      "channels-last runs 2.00 times as fast"),
            std::string::npos)
      << text;
}

TEST(StudyFindings, NameTheUnitOfNarrowOperands) {
  StudyRow both = row("both", 3, 1, 1);
  both.relative_l2 = 2e-3;
  both.profile.units = {{MathUnit::kFma, 1, 1}, {MathUnit::kAvx512Bf16, 3, 1}};
  const auto finding = [&] { return study_findings({row("channels-last", 1, 1, 1), both}).at(0); };
  EXPECT_EQ(finding(),
            "Narrow operands: 75 % of the operations run on avx512-bf16, a vector unit; that takes "
            "3.00 times the time of float32, at a relative L2 of 2.0e-03.");
  both.profile.units[1].unit = MathUnit::kAmxBf16;
  EXPECT_NE(finding().find("run on amx-bf16, a matrix unit;"), std::string::npos);
}

TEST(StudyFindings, SayNothingOfWhatWasNotRun) {
  StudyRow absent = row("channels-first", 1, 1, 1);
  absent.absent = "no such unit";
  EXPECT_TRUE(study_findings({absent, row("channels-last", 1, 1, 1)}).empty());
}

TEST(StudyJson, SaysOfAnAbsentVariantOnlyWhyItIs) {
  const json study = json::parse(study_json(sample_study()));
  EXPECT_EQ(study.at("schema"), 1);
  EXPECT_EQ(study.at("grid"), json({64, 48, 32}));
  ASSERT_EQ(study.at("variants").size(), 4U);
  const json& absent = study.at("variants").at(2);
  EXPECT_EQ(absent.at("name"), "narrow");
  EXPECT_EQ(absent.at("absent"), "no bf16 unit on this machine");
  EXPECT_FALSE(absent.contains("seconds"));
  const json& first = study.at("variants").at(0);
  EXPECT_EQ(first.at("seconds").at("median"), 2.0);
  EXPECT_EQ(first.at("conversion_share"), 0.25);
  EXPECT_EQ(first.at("convolution_share"), 0.5);
  EXPECT_EQ(first.at("warnings"), json({"other work slows this machine down"}));
  EXPECT_TRUE(study.at("variants").at(3).at("ssim").is_null());
  EXPECT_TRUE(first.at("matrix_share").is_null());
  EXPECT_EQ(first.at("narrow_share"), json({{"flops", 0.9}, {"time", 0.8}}));
}

TEST(StudyJson, HasNoNumberForAnErrorThatIsNotFinite) {
  Study study = sample_study();
  study.rows[0].relative_l2 = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(json::parse(study_json(study)).at("variants").at(0).at("relative_l2").is_null());
}

TEST(StudyJson, ReplacesWhatIsNoText) {
  Study study = sample_study();
  study.model = "a\xff\n</script>";
  const json read = json::parse(study_json(study));
  EXPECT_EQ(read.at("model"), "a\xEF\xBF\xBD\n</script>");
}

TEST(StudyHtml, HoldsTheJsonAndNoMarkupOfItsTexts) {
  Study study = sample_study();
  study.findings.push_back("</script><script>{{vega}}");
  const std::string page = study_html(study);
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(json::parse(page.substr(at, page.find("</script>", at) - at)),
            json::parse(study_json(study)));
  EXPECT_EQ(page.find("</script><script>{{vega}}"), std::string::npos);
}

}  // namespace
}  // namespace mezzotint
