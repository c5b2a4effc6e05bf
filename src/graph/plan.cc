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

std::string Plan::implementation_of(const std::string& op) const {
  const auto found = entries.find(op);
  return found == entries.end() ? std::string() : found->second.implementation;
}

}  // namespace mezzotint
