// The fields of a JSON text from outside, one by one, as plain values.
//
// The first thing that is wrong, anywhere in the text, is what is said of it, by its path:
// "`ops[3].seconds`: expected a number from 0 to 1e+09". After it every field reads as 0 or empty
// and nothing more is visited, so that who reads needs no branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/quote.h"
#include "mezzotint/result.h"

namespace mezzotint {

class JsonFields;
using ReadFields = std::function<void(JsonFields&)>;
using ReadNamedFields = std::function<void(const std::string& name, JsonFields&)>;

// The fields of one object. A key is a literal. Every field but those that has() or is_null() was
// asked about must be there, and none but those that were asked for.
class JsonFields {
 public:
  struct Object;
  explicit JsonFields(Object& object) : object_(object) {}

  // False once something is wrong.
  [[nodiscard]] bool good() const;
  // Whether there is such a key.
  [[nodiscard]] bool has(std::string_view key);
  // Of a key that must be there.
  [[nodiscard]] bool is_null(std::string_view key);

  // `most` may be infinite.
  double number(std::string_view key, double least, double most);
  std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
  std::string text(std::string_view key, std::size_t most_bytes);

  std::array<double, 3> three_numbers(std::string_view key, double least, double most);
  std::array<std::int64_t, 3> three_wholes(std::string_view key, std::int64_t least,
                                           std::int64_t most);
  std::vector<double> numbers(std::string_view key, std::size_t most_values, double least,
                              double most);
  std::vector<std::int64_t> wholes(std::string_view key, std::size_t most_values,
                                   std::int64_t least, std::int64_t most);
  std::vector<std::string> texts(std::string_view key, std::size_t most_values,
                                 std::size_t most_bytes);
  // An object of any keys.
  std::map<std::string, std::string> texts_by_name(std::string_view key, std::size_t most_values,
                                                   std::size_t most_bytes);

  void object(std::string_view key, const ReadFields& read);
  // A list of objects.
  void objects(std::string_view key, std::size_t most_values, const ReadFields& read);
  // An object of any keys, with an object under each.
  void objects_by_name(std::string_view key, std::size_t most_values, const ReadNamedFields& read);

  // A text that stands for a value: `from_name` gives it, or nothing. `expected` says which there
  // are.
  template <typename FromName>
  auto named(std::string_view key, FromName from_name, std::string_view expected) {
    constexpr std::size_t kLongestName = 100;
    const std::string name = text(key, kLongestName);
    const auto value = from_name(name);
    if (value) {
      return *value;
    }
    refuse(key, std::string(expected) + ", found " + in_quotes(name));
    return std::remove_cvref_t<decltype(*value)>{};
  }

  // Of a field that was read and is wrong in another way: what was expected.
  void refuse(std::string_view key, std::string_view expected);
  // What is wrong with the whole text and no single field shows.
  void fail(std::string_view what);

 private:
  Object& object_;
};

// What a file of ours says of itself, under "kind" and "schema".
struct JsonForm {
  std::string_view kind;  // "mezzotint plan"
  int schema;
  std::string remedy;  // ends each refusal: "make it again with ..."
};

// Reads `text`, which is an object and within json_beyond_limits(). `name` begins each refusal:
// kInvalidInput, or kUnsupported for another schema.
Status read_json(std::string_view text, std::string_view name, std::size_t most_bytes,
                 const JsonForm& form, const ReadFields& read);
// Of a text that does not say what it is.
Status read_json(std::string_view text, std::string_view name, std::size_t most_bytes,
                 const ReadFields& read);

}  // namespace mezzotint
