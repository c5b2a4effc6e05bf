#include "formats/json_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "formats/json_limits.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

std::string expected_number(double least, double most) {
  return std::isinf(most) ? fmt::format("a number of {:g} or more", least)
                          : fmt::format("a number from {:g} to {:g}", least, most);
}

std::string expected_whole(std::int64_t least, std::int64_t most) {
  return fmt::format("a whole number from {} to {}", least, most);
}

std::string expected_text(std::size_t most_bytes) {
  return fmt::format("a text of at most {} bytes", most_bytes);
}

std::optional<double> number_in(const Json& value, double least, double most) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> whole_in(const Json& value, std::int64_t least, std::int64_t most) {
  // Beyond int64 it would wrap around.
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  const auto number = fits ? std::optional(value.get<std::int64_t>()) : std::nullopt;
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

std::optional<std::string> text_in(const Json& value, std::size_t most_bytes) {
  return value.is_string() && value.get_ref<const std::string&>().size() <= most_bytes
             ? std::optional(value.get<std::string>())
             : std::nullopt;
}

}  // namespace

// On the stack of who visits it.
struct JsonFields::Object {
  const Json& json;
  std::string& problem;  // of the whole text
  const Object* parent = nullptr;
  std::string_view name = {};             // in the parent
  std::optional<std::size_t> index = {};  // in the parent's list of this name
  std::vector<std::string_view> known = {};

  [[nodiscard]] std::string path() const {
    if (parent == nullptr) {
      return "";
    }
    return parent->path_of(name) + (index ? fmt::format("[{}]", *index) : "");
  }
  [[nodiscard]] std::string path_of(std::string_view key) const {
    const std::string before = path();
    return before.empty() ? std::string(key) : fmt::format("{}.{}", before, key);
  }

  void fail(std::string_view what) const {
    if (problem.empty()) {
      problem = what;
    }
  }
  void fail_at(std::string_view path, std::string_view what) const {
    fail(fmt::format("{}: {}", in_quotes(path), what));
  }
  void refuse(std::string_view key, std::string_view expected) const {
    fail_at(path_of(key), fmt::format("expected {}", expected));
  }

  const Json* find(std::string_view key) {
    if (std::ranges::find(known, key) == known.end()) {
      known.push_back(key);
    }
    const auto found = problem.empty() ? json.find(key) : json.end();
    return found == json.end() ? nullptr : &*found;
  }
  const Json* need(std::string_view key) {
    const Json* found = find(key);
    if (found == nullptr) {
      fail_at(path_of(key), "is missing");
    }
    return found;
  }
  // A list, or an object, of so many.
  const Json* need_several(std::string_view key, bool is_list, std::size_t most) {
    const Json* found = need(key);
    if (found == nullptr) {
      return nullptr;
    }
    if (found->is_array() != is_list || !found->is_structured() || found->size() > most) {
      refuse(key, fmt::format("{} of at most {}", is_list ? "a list" : "an object", most));
      return nullptr;
    }
    return found;
  }

  // `value_in` gives an element's value, or nothing where it is not what is expected.
  template <typename T, typename ValueIn>
  std::vector<T> several(std::string_view key, std::size_t most_values, const ValueIn& value_in,
                         const std::string& expected) {
    std::vector<T> values;
    const Json* list = need_several(key, /*is_list=*/true, most_values);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      auto value = value_in((*list)[i]);
      if (!value) {
        refuse(fmt::format("{}[{}]", key, i), expected);
        return {};
      }
      values.push_back(*std::move(value));
    }
    return values;
  }
  template <typename T, typename ValueIn>
  std::array<T, 3> three(std::string_view key, const ValueIn& value_in,
                         const std::string& expected) {
    std::array<T, 3> values{};
    const Json* list = need(key);
    bool fits = list != nullptr && list->is_array() && list->size() == values.size();
    for (std::size_t i = 0; fits && i < values.size(); ++i) {
      const auto value = value_in((*list)[i]);
      fits = value.has_value();
      values[i] = value.value_or(T{});
    }
    if (!fits) {
      refuse(key, expected);
      return {};
    }
    return values;
  }

  // Reads all of it, and refuses keys that nobody asked for.
  void visit(const ReadFields& read) {
    if (!json.is_object()) {
      fail_at(path(), "expected an object");
      return;
    }
    JsonFields fields(*this);
    read(fields);
    if (!problem.empty()) {
      return;
    }
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) == known.end()) {
        fail_at(path_of(key), fmt::format("unknown key; known are {}", fmt::join(known, ", ")));
        return;
      }
    }
  }
};

bool JsonFields::good() const {
  return object_.problem.empty();
}

bool JsonFields::has(std::string_view key) {
  return object_.find(key) != nullptr;
}

bool JsonFields::is_null(std::string_view key) {
  const Json* found = object_.need(key);
  return found == nullptr || found->is_null();
}

double JsonFields::number(std::string_view key, double least, double most) {
  const Json* found = object_.need(key);
  const auto value = found == nullptr ? std::nullopt : number_in(*found, least, most);
  if (!value) {
    object_.refuse(key, expected_number(least, most));
  }
  return value.value_or(0);
}

std::int64_t JsonFields::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const Json* found = object_.need(key);
  const auto value = found == nullptr ? std::nullopt : whole_in(*found, least, most);
  if (!value) {
    object_.refuse(key, expected_whole(least, most));
  }
  return value.value_or(0);
}

