#include "formats/json_limits.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/quote.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostValues = std::size_t{1} << 23;

// A parser's callback would do for both, but then each object's end costs a walk over all that is
// in its parent: minutes for a hostile file.
class KindHandler : public nlohmann::json_sax<Json> {
 public:
  [[nodiscard]] const std::optional<std::string>& kind() const { return kind_; }

  bool start_object(std::size_t /*elements*/) override { return open(); }
  bool start_array(std::size_t /*elements*/) override { return depth_ > 0 && open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& text) override {
    is_next_ = depth_ == 1 && text == "kind";
    return true;
  }

  bool null() override { return go_on(); }
  bool boolean(bool /*value*/) override { return go_on(); }
  bool number_integer(std::int64_t /*value*/) override { return go_on(); }
  bool number_unsigned(std::uint64_t /*value*/) override { return go_on(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return go_on(); }
  bool string(std::string& text) override {
    if (is_next_) {
      kind_ = text;
    }
    return go_on();
  }
  bool binary(Json::binary_t& /*value*/) override { return go_on(); }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    return false;
  }

 private:
  [[nodiscard]] bool go_on() const { return !is_next_; }
  bool open() {
    ++depth_;
    return go_on();
  }
  bool close() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  bool is_next_ = false;  // the value behind the key "kind"
  std::optional<std::string> kind_;
};

class LimitsHandler : public nlohmann::json_sax<Json> {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool start_object(std::size_t /*elements*/) override { return open(); }
  bool start_array(std::size_t /*elements*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& text) override {
    return keys_.back().insert(text).second || fail(in_quotes(text) + " is there twice");
  }

  bool null() override { return count(); }
  bool boolean(bool /*value*/) override { return count(); }
  bool number_integer(std::int64_t /*value*/) override { return count(); }
  bool number_unsigned(std::uint64_t /*value*/) override { return count(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return count(); }
  bool string(std::string& /*text*/) override { return count(); }
  bool binary(Json::binary_t& /*value*/) override { return count(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    return fail(fmt::format("not JSON at byte {}", position));
  }

 private:
  bool open() {
    keys_.emplace_back();
    return (keys_.size() <= kDeepest || fail(fmt::format("nested deeper than {}", kDeepest))) &&
           count();
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  bool count() {
    return ++values_ <= kMostValues || fail(fmt::format("more than {} values", kMostValues));
  }
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  std::vector<std::set<std::string>> keys_;  // of each object or array that is open
  std::size_t values_ = 0;
  std::string problem_;
};

}  // namespace

std::optional<std::string> json_kind(std::string_view text) {
  KindHandler handler;
  Json::sax_parse(text, &handler);
  return handler.kind();
}

std::string json_beyond_limits(std::string_view text, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    return fmt::format("{} bytes, expected at most {}", text.size(), most_bytes);
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fmt::format("not JSON at byte {}", nul + 1);
  }
  LimitsHandler handler;
  return Json::sax_parse(text, &handler) ? std::string() : handler.problem();
}

}  // namespace mezzotint
