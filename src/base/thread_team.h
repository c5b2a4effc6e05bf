// The one thread team. OpenMP (gcc's) so that our loops and the vendor library share its workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace mezzotint {

// Processors this process may use: affinity mask, capped by the cgroups' CPU quota (rounded up).
[[nodiscard]] int available_processors();

class ThreadTeam {
 public:
  // threads <= 0 means available_processors().
  explicit ThreadTeam(int threads = 0);

  [[nodiscard]] int size() const { return size_; }

  // Calls body(i) for each i in [0, count), in any order, on any worker. Each worker takes
  // the next index when it is free, so body(i) should be worth a block of work; results must not
  // depend on which worker runs which index (reduce by index, never by worker).
  template <typename Body>
  void parallel_for(std::int64_t count, const Body& body) const {
    if (size_ == 1 || count <= 1) {
      for (std::int64_t i = 0; i < count; ++i) {
        body(i);
      }
      return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(size_)
    for (std::int64_t i = 0; i < count; ++i) {
      body(i);
    }
  }

  // The same for bodies that need scratch memory: calls body(i, slot) with slot in [0, slots), and
  // no two calls at one time have the same slot. At most `slots` workers take part.
  template <typename Body>
  void parallel_for_slots(std::int64_t count, std::int64_t slots, const Body& body) const {
    std::atomic<std::int64_t> next{0};
    parallel_for(slots, [&](std::int64_t slot) {
      for (std::int64_t i = next++; i < count; i = next++) {
        body(i, slot);
      }
    });
  }

 private:
  int size_ = 1;
};

// While alive: the calling thread and every worker flush denormals to zero, and OpenMP regions
// opened by the calling thread (the vendor library's too) use team.size() threads. Restores both on
// destruction.
class ComputeScope {
 public:
  explicit ComputeScope(const ThreadTeam& team);
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

 private:
  int size_;
  int previous_threads_;
  std::vector<unsigned> previous_states_;  // MXCSR of each worker; the caller is worker 0
};

}  // namespace mezzotint