std::string JsonFields::text(std::string_view key, std::size_t most_bytes) {
  const Json* found = object_.need(key);
  auto value = found == nullptr ? std::nullopt : text_in(*found, most_bytes);
  if (!value) {
    object_.refuse(key, expected_text(most_bytes));
  }
  return std::move(value).value_or("");
}

std::array<double, 3> JsonFields::three_numbers(std::string_view key, double least, double most) {
  return object_.three<double>(
      key, [&](const Json& value) { return number_in(value, least, most); },
      fmt::format("three numbers from {:g} to {:g}", least, most));
}

std::array<std::int64_t, 3> JsonFields::three_wholes(std::string_view key, std::int64_t least,
                                                     std::int64_t most) {
  return object_.three<std::int64_t>(
      key, [&](const Json& value) { return whole_in(value, least, most); },
      fmt::format("three whole numbers from {} to {}", least, most));
}

std::vector<double> JsonFields::numbers(std::string_view key, std::size_t most_values, double least,
                                        double most) {
  return object_.several<double>(
      key, most_values, [&](const Json& value) { return number_in(value, least, most); },
      expected_number(least, most));
}

std::vector<std::int64_t> JsonFields::wholes(std::string_view key, std::size_t most_values,
                                             std::int64_t least, std::int64_t most) {
  return object_.several<std::int64_t>(
      key, most_values, [&](const Json& value) { return whole_in(value, least, most); },
      expected_whole(least, most));
}

std::vector<std::string> JsonFields::texts(std::string_view key, std::size_t most_values,
                                           std::size_t most_bytes) {
  return object_.several<std::string>(
      key, most_values, [&](const Json& value) { return text_in(value, most_bytes); },
      expected_text(most_bytes));
}

std::map<std::string, std::string> JsonFields::texts_by_name(std::string_view key,
                                                             std::size_t most_values,
                                                             std::size_t most_bytes) {
  const Json* members = object_.need_several(key, /*is_list=*/false, most_values);
  std::map<std::string, std::string> texts;
  if (members == nullptr) {
    return texts;
  }
  for (const auto& [name, value] : members->items()) {
    auto text = text_in(value, most_bytes);
    if (!text) {
      object_.refuse(fmt::format("{}.{}", key, name), expected_text(most_bytes));
      return {};
    }
    texts.emplace(name, *std::move(text));
  }
  return texts;
}

void JsonFields::object(std::string_view key, const ReadFields& read) {
  if (const Json* found = object_.need(key)) {
    Object{*found, object_.problem, &object_, key, std::nullopt}.visit(read);
  }
}

void JsonFields::objects(std::string_view key, std::size_t most_values, const ReadFields& read) {
  const Json* list = object_.need_several(key, /*is_list=*/true, most_values);
  for (std::size_t i = 0; list != nullptr && good() && i < list->size(); ++i) {
    Object{(*list)[i], object_.problem, &object_, key, i}.visit(read);
  }
}

void JsonFields::objects_by_name(std::string_view key, std::size_t most_values,
                                 const ReadNamedFields& read) {
  const Json* members = object_.need_several(key, /*is_list=*/false, most_values);
  if (members == nullptr) {
    return;
  }
  Object named{*members, object_.problem, &object_, key, std::nullopt};
  for (const auto& [name, value] : members->items()) {
    Object{value, object_.problem, &named, name, std::nullopt}.visit(
        [&read, &name = name](JsonFields& fields) { read(name, fields); });
    if (!good()) {
      return;
    }
  }
}

void JsonFields::refuse(std::string_view key, std::string_view expected) {
  object_.refuse(key, expected);
}

void JsonFields::fail(std::string_view what) {
  object_.fail(what);
}

namespace {

std::string problem_of(std::string_view text, std::size_t most_bytes, const ReadFields& read) {
  std::string problem = json_beyond_limits(text, most_bytes);
  if (!problem.empty()) {
    return problem;
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return "not a JSON object";
  }
  JsonFields::Object{json, problem}.visit(read);
  return problem;
}

}  // namespace

Status read_json(std::string_view text, std::string_view name, std::size_t most_bytes,
                 const JsonForm& form, const ReadFields& read) {
  const auto refused = [&](ErrorCode code, std::string_view problem) {
    return make_error(code, "{}: {}{}{}", name, problem, form.remedy.empty() ? "" : "; ",
                      form.remedy);
  };
  if (json_kind(text) != form.kind) {
    return refused(ErrorCode::kInvalidInput, fmt::format("is no {}", form.kind));
  }
  ErrorCode code = ErrorCode::kInvalidInput;
  const std::string problem = problem_of(text, most_bytes, [&](JsonFields& fields) {
    (void)fields.has("kind");
    const std::int64_t schema = fields.whole("schema", 0, INT64_MAX);
    if (fields.good() && schema != form.schema) {
      code = ErrorCode::kUnsupported;
      fields.fail(fmt::format("is a {} of schema {}, this version reads {}", form.kind, schema,
                              form.schema));
    }
    if (fields.good()) {
      read(fields);
    }
  });
  return problem.empty() ? Status() : Status(refused(code, problem));
}

Status read_json(std::string_view text, std::string_view name, std::size_t most_bytes,
                 const ReadFields& read) {
  const std::string problem = problem_of(text, most_bytes, read);
  return problem.empty() ? Status() : Status(invalid_input("{}: {}", name, problem));
}

}  // namespace mezzotint
