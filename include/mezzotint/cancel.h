// Cooperative cancellation: set from a signal handler or another thread, read between ops.
#pragma once

#include <atomic>

namespace mezzotint {

class CancelToken {
 public:
  // Async-signal-safe.
  void request() { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace mezzotint
