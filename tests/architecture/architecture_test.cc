#include "architecture/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace mezzotint::architecture {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<SourceFile> read_sources() {
  const fs::path root = MEZZOTINT_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const char* folder : {"src", "include"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".cc" || extension == ".h" || extension == ".def") {
        files.push_back(
            {fs::relative(entry.path(), root).generic_string(), read_text(entry.path())});
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

Rules parse_good(std::string_view text) {
  std::vector<std::string> problems;
  Rules rules = parse_rules(text, problems);
  EXPECT_TRUE(problems.empty()) << fmt::format("{}", fmt::join(problems, "\n"));
  return rules;
}

TEST(Architecture, SourcesKeepToTheTable) {
  const Rules rules =
      parse_good(read_text(fs::path(MEZZOTINT_SOURCE_DIR) / "tests/architecture.txt"));
  const std::vector<SourceFile> files = read_sources();
  EXPECT_GT(files.size(), 10U);
  std::vector<std::string> problems = check_rules(rules);
  for (std::string& problem : check_includes(rules, files)) {
    problems.push_back(std::move(problem));
  }
  EXPECT_TRUE(problems.empty()) << fmt::format("{}", fmt::join(problems, "\n"));
}

constexpr const char* kSmallTable =
    "# a comment\n"
    "base:\n"
    "graph: base\n"
    "graph/deep: base graph\n"
    "<dnnl: graph/deep\n"
    "<png.h>: base\n"
    "<nlohmann/: * sources\n";

struct Planted {
  const char* path;
  const char* line;
  const char* problem;  // part of the message; "" when the line is fine
};

class PlantedInclude : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInclude, IsJudged) {
  const Rules rules = parse_good(kSmallTable);
  const Planted& planted = GetParam();
  const std::vector<std::string> problems =
      check_includes(rules, {{planted.path, fmt::format("// first line\n{}\n", planted.line)}});
  if (*planted.problem == '\0') {
    EXPECT_TRUE(problems.empty()) << problems.front();
    return;
  }
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().find(fmt::format("{}:2: ", planted.path)), 0U) << problems.front();
  EXPECT_NE(problems.front().find(planted.problem), std::string::npos) << problems.front();
}

INSTANTIATE_TEST_SUITE_P(
    Lines, PlantedInclude,
    testing::Values(
        Planted{"src/graph/a.cc", "#include \"base/b.h\"", ""},
        Planted{"src/graph/a.cc", "#include \"graph/deeper.h\"", ""},
        Planted{"src/base/a.cc", "#include \"graph/b.h\"", "base may not include graph"},
        Planted{"src/base/a.cc", "  #  include \"graph/b.h\"", "base may not include graph"},
        Planted{"src/graph/a.cc", "#include \"graph/deep/b.h\"",
                "graph may not include graph/deep"},
        Planted{"src/graph/deep/a.cc", "#include \"graph/b.h\"", ""},
        Planted{"src/graph/ops/a.cc", "#include \"graph/b.h\"", ""},
        Planted{"src/graph/a.cc", "#include \"b.h\"", "no folder in architecture.txt holds it"},
        Planted{"src/graph/a.cc", "#include <vector>", ""},
        Planted{"src/graph/deep/a.cc", "#include <dnnl.hpp>", ""},
        Planted{"src/graph/a.cc", "#include <dnnl.hpp>", "allowed in graph/deep only"},
        Planted{"src/base/a.cc", "#include <png.h>", ""},
        Planted{"src/base/a.cc", "#include <zlib.h>", "not listed in architecture.txt"},
        Planted{"src/base/a.cc", "#include <nlohmann/json.hpp>", ""},
        Planted{"src/base/a.h", "#include <nlohmann/json.hpp>", "allowed in .cc files only"},
        Planted{"src/base/a.cc", "#include \"mezzotint/result.h\"", ""},
        Planted{"include/mezzotint/a.h", "#include \"mezzotint/result.h\"", ""},
        Planted{"include/mezzotint/a.h", "#include \"base/b.h\"", "public headers include only"},
        Planted{"include/mezzotint/a.h", "#include <png.h>", "public headers include only"}));

TEST(Architecture, RefusesAFolderOutsideTheTable) {
  const std::vector<std::string> problems =
      check_includes(parse_good(kSmallTable), {{"src/attic/a.cc", ""}});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front(), "src/attic/a.cc: its folder is not listed in architecture.txt");
}

TEST(Architecture, FindsACycle) {
  const std::vector<std::string> problems =
      check_rules(parse_good("base:\na: base b\nb: c\nc: a\n"));
  EXPECT_EQ(problems, (std::vector<std::string>{"a is part of a cycle, or leads into one",
                                                "b is part of a cycle, or leads into one",
                                                "c is part of a cycle, or leads into one"}));
}

TEST(Architecture, FindsAnArrowToNowhere) {
  const std::vector<std::string> problems = check_rules(parse_good("a: lost\n"));
  EXPECT_EQ(problems, (std::vector<std::string>{"a may include lost, which is not listed"}));
}

TEST(Architecture, RefusesABrokenTable) {
  std::vector<std::string> problems;
  (void)parse_rules("base:\nbase:\nno colon\n", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0], "architecture.txt: base is listed twice");
  EXPECT_EQ(problems[1], "architecture.txt: expected \"folder: folders\": no colon");
}

}  // namespace
}  // namespace mezzotint::architecture
