// Named constants of an op: stride, groups, eps ... Sorted by name, so that printing is stable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace mezzotint {

using Attribute = std::variant<std::int64_t, double, std::string>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> entries)
      : entries_(entries) {}

  [[nodiscard]] const std::map<std::string, Attribute, std::less<>>& entries() const {
    return entries_;
  }
  void set(std::string name, Attribute value) { entries_[std::move(name)] = std::move(value); }
  [[nodiscard]] bool has(std::string_view name) const { return entries_.contains(name); }

  // Absent names give `fallback`; an attribute of another type is a bug: infer_types() of
  // op_definition.h has refused it.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] double real(std::string_view name, double fallback) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const;

  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::map<std::string, Attribute, std::less<>> entries_;
};

}  // namespace mezzotint
