// The one thread team. OpenMP (gcc's) so that our loops and the vendor library share its workers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace mezzotint {

// Processors this process may use: affinity mask, capped by the cgroups' CPU quota (rounded up).
[[nodiscard]] int available_processors();

// Hears what a team does. Bodies do not know.
class TeamListener {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~TeamListener() = default;
  // By the thread that opens a loop, before its first task.
  virtual void on_loop(std::int64_t tasks) = 0;
  // After each task, by the worker that ran it; other workers report theirs at the same time. All
  // reports of a loop come before the loop returns. `thread` is in [0, size()), the opener is 0.
  virtual void on_task(int thread, Time begin, Time end) = 0;
};

class ThreadTeam {
 public:
  // threads <= 0 means available_processors(). Teams of one size share their workers, whether they
  // are listened to or not.
  explicit ThreadTeam(int threads = 0, TeamListener* listener = nullptr);

  [[nodiscard]] int size() const { return size_; }

  // Calls body(i) for each i in [0, count), in any order, on any worker. Each worker takes
  // the next index when it is free, so body(i) should be worth a block of work; results must not
  // depend on which worker runs which index (reduce by index, never by worker).
  template <typename Body>
  void parallel_for(std::int64_t count, const Body& body) const {
    begin_loop(count);
    spread(count, [&](std::int64_t i) {
      const Task task(listener_);
      body(i);
    });
  }

  // The same for bodies that need scratch memory: calls body(i, slot) with slot in [0, slots), and
  // no two calls at one time have the same slot. At most `slots` workers take part.
  template <typename Body>
  void parallel_for_slots(std::int64_t count, std::int64_t slots, const Body& body) const {
    begin_loop(count);
    std::atomic<std::int64_t> next{0};
    spread(slots, [&](std::int64_t slot) {
      for (std::int64_t i = next++; i < count; i = next++) {
        const Task task(listener_);
        body(i, slot);
      }
    });
  }

 private:
  // Tells the listener, if there is one, how long it was alive and on which worker.
  class Task {
   public:
    explicit Task(TeamListener* listener) : listener_(listener) {
      if (listener_ != nullptr) {
        begin_ = std::chrono::steady_clock::now();
      }
    }
    ~Task() {
      if (listener_ != nullptr) {
        report();
      }
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

   private:
    void report() const;

    TeamListener* listener_;
    TeamListener::Time begin_;
  };

  void begin_loop(std::int64_t count) const {
    if (listener_ != nullptr && count > 0) {
      listener_->on_loop(count);
    }
  }

  template <typename Body>
  void spread(std::int64_t count, const Body& body) const {
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

  int size_ = 1;
  TeamListener* listener_ = nullptr;
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
