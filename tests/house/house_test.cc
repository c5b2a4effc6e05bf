#include "house/house.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

namespace mezzotint::house {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 500;
constexpr std::size_t kMaxReadmeLines = 80;
constexpr std::uintmax_t kMaxTextBytes = 4U << 20U;
constexpr std::uintmax_t kMaxTrackedBinaryBytes = 40U << 20U;

fs::path root() {
  return MEZZOTINT_SOURCE_DIR;
}

std::string read_content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Every text file of the repository but build products, the licence, which is not ours to edit, and
// these tests, which spell out what they look for.
std::vector<TextFile> read_text_files() {
  const std::set<std::string> skipped = {".git", ".cache",  "build",      "out",
                                         "venv", "LICENSE", "tests/house"};
  std::vector<TextFile> files;
  for (auto entry = fs::recursive_directory_iterator(root()); entry != fs::end(entry); ++entry) {
    const std::string path = fs::relative(entry->path(), root()).generic_string();
    if (skipped.contains(path)) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || entry->file_size() > kMaxTextBytes) {
      continue;
    }
    std::string content = read_content(entry->path());
    if (is_text(content)) {
      files.push_back({path, std::move(content)});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
  return files;
}

bool is_code(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  const bool language = extension == ".cc" || extension == ".h" || extension == ".def" ||
                        extension == ".py" || extension == ".sh";
  const std::string folder = path.substr(0, path.find('/'));
  const std::set<std::string> folders = {"src",  "include",  "tests",  "bench",
                                         "fuzz", "examples", "scripts"};
  return language && folders.contains(folder);
}

template <typename Check>
std::vector<std::string> check_all(const Check& check) {
  std::vector<std::string> problems;
  for (const TextFile& file : read_text_files()) {
    for (std::string& problem : check(file)) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

void expect_none(const std::vector<std::string>& problems) {
  EXPECT_TRUE(problems.empty()) << fmt::format("{}", fmt::join(problems, "\n"));
}

TEST(House, FilesAreShort) {
  expect_none(check_all([](const TextFile& file) {
    return is_code(file.path) ? check_length(file, kMaxLines) : std::vector<std::string>{};
  }));
}

TEST(House, NotesAreOnTheRoadmap) {
  expect_none(check_all(check_no_notes));
}

TEST(House, TheReadmeIsFilledIn) {
  expect_none(check_no_placeholders({"README.md", read_content(root() / "README.md")}));
}

TEST(House, NoPathsOfOneMachine) {
  expect_none(check_all(check_no_machine_paths));
}

// A kernel's folder explains itself in its contract.h instead.
TEST(House, EverySourceFolderHasAShortReadme) {
  std::set<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(root() / "src")) {
    if (entry.path().extension() == ".cc") {
      folders.insert(entry.path().parent_path());
    }
  }
  std::vector<std::string> problems;
  for (const fs::path& folder : folders) {
    const fs::path readme = folder / "README.md";
    const std::string name = fs::relative(readme, root()).generic_string();
    if (fs::exists(readme)) {
      std::ranges::copy(check_length({name, read_content(readme)}, kMaxReadmeLines),
                        std::back_inserter(problems));
    } else if (!fs::exists(folder / "contract.h")) {
      problems.push_back(fmt::format("{}: missing", name));
    }
  }
  expect_none(problems);
}

struct Close {
  void operator()(std::FILE* pipe) const { (void)pclose(pipe); }
};

// Paths that git tracks; empty outside a git checkout.
std::vector<std::string> tracked_paths() {
  const std::string command = fmt::format(
      "git -c safe.directory='*' -C '{}' ls-files -z 2>/dev/null", root().generic_string());
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  std::string output;
  std::array<char, 4096> chunk{};
  while (pipe) {
    const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe.get());
    if (count == 0) {
      break;
    }
    output.append(chunk.data(), count);
  }
  std::vector<std::string> paths;
  for (std::size_t start = 0; start < output.size();) {
    const std::size_t end = output.find('\0', start);
    paths.push_back(output.substr(start, end - start));
    start = end + 1;
  }
  return paths;
}

TEST(House, TrackedBinariesAreSmall) {
  const std::vector<std::string> paths = tracked_paths();
  if (paths.empty()) {
    GTEST_SKIP() << "not a git checkout, or git is not installed";
  }
  std::uintmax_t total = 0;
  for (const std::string& path : paths) {
    if (fs::is_regular_file(root() / path) && !is_text(read_content(root() / path))) {
      total += fs::file_size(root() / path);
    }
  }
  EXPECT_LE(total, kMaxTrackedBinaryBytes);
}

TEST(House, SeesALongFile) {
  EXPECT_TRUE(check_length({"src/a.cc", "one\ntwo\n"}, 3).empty());
  EXPECT_EQ(check_length({"src/a.cc", "one\ntwo\nthree\n"}, 3),
            (std::vector<std::string>{"src/a.cc: 3 lines; files stay under 3"}));
}

TEST(House, SeesANote) {
  EXPECT_EQ(
      check_no_notes({"src/a.cc", "int a;\n// TODO: b\n"}),
      (std::vector<std::string>{"src/a.cc:2: TODO belongs in an issue or in docs/roadmap.md"}));
  EXPECT_TRUE(check_no_notes({"docs/roadmap.md", "TODO"}).empty());
  EXPECT_TRUE(check_no_notes({"src/a.cc", "mkdtemp(\"mezzotint-XXXXXX\")"}).empty());
}

TEST(House, SeesAPlaceholder) {
  EXPECT_EQ(check_no_placeholders({"README.md", "plain\nin @SECONDS_1@ s, a@b.org\n"}),
            (std::vector<std::string>{"README.md:2: @SECONDS_1@ was never filled in"}));
}

TEST(House, SeesAMachinePath) {
  EXPECT_EQ(check_no_machine_paths({"docs/a.md", "--mask=/home/ann/brain.nii"}),
            (std::vector<std::string>{"docs/a.md:1: /home/ is a path of one machine"}));
  EXPECT_TRUE(check_no_machine_paths({"docs/a.md", "see src/home/ann"}).empty());
}

TEST(House, TellsTextFromBinary) {
  EXPECT_TRUE(is_text("plain\n"));
  EXPECT_FALSE(is_text(std::string_view("\x89PNG\0", 5)));
}

}  // namespace
}  // namespace mezzotint::house
