#include "pipeline/json_keys.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace mezzotint {
namespace {

// Stops at the first key that its object has already. (The parser's callback would do, too, but
// then each object's end costs a walk over all that is in its parent: minutes for a hostile file.)
class KeyReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] const std::optional<std::string>& repeated() const { return repeated_; }

  bool key(std::string& text) override {
    if (!open_.back().insert(text).second) {
      repeated_ = text;
    }
    return !repeated_;
  }
  bool start_object(std::size_t /*elements*/) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return true; }
  bool string(std::string& /*text*/) override { return true; }
  bool binary(binary_t& /*bytes*/) override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> repeated_;
};

}  // namespace

std::optional<std::string> repeated_key(std::string_view json) {
  KeyReader reader;
  nlohmann::json::sax_parse(json, &reader);
  return reader.repeated();
}

}  // namespace mezzotint
