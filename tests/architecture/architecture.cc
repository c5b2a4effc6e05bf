#include "architecture/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace mezzotint::architecture {
namespace {

constexpr std::string_view kPublicFolder = "include/mezzotint/";
constexpr std::string_view kSourceFolder = "src/";

// The longest listed folder that holds `path` (given from src/), or "" when none does.
std::string room_of(const Rules& rules, std::string_view path) {
  std::string best;
  for (const auto& [room, allowed] : rules.rooms) {
    const bool inside = path.starts_with(room) && path.substr(room.size()).starts_with('/');
    if (inside && room.size() > best.size()) {
      best = room;
    }
  }
  return best;
}

void parse_line(std::string_view line, Rules& rules, std::vector<std::string>& problems) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    problems.push_back(fmt::format("architecture.txt: expected \"folder: folders\": {}", line));
    return;
  }
  std::string key(line.substr(0, colon));
  std::istringstream words{std::string(line.substr(colon + 1))};
  std::set<std::string> rooms;
  for (std::string word; words >> word;) {
    rooms.insert(word);
  }
  if (key.starts_with('<')) {
    HeaderRule rule;
    rule.prefix = key.substr(1);
    rule.any_room = rooms.erase("*") > 0;
    rule.sources_only = rooms.erase("sources") > 0;
    rule.rooms = std::move(rooms);
    rules.headers.push_back(std::move(rule));
  } else if (!rules.rooms.emplace(key, std::move(rooms)).second) {
    problems.push_back(fmt::format("architecture.txt: {} is listed twice", key));
  }
}

// The line's include with its delimiters, as in <vector> or "base/error.h"; "" when it has none.
std::string_view include_of(std::string_view line) {
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  for (const std::string_view word : {std::string_view("#"), std::string_view("include")}) {
    skip_blanks();
    if (!line.starts_with(word)) {
      return {};
    }
    line.remove_prefix(word.size());
  }
  skip_blanks();
  if (!line.starts_with('<') && !line.starts_with('"')) {
    return {};
  }
  const std::size_t end = line.find(line.front() == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
}

// The reason why `room` may not include the file `target` of ours; "" when it may.
std::string refuse_ours(const Rules& rules, const std::string& room, std::string_view target) {
  if (target.starts_with("mezzotint/")) {
    return {};
  }
  if (room.empty()) {
    return "public headers include only \"mezzotint/...\" and the standard library";
  }
  const std::string other = room_of(rules, target);
  if (other.empty()) {
    return "no folder in architecture.txt holds it; write includes from src/, as in "
           "\"base/error.h\"";
  }
  if (other == room || rules.rooms.at(room).contains(other)) {
    return {};
  }
  return fmt::format("{} may not include {}", room, other);
}

// The reason why `room` may not include the system header `name` (without <); "" when it may.
std::string refuse_system(const Rules& rules, const std::string& room, bool is_source,
                          std::string_view name) {
  if (name.find_first_of("./") == std::string_view::npos) {
    return {};
  }
  if (room.empty()) {
    return "public headers include only \"mezzotint/...\" and the standard library";
  }
  const auto rule = std::find_if(rules.headers.begin(), rules.headers.end(),
                                 [&](const HeaderRule& r) { return name.starts_with(r.prefix); });
  if (rule == rules.headers.end()) {
    return "not listed in architecture.txt";
  }
  if (rule->sources_only && !is_source) {
    return "allowed in .cc files only";
  }
  if (rule->any_room || rule->rooms.contains(room)) {
    return {};
  }
  return fmt::format("allowed in {} only", fmt::join(rule->rooms, ", "));
}

}  // namespace

Rules parse_rules(std::string_view text, std::vector<std::string>& problems) {
  Rules rules;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') {
      parse_line(line, rules, problems);
    }
  }
  return rules;
}

std::vector<std::string> check_rules(const Rules& rules) {
  std::vector<std::string> problems;
  for (const auto& [room, allowed] : rules.rooms) {
    for (const std::string& other : allowed) {
      if (!rules.rooms.contains(other)) {
        problems.push_back(fmt::format("{} may include {}, which is not listed", room, other));
      }
    }
  }
  // Folders whose arrows all lead to settled folders are settled; what never settles is in, or
  // leads into, a cycle.
  std::set<std::string> settled;
  for (bool progress = true; progress;) {
    progress = false;
    for (const auto& [room, allowed] : rules.rooms) {
      const bool ready = std::all_of(allowed.begin(), allowed.end(), [&](const std::string& other) {
        return settled.contains(other) || !rules.rooms.contains(other);
      });
      if (ready && settled.insert(room).second) {
        progress = true;
      }
    }
  }
  for (const auto& [room, allowed] : rules.rooms) {
    if (!settled.contains(room)) {
      problems.push_back(fmt::format("{} is part of a cycle, or leads into one", room));
    }
  }
  return problems;
}

std::vector<std::string> check_includes(const Rules& rules, const std::vector<SourceFile>& files) {
  std::vector<std::string> problems;
  for (const SourceFile& file : files) {
    const std::string_view path = file.path;
    std::string room;
    if (!path.starts_with(kPublicFolder)) {
      room = room_of(rules, path.substr(kSourceFolder.size()));
      if (room.empty()) {
        problems.push_back(fmt::format("{}: its folder is not listed in architecture.txt", path));
        continue;
      }
    }
    std::istringstream lines{file.content};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const std::string_view include = include_of(line);
      if (include.empty()) {
        continue;
      }
      const std::string reason =
          include.front() == '<'
              ? refuse_system(rules, room, path.ends_with(".cc"), include.substr(1))
              : refuse_ours(rules, room, include.substr(1, include.size() - 2));
      if (!reason.empty()) {
        problems.push_back(fmt::format("{}:{}: {}: {}", path, number, include, reason));
      }
    }
  }
  return problems;
}

}  // namespace mezzotint::architecture
