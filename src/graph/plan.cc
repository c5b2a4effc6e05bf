#include "graph/plan.h"

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {

std::string_view name_of(Precision precision) {
  return precision == Precision::kStrict ? "strict" : "fp32";
}

Result<Precision> precision_from_name(std::string_view name) {
  for (const Precision precision : {Precision::kStrict, Precision::kFp32}) {
    if (name_of(precision) == name) {
      return precision;
    }
  }
  return invalid_input("precision: {} is not strict or fp32", in_quotes(name));
}

std::string Plan::implementation_of(const std::string& op) const {
  const auto found = entries.find(op);
  return found == entries.end() ? std::string() : found->second.implementation;
}

}  // namespace mezzotint
