#include "base/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMount = "sys/fs/cgroup";

bool names(std::string_view list, std::string_view controller) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == controller) {
      return true;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// This process's path in the hierarchy of a v1 controller, or, for "", in the one of v2: lines of
// /proc/self/cgroup are "number:controllers:path". The hierarchy's root when no line names it.
fs::path own_group(const fs::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : names(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return {};
}

// Folders of the hierarchy's root and of each group down to this process's own. v1 controllers have
// a folder each, or a link of their name where several share one.
std::vector<fs::path> groups(const fs::path& root, std::string_view controller) {
  std::vector<fs::path> folders{root / kMount / controller};
  // From "/", so that no ".." leads out of the mount.
  for (const fs::path& name :
       ("/" / own_group(root, controller)).lexically_normal().relative_path()) {
    folders.push_back(folders.back() / name);
  }
  return folders;
}

// The words of a file's first line as numbers; nothing for those that are none, such as "max".
std::vector<std::optional<std::uint64_t>> numbers_in(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::optional<std::uint64_t>> numbers;
  for (std::string word; file >> word;) {
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, code] = std::from_chars(word.data(), end, value);
    numbers.push_back(code == std::errc() && stop == end ? std::optional(value) : std::nullopt);
  }
  return numbers;
}

std::optional<std::uint64_t> number_in(const fs::path& path) {
  const auto numbers = numbers_in(path);
  return numbers.size() == 1 ? numbers.front() : std::nullopt;
}

template <typename T>
void lower(std::optional<T>& least, std::optional<T> value) {
  if (value && (!least || *value < *least)) {
    least = value;
  }
}

std::optional<double> ratio(std::optional<std::uint64_t> quota,
                            std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::optional<std::uint64_t> cgroup_memory_limit(const fs::path& root) {
  std::optional<std::uint64_t> least;
  for (const fs::path& group : groups(root, "")) {
    lower(least, number_in(group / "memory.max"));
  }
  for (const fs::path& group : groups(root, "memory")) {
    lower(least, number_in(group / "memory.limit_in_bytes"));
  }
  return least;
}

std::optional<double> cgroup_processor_quota(const fs::path& root) {
  std::optional<double> least;
  for (const fs::path& group : groups(root, "")) {
    if (const auto numbers = numbers_in(group / "cpu.max"); numbers.size() == 2) {
      lower(least, ratio(numbers[0], numbers[1]));
    }
  }
  for (const fs::path& group : groups(root, "cpu")) {
    lower(least,
          ratio(number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us")));
  }
  return least;
}

}  // namespace mezzotint
