#include "report/profile_html.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "report/profile_json.h"
#include "report/sample_profile.h"

namespace mezzotint {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The profile that the page shows, as its script reads it.
std::string data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(ProfileHtml, HoldsTheProfileWithoutItsTrace) {
  Profile profile = sample_profile();
  const auto shown = read_profile(data_of(profile_html(profile)), "page");
  ASSERT_TRUE(shown) << shown.error().message;
  profile.trace.clear();
  EXPECT_EQ(profile_json(*shown), profile_json(profile));
}

TEST(ProfileHtml, IsOneFileOfTwoMegabytesAtMost) {
  const std::string page = profile_html(sample_profile());
  EXPECT_LE(page.size(), 2'000'000u);
  EXPECT_GE(page.size(), 400'000u) << "Vega is missing";
  EXPECT_EQ(count_of(page, "<link"), 0u);
  EXPECT_EQ(count_of(page, "<script src"), 0u);
  EXPECT_EQ(count_of(page, "@import"), 0u);
  EXPECT_EQ(count_of(page, "sourceMappingURL"), 0u);
  EXPECT_EQ(count_of(page, "default-src 'none'"), 1u);
  EXPECT_EQ(count_of(page, "University of Washington"), 1u) << "Vega's licence is to stay with it";
}

// As many tags as the same page has without harm in its texts.
TEST(ProfileHtml, TextsFromFilesAreNoMarkup) {
  const Profile hostile = hostile_profile();
  const std::string page = profile_html(hostile);
  const std::string plain = profile_html(sample_profile());
  for (const char* tag : {"<script", "</script", "<img", "<!--", "{{"}) {
    EXPECT_EQ(count_of(page, tag),
              count_of(plain, tag) + (std::string(tag) == "{{" ? count_of(data_of(page), tag) : 0))
        << tag;
  }
  const auto shown = read_profile(data_of(page), "page");
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->model, hostile.model);
  EXPECT_EQ(shown->ops[0].op, hostile.ops[0].op);
}

}  // namespace
}  // namespace mezzotint
