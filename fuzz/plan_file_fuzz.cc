// Any bytes as a plan: either one clear error, or a plan that reads back as the same from what is
// written of it.
#include <algorithm>
#include <string>

#include "base/check.h"
#include "memory_file.h"
#include "pipeline/plan_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  const fuzz::MemoryFile memory(std::span(data, size));
  const auto plan = read_plan(memory.path());
  if (!plan) {
    check(!plan.error().message.empty(), "an error says what is wrong");
    check(plan.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  check(std::ranges::all_of(plan->subject.grid,
                            [](std::int64_t side) { return side >= 1 && side <= 4096; }),
        "sides are 1 to 4096");
  const Status fits = check_plan_fits(*plan, plan->subject);
  check(fits.ok(), "a plan fits what it is for");

  const std::string text = plan_json(*plan);
  const fuzz::MemoryFile written(
      std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  const auto again = read_plan(written.path());
  check(again.ok(), "what is written is a plan");
  check(again->plan.entries == plan->plan.entries && again->plan.layout == plan->plan.layout,
        "what is written is the same plan");
  check(plan_json(*again) == text, "it is written in one way");
  return 0;
}
