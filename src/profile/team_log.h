// What a thread team does, kept by worker without locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_team.h"

namespace mezzotint {

// Everything is about the loops since clear(). Ask only while no loop runs; loops must not nest.
class TeamLog final : public TeamListener {
 public:
  struct Span {
    int thread = 0;
    Time begin;
    Time end;
  };

  explicit TeamLog(int threads);

  void on_loop(std::int64_t tasks) override;
  void on_task(int thread, Time begin, Time end) override;

  void clear();
  [[nodiscard]] int threads() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] std::int64_t loops() const { return loops_; }
  [[nodiscard]] std::int64_t tasks() const { return tasks_; }
  // In tasks, by thread.
  [[nodiscard]] std::vector<double> busy_seconds() const;
  // Of the threads' time in all loops, each as long as its busiest thread's tasks take: the share
  // in which they have none. 0 without loops.
  [[nodiscard]] double imbalance() const;
  // Those of one thread in the order in which they ran, one thread after the other.
  [[nodiscard]] std::vector<Span> spans() const;

 private:
  struct Interval {
    Time begin;
    Time end;
  };
  // On cache lines of its own, since all workers append at once.
  struct alignas(64) Worker {
    std::vector<Interval> tasks;
    std::vector<std::size_t> loop_starts;  // where each loop's tasks begin
  };

  std::int64_t loops_ = 0;
  std::int64_t tasks_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace mezzotint
