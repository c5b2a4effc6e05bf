#include "report/json_limits.h"

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

std::string json_beyond_limits(std::string_view text, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    return fmt::format("{} bytes, expected at most {}", text.size(), most_bytes);
  }
  LimitsHandler handler;
  return Json::sax_parse(text, &handler) ? std::string() : handler.problem();
}

}  // namespace mezzotint
