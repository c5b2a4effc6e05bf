// What Linux control groups (versions 1 and 2) let this process use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace mezzotint {

// A group is bound by its own limits and by those of every group above it. Outside a cgroup
// namespace the groups of this process lie below the mount's root, on the path that
// /proc/self/cgroup names; inside a container that path may name groups that its mount does not
// show, which are passed over. `root` is the root of the file system.

// Least of memory.max (v2) and memory.limit_in_bytes (v1), in bytes; nothing without a limit.
[[nodiscard]] std::optional<std::uint64_t> cgroup_memory_limit(
    const std::filesystem::path& root = "/");

// Least of cpu.max (v2) and cpu.cfs_quota_us / cpu.cfs_period_us (v1), in processors, such as 1.5;
// nothing without a quota.
[[nodiscard]] std::optional<double> cgroup_processor_quota(const std::filesystem::path& root = "/");

}  // namespace mezzotint
