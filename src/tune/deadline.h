// When work has to be over.
#pragma once

#include <chrono>
#include <limits>

namespace mezzotint {

class Deadline {
 public:
  // Never.
  Deadline() = default;
  // So many seconds from now.
  explicit Deadline(double seconds) : Deadline(std::chrono::steady_clock::now(), seconds) {}

  // This many seconds earlier.
  [[nodiscard]] Deadline before(double seconds) const { return {start_, seconds_ - seconds}; }
  // In seconds; negative when it is over.
  [[nodiscard]] double left() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return seconds_ - elapsed.count();
  }
  [[nodiscard]] bool is_over() const { return left() <= 0; }

 private:
  Deadline(std::chrono::steady_clock::time_point start, double seconds)
      : start_(start), seconds_(seconds) {}

  std::chrono::steady_clock::time_point start_;
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace mezzotint
