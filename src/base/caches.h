// The processor's caches, as Linux describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace mezzotint {

// The processors that this process may use, by Linux's numbers; {0} where the system does not say.
[[nodiscard]] std::vector<int> allowed_processors();

struct CacheLevel {
  std::int64_t bytes = 0;  // of one cache; 0: there is none, or the system does not say
  int count = 0;           // different ones among the processors asked for
};

// For data, of level 2 or 3. Reads /sys/devices/system/cpu below `root`. In a virtual machine it is
// what the hypervisor says: other machines may use the same cache.
[[nodiscard]] CacheLevel cache_level(int level, std::span<const int> processors,
                                     const std::filesystem::path& root = "/");

}  // namespace mezzotint
