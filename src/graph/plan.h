// What was decided per op. Plain data, keyed by the op's name before fusion.
#pragma once

#include <map>
#include <string>

namespace mezzotint {

enum class Precision { kStrict, kFp32 };

struct PlanEntry {
  std::string implementation;  // empty: the cheapest by the cost table
};

struct Plan {
  Precision precision = Precision::kFp32;
  std::map<std::string, PlanEntry> entries;
};

}  // namespace mezzotint
