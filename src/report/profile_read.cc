#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "formats/json_limits.h"
#include "report/profile_fields.h"
#include "report/profile_json.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

// Reads the fields of one object. The first thing that is wrong, anywhere below, is kept in
// `problem`; after it nothing more is read.
class Reader {
 public:
  Reader(const Json& json, std::string path, std::string& problem)
      : json_(json), path_(std::move(path)), problem_(problem) {
    if (!json.is_object()) {
      fail(path_, "expected an object");
    }
  }

  // Refuses keys that no field asked for.
  void finish() {
    if (!good() || json_.size() == known_.size()) {
      return;
    }
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(known_, key) == known_.end()) {
        return fail(below(key), "which this schema does not have");
      }
    }
  }

  void number(const char* key, double& out, double most) {
    if (const Json* value = find(key)) {
      read_number(*value, below(key), out, most);
    }
  }
  void optional_number(const char* key, std::optional<double>& out, double most) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_null()) {
      read_number(*value, below(key), out.emplace(), most);
    }
  }
  void number_unless(bool absent, const char* key, double& out, double most) {
    const Json* value = find(key);
    if (value == nullptr) {
      return;
    }
    if (!absent) {
      read_number(*value, below(key), out, most);
    } else if (!value->is_null()) {
      fail(below(key), "expected null beside a reason why it is absent");
    }
  }
  void numbers(const char* key, std::vector<double>& out, std::size_t most_values, double most) {
    const Json* value = find_array(key, most_values);
    if (value == nullptr) {
      return;
    }
    for (const Json& entry : *value) {
      read_number(entry, element(key, out.size()), out.emplace_back(), most);
    }
  }

  template <typename T>
  void whole(const char* key, T& out, T most) {
    if (const Json* value = find(key)) {
      read_whole(*value, below(key), out, most);
    }
  }
  void whole_or_null(const char* key, std::uint64_t& out, std::uint64_t most) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_null()) {
      read_whole(*value, below(key), out, most);
    }
  }

  void text(const char* key, std::string& out) {
    if (const Json* value = find(key)) {
      read_text(*value, below(key), out);
    }
  }
  void optional_text(const char* key, std::string& out) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_null()) {
      read_text(*value, below(key), out);
    }
  }
  void texts(const char* key, std::vector<std::string>& out, std::size_t most) {
    const Json* value = find_array(key, most);
    if (value == nullptr) {
      return;
    }
    for (const Json& entry : *value) {
      read_text(entry, element(key, out.size()), out.emplace_back());
    }
  }

  void grid(const char* key, std::array<std::int64_t, 3>& out) {
    const Json* value = find_array(key, out.size());
    if (value == nullptr) {
      return;
    }
    if (value->size() != out.size()) {
      return fail(below(key), "expected three whole numbers");
    }
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      read_whole(value->at(axis), element(key, axis), out[axis],
                 std::int64_t{profile_limits::kWhole});
    }
  }

  template <typename T, typename FromName>
  void named(const char* key, T& out, FromName from_name) {
    std::string name;
    text(key, name);
    if (!good()) {
      return;
    }
    if (const std::optional<T> known = from_name(name)) {
      out = *known;
    } else {
      fail(below(key),
           fmt::format("{} is none of the names that this schema has", in_quotes(name)));
    }
  }

  template <typename T, typename Visit>
  void object(const char* key, T& out, Visit visit) {
    if (const Json* value = find(key)) {
      read_object(*value, below(key), out, visit);
    }
  }
  template <typename T, typename Visit>
  void optional_object(const char* key, std::optional<T>& out, Visit visit) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_null()) {
      read_object(*value, below(key), out.emplace(), visit);
    }
  }
  template <typename T, typename Visit>
  void list(const char* key, std::vector<T>& out, std::size_t most, Visit visit) {
    const Json* value = find_array(key, most);
    for (std::size_t i = 0; value != nullptr && good() && i < value->size(); ++i) {
      read_object((*value)[i], element(key, i), out.emplace_back(), visit);
    }
  }

  void trace(const char* key, std::vector<TraceSpan>& out, std::size_t most) {
    const Json* value = find(key);
    if (value == nullptr) {
      return;
    }
    std::vector<double> ops;
    std::vector<double> threads;
    std::vector<double> begins;
    std::vector<double> ends;
    Reader columns(*value, below(key), problem_);
    columns.numbers("op", ops, most, static_cast<double>(profile_limits::kOps));
    columns.numbers("thread", threads, most, static_cast<double>(profile_limits::kThreads));
    columns.numbers("begin", begins, most, profile_limits::kSeconds);
    columns.numbers("end", ends, most, profile_limits::kSeconds);
    columns.finish();
    if (!good()) {
      return;
    }
    if (threads.size() != ops.size() || begins.size() != ops.size() || ends.size() != ops.size()) {
      return fail(below(key), "expected four lists of one length");
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i] != std::floor(ops[i]) || threads[i] != std::floor(threads[i])) {
        return fail(below(key), fmt::format("entry {}: op and thread are no whole numbers", i));
      }
      out.push_back(
          {static_cast<std::uint32_t>(ops[i]), static_cast<int>(threads[i]), begins[i], ends[i]});
    }
  }

 private:
  [[nodiscard]] bool good() const { return problem_.empty(); }
  [[nodiscard]] std::string below(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::string element(std::string_view key, std::size_t index) const {
    return fmt::format("{}[{}]", below(key), index);
  }
  void fail(std::string_view path, std::string_view what) {
    if (good()) {
      problem_ = fmt::format("{}: {}", path.empty() ? "it" : in_quotes(path), what);
    }
  }

  const Json* find(const char* key) {
    if (!good()) {
      return nullptr;
    }
    known_.emplace_back(key);
    const auto found = json_.find(key);
    if (found == json_.end()) {
      fail(below(key), "is missing");
      return nullptr;
    }
    return &*found;
  }
  const Json* find_array(const char* key, std::size_t most) {
    const Json* value = find(key);
    if (value == nullptr) {
      return nullptr;
    }
    if (!value->is_array() || value->size() > most) {
      fail(below(key), fmt::format("expected a list of at most {}", most));
      return nullptr;
    }
    return value;
  }

  void read_number(const Json& value, const std::string& path, double& out, double most) {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most)) {
      return fail(path, fmt::format("expected a number from 0 to {:g}", most));
    }
    out = number;
  }
  template <typename T>
  void read_whole(const Json& value, const std::string& path, T& out, T most) {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      return fail(path, fmt::format("expected a whole number from 0 to {}", most));
    }
    out = value.get<T>();
  }
  void read_text(const Json& value, const std::string& path, std::string& out) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > profile_limits::kText) {
      return fail(path, fmt::format("expected a text of at most {} bytes", profile_limits::kText));
    }
    out = value.get<std::string>();
  }
  template <typename T, typename Visit>
  void read_object(const Json& value, const std::string& path, T& out, Visit visit) {
    Reader part(value, path, problem_);
    visit(part, out);
    part.finish();
  }

  const Json& json_;
  std::string path_;
  std::string& problem_;
  std::vector<std::string> known_;
};

