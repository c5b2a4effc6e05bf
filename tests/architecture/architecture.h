// The rule that tests/architecture.txt states, and the checker that holds the sources to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint::architecture {

// Folders that may include a third-party or system header.
struct HeaderRule {
  std::string prefix;  // of the text between < and >; a whole name ends with '>'
  std::set<std::string> rooms;
  bool any_room = false;
  bool sources_only = false;
};

struct Rules {
  std::map<std::string, std::set<std::string>> rooms;  // folder below src/: folders it may include
  std::vector<HeaderRule> headers;
};

struct SourceFile {
  std::string path;  // from the repository's root: "src/graph/graph.cc"
  std::string content;
};

// Reads the table. Lines that make no sense are reported in `problems`.
Rules parse_rules(std::string_view text, std::vector<std::string>& problems);

// What is wrong with the table itself: arrows to folders it does not list, and cycles.
std::vector<std::string> check_rules(const Rules& rules);

// One line per forbidden include: "src/graph/graph.cc:7: graph may not include formats (...)".
std::vector<std::string> check_includes(const Rules& rules, const std::vector<SourceFile>& files);

}  // namespace mezzotint::architecture
