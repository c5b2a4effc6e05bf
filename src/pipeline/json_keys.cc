#include "pipeline/json_keys.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace mezzotint {
namespace {

using Json = nlohmann::json;

class RepeatedKey {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start: open_.emplace_back(); break;
      case Json::parse_event_t::object_end: open_.pop_back(); break;
      case Json::parse_event_t::key:
        if (!open_.back().insert(parsed.get<std::string>()).second && !found_) {
          found_ = parsed.get<std::string>();
        }
        break;
      default: break;
    }
    return true;
  }

  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> found_;
};

}  // namespace

std::optional<std::string> repeated_key(std::string_view json) {
  RepeatedKey finder;
  const Json parsed = Json::parse(json, std::ref(finder), /*allow_exceptions=*/false);
  return parsed.is_discarded() ? std::nullopt : finder.found();
}

}  // namespace mezzotint
