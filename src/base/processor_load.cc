#include "base/processor_load.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "base/system.h"

namespace mezzotint {
namespace {

// "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", in ticks; guests are part of USER.
struct Line {
  std::string name;
  double total = 0;
  double idle = 0;
};

std::optional<Line> parse(const std::string& text) {
  constexpr int kColumns = 8;
  std::istringstream stream(text);
  Line line;
  stream >> line.name;
  for (int column = 0; column < kColumns; ++column) {
    double ticks = 0;
    if (!(stream >> ticks)) {
      return std::nullopt;
    }
    line.total += ticks;
    line.idle += column == 3 || column == 4 ? ticks : 0;
  }
  return line;
}

}  // namespace

std::optional<ProcessorTimes> processor_times(std::span<const int> processors,
                                              const std::filesystem::path& root) {
  std::ifstream file(root / "proc/stat");
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ProcessorTimes times;
  std::size_t found = 0;
  for (std::string text; std::getline(file, text) && text.starts_with("cpu");) {
    const auto line = parse(text);
    const auto is_it = [&](int number) { return line->name == "cpu" + std::to_string(number); };
    if (line && std::ranges::any_of(processors, is_it)) {
      ++found;
      times.total += line->total / ticks;
      times.busy += (line->total - line->idle) / ticks;
    }
  }
  if (processors.empty() || found != processors.size()) {
    return std::nullopt;
  }
  times.own = process_cpu_seconds();
  return times;
}

std::optional<double> share_left(const ProcessorTimes& before, const ProcessorTimes& after,
                                 int processors, int threads) {
  constexpr double kLeastSeconds = 0.3;
  const double seconds = (after.total - before.total) / processors;
  if (seconds < kLeastSeconds) {
    return std::nullopt;
  }
  const double others = (after.busy - before.busy) - (after.own - before.own);
  const double left = processors - std::max(0.0, others) / seconds;
  return std::clamp(left / std::min(processors, threads), 0.0, 1.0);
}

}  // namespace mezzotint
