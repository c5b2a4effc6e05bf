#include "graph/attributes.h"

#include "base/check.h"

namespace mezzotint {
namespace {

template <typename T>
T read(const std::map<std::string, Attribute, std::less<>>& entries, std::string_view name,
       T fallback) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    return fallback;
  }
  const T* value = std::get_if<T>(&found->second);
  check(value != nullptr, "attribute has another type");
  return *value;
}

}  // namespace

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
  return read<std::int64_t>(entries_, name, fallback);
}

double Attributes::real(std::string_view name, double fallback) const {
  return read<double>(entries_, name, fallback);
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
  return read<std::string>(entries_, name, std::string(fallback));
}

}  // namespace mezzotint
