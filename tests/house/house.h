// House rules that no compiler checks, as functions over file contents so that each can be shown to
// fail.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint::house {

struct TextFile {
  std::string path;  // from the repository's root
  std::string content;
};

// True for content that has no zero byte near its start.
bool is_text(std::string_view content);

// One line per problem, as "path: what" or "path:line: what".
std::vector<std::string> check_length(const TextFile& file, std::size_t max_lines);
// Notes to oneself belong in the issues or in docs/roadmap.md.
std::vector<std::string> check_no_notes(const TextFile& file);
// Numbers that a text still waits for: @NAME@.
std::vector<std::string> check_no_placeholders(const TextFile& file);
// Absolute paths of somebody's machine: home and temporary folders.
std::vector<std::string> check_no_machine_paths(const TextFile& file);

}  // namespace mezzotint::house
