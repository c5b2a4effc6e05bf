#include "base/caches.h"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace mezzotint {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "2048K"; 0 for anything else.
std::int64_t size_from(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;  // KiB
  std::int64_t kilobytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  const bool valid =
      error == std::errc{} && std::string_view(end, text.data() + text.size()) == "K";
  return valid && kilobytes > 0 && kilobytes < kMost ? kilobytes * 1024 : 0;
}

// The folder that describes it.
std::optional<std::filesystem::path> find_cache(int level, const std::filesystem::path& caches) {
  constexpr int kMostCaches = 16;
  for (int i = 0; i < kMostCaches; ++i) {
    const auto folder = caches / fmt::format("index{}", i);
    const std::string found = first_line(folder / "level");
    if (found.empty()) {
      break;
    }
    if (found == std::to_string(level) && first_line(folder / "type") != "Instruction") {
      return folder;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) {
        processors.push_back(i);
      }
    }
  }
  return processors.empty() ? std::vector<int>{0} : processors;
}

CacheLevel cache_level(int level, std::span<const int> processors,
                       const std::filesystem::path& root) {
  CacheLevel result;
  std::set<std::string> sharers;
  for (const int processor : processors) {
    const auto folder =
        find_cache(level, root / fmt::format("sys/devices/system/cpu/cpu{}/cache", processor));
    if (!folder) {
      continue;
    }
    if (result.bytes == 0) {
      result.bytes = size_from(first_line(*folder / "size"));
    }
    sharers.insert(first_line(*folder / "shared_cpu_list"));
  }
  if (result.bytes > 0) {
    result.count = static_cast<int>(sharers.size());
  }
  return result;
}

}  // namespace mezzotint