bool is_ordered(const Spread& spread) {
  return spread.low <= spread.median && spread.median <= spread.high;
}

// What no single field shows; empty when all fits.
std::string contradiction(const Profile& profile) {
  if (profile.machine.threads < 1) {
    return "`machine.threads`: expected at least 1";
  }
  if (std::ranges::any_of(profile.grid, [](std::int64_t side) { return side < 1; })) {
    return "`grid`: expected sides of at least 1";
  }
  if (!is_ordered(profile.seconds) || !is_ordered(profile.plain_seconds)) {
    return "`seconds`, `plain_seconds`: the median is not between the quartiles";
  }
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const OpProfile& op = profile.ops[i];
    if (!is_ordered(op.seconds)) {
      return fmt::format("`ops[{}].seconds`: the median is not between the quartiles", i);
    }
    if (op.busy_seconds.size() > static_cast<std::size_t>(profile.machine.threads)) {
      return fmt::format("`ops[{}].busy_seconds`: more than `machine.threads`", i);
    }
  }
  for (std::size_t i = 0; i < profile.groups.size(); ++i) {
    if (!is_ordered(profile.groups[i].seconds)) {
      return fmt::format("`groups[{}].seconds`: the median is not between the quartiles", i);
    }
  }
  for (std::size_t i = 0; i < profile.trace.size(); ++i) {
    const TraceSpan& span = profile.trace[i];
    if (span.op >= profile.ops.size() || span.thread >= profile.machine.threads) {
      return fmt::format("`trace`: entry {} names an op or a thread that is not there", i);
    }
    if (span.end < span.begin) {
      return fmt::format("`trace`: entry {} ends before it begins", i);
    }
  }
  return {};
}

// The schema comes first: fields of another one would only be missing or too many.
std::string schema_problem(const Json& json) {
  const auto kind = json.find("kind");
  const auto schema = json.find("schema");
  if (kind == json.end() || *kind != kProfileKind || schema == json.end() ||
      !schema->is_number_integer()) {
    return fmt::format("no profile: expected `kind` \"{}\" and `schema` {}", kProfileKind,
                       Profile::kSchema);
  }
  if (*schema != Profile::kSchema) {
    return fmt::format(
        "a profile of schema {}, and this version reads schema {}; make it again with `mezzotint "
        "profile`",
        schema->dump(), Profile::kSchema);
  }
  return {};
}

}  // namespace

Result<Profile> read_profile(std::string_view json, std::string_view name) {
  const auto refused = [&](std::string_view what) { return invalid_input("{}: {}", name, what); };
  if (const std::string problem = json_beyond_limits(json, profile_limits::kBytes);
      !problem.empty()) {
    return refused(problem);
  }
  Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return refused("not a JSON object");
  }
  if (const std::string problem = schema_problem(parsed); !problem.empty()) {
    return refused(problem);
  }
  parsed.erase("kind");
  parsed.erase("schema");
  std::string problem;
  Profile profile;
  Reader reader(parsed, "", problem);
  visit_profile(reader, profile);
  reader.finish();
  if (problem.empty()) {
    problem = contradiction(profile);
  }
  if (!problem.empty()) {
    return refused(problem + "; make it again with `mezzotint profile`");
  }
  return profile;
}

}  // namespace mezzotint
