#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/profile_fields.h"
#include "report/profile_json.h"

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  [[nodiscard]] Json take() { return std::move(json_); }

  template <typename Limit>
  void number(const char* key, double value, Limit /*most*/) {
    json_[key] = value;
  }
  void optional_number(const char* key, std::optional<double> value, double /*most*/) {
    number_unless(!value, key, value.value_or(0), 0);
  }
  void number_unless(bool absent, const char* key, double value, double /*most*/) {
    json_[key] = absent ? Json(nullptr) : Json(value);
  }
  void numbers(const char* key, const std::vector<double>& values, std::size_t /*most_values*/,
               double /*most*/) {
    json_[key] = values;
  }
  template <typename T, typename Limit>
  void whole(const char* key, T value, Limit /*most*/) {
    json_[key] = value;
  }
  void whole_or_null(const char* key, std::uint64_t value, std::uint64_t /*most*/) {
    json_[key] = value == 0 ? Json(nullptr) : Json(value);
  }
  void text(const char* key, const std::string& value) { json_[key] = value; }
  void optional_text(const char* key, const std::string& value) {
    json_[key] = value.empty() ? Json(nullptr) : Json(value);
  }
  void texts(const char* key, const std::vector<std::string>& values, std::size_t /*most*/) {
    json_[key] = values;
  }
  void grid(const char* key, const std::array<std::int64_t, 3>& sides) { json_[key] = sides; }
  template <typename T, typename FromName>
  void named(const char* key, T value, FromName /*from_name*/) {
    json_[key] = std::string(name_of(value));
  }
  template <typename T, typename Visit>
  void object(const char* key, const T& value, Visit visit) {
    Writer part;
    visit(part, value);
    json_[key] = part.take();
  }
  template <typename T, typename Visit>
  void optional_object(const char* key, const std::optional<T>& value, Visit visit) {
    if (value) {
      object(key, *value, visit);
    } else {
      json_[key] = nullptr;
    }
  }
  template <typename T, typename Visit>
  void list(const char* key, const std::vector<T>& values, std::size_t /*most*/, Visit visit) {
    Json& entries = json_[key] = Json::array();
    for (const T& value : values) {
      Writer part;
      visit(part, value);
      entries.push_back(part.take());
    }
  }
  void trace(const char* key, const std::vector<TraceSpan>& spans, std::size_t /*most*/) {
    Json columns = {{"op", Json::array()},
                    {"thread", Json::array()},
                    {"begin", Json::array()},
                    {"end", Json::array()}};
    for (const TraceSpan& span : spans) {
      columns["op"].push_back(span.op);
      columns["thread"].push_back(span.thread);
      columns["begin"].push_back(span.begin);
      columns["end"].push_back(span.end);
    }
    json_[key] = std::move(columns);
  }

 private:
  Json json_ = Json::object();
};

}  // namespace

std::string profile_json(const Profile& profile) {
  Json json = {{"kind", Profile::kKind}, {"schema", Profile::kSchema}};
  Writer writer;
  visit_profile(writer, profile);
  json.update(writer.take());
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mezzotint
