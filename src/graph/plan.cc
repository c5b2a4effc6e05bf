#include "graph/plan.h"

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kStrict: return "strict";
    case Precision::kFp32: return "fp32";
    case Precision::kFast: return "fast";
  }
  return "";
}

Result<Precision> precision_from_name(std::string_view name) {
  for (const Precision precision : kAllPrecisions) {
    if (name_of(precision) == name) {
      return precision;
    }
  }
  return invalid_input("precision: {} is not strict, fp32 or fast", in_quotes(name));
}

std::string_view name_of(Fusion fusion) {
  switch (fusion) {
    case Fusion::kConcat: return "concat";
    case Fusion::kNormalise: return "normalise";
    case Fusion::kUpsample: return "upsample";
    case Fusion::kReorderIn: return "reorder-in";
    case Fusion::kTimeVector: return "time-vector";
    case Fusion::kResidual: return "residual";
    case Fusion::kReorderOut: return "reorder-out";
    case Fusion::kMoments: return "moments";
  }
  return "unknown";
}

std::optional<Fusion> fusion_from_name(std::string_view name) {
  for (const Fusion fusion : kAllFusions) {
    if (name_of(fusion) == name) {
      return fusion;
    }
  }
  return std::nullopt;
}

std::string describe(const Fusions& fusions) {
  std::string text;
  for (const Fusion fusion : fusions) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(fusion));
  }
  return text.empty() ? "nothing" : text;
}

const PlanEntry* Plan::find(const std::string& op) const {
  const auto found = entries.find(op);
  return found == entries.end() ? nullptr : &found->second;
}

std::string Plan::implementation_of(const std::string& op) const {
  const PlanEntry* entry = find(op);
  return entry == nullptr ? std::string() : entry->implementation;
}

Layout Plan::layout_of(const std::string& op) const {
  const PlanEntry* entry = find(op);
  return entry == nullptr ? layout : entry->layout.value_or(layout);
}

std::optional<Fusions> Plan::fusions_of(const std::string& op) const {
  if (const PlanEntry* entry = find(op); entry != nullptr && entry->fuse) {
    return entry->fuse;
  }
  return layout_of(op) == Layout::kRowMajor ? std::optional(Fusions{}) : std::nullopt;
}

Error Plan::refusal(ErrorCode code, std::string_view problem, std::string_view remedy) const {
  if (source.file.empty()) {
    return make_error(code, "plan: {}{}{}", problem, remedy.empty() ? "" : ": ", remedy);
  }
  return make_error(code, "{}: {}: {}{}make another with {}", source.file, problem, remedy,
                    remedy.empty() ? "" : ", or ", source.again);
}

}  // namespace mezzotint
