// Any bytes as a profile's JSON: either one clear error, or a profile that writes what reads back,
// and whose trace can be drawn.
#include <string>
#include <string_view>

#include "base/check.h"
#include "report/profile_json.h"
#include "report/trace_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  const auto profile =
      read_profile(std::string_view(reinterpret_cast<const char*>(data), size), "profile.json");
  if (!profile) {
    check(!profile.error().message.empty(), "an error says what is wrong");
    check(profile.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  const std::string text = profile_json(*profile);
  const auto again = read_profile(text, "profile.json");
  check(again.ok() && profile_json(*again) == text, "what was read is written and read alike");
  check(!trace_json(*profile).empty(), "a profile that was read has a trace");
  return 0;
}
