// What is told of the files that measuring leaves: plans, profiles, comparisons, studies, and the
// caches.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

struct RecordFact {
  std::string name;  // at most 11 bytes: "speed"
  std::string text;  // one line, which may hold any bytes of the file; at most some hundred
};

// What is not in the file is empty, 0 or nothing.
struct RecordSummary {
  std::string_view kind;  // "plan", "profile", "comparison", "study", "calibration", "timings"
  std::string_view what;  // "a plan of mezzotint tune"
  int schema = 0;
  std::string version;  // of Mezzotint
  // What it is for.
  std::string model;
  std::string model_sha256;
  std::optional<std::array<std::int64_t, 3>> grid;  // x, y, z
  std::string precision;
  std::string isa;
  std::string processor;
  int threads = 0;
  std::vector<RecordFact> facts;      // the most important first
  std::vector<std::string> commands;  // that use it, with words in capitals for what is not known
};

// By the content. Nothing when the file is none of these or cannot be opened; an error when it says
// that it is one and cannot be read as such: kUnsupported for another schema.
[[nodiscard]] Result<std::optional<RecordSummary>> inspect_record(
    const std::filesystem::path& path);

}  // namespace mezzotint
