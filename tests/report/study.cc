#include "report/study_html.h"
#include "report/study_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/sample_study.h"

namespace mezzotint {
namespace {

using nlohmann::json;

StudyRow row(std::string name, double seconds, double tasks, double task_seconds) {
  StudyRow result;
  result.name = std::move(name);
  result.seconds = {seconds, seconds, seconds};
  result.loops = 10;
  result.tasks = tasks;
  result.task_seconds = task_seconds;
  return result;
}

TEST(StudyFindings, TellShatteredWorkFromWholeOne) {
  const auto whole =
      study_findings({row("channels-first", 2, 100, 1e-3), row("channels-last", 1, 150, 8e-4)});
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_NE(whole[0].find("run 2.00 times as fast"), std::string::npos) << whole[0];
  EXPECT_NE(whole[1].find("does not shatter"), std::string::npos) << whole[1];
  const auto shattered =
      study_findings({row("channels-first", 2, 100, 1e-3), row("channels-last", 1, 400, 2e-4)});
  EXPECT_NE(shattered[1].find("the layout shatters the work"), std::string::npos) << shattered[1];
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
