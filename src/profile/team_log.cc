#include "profile/team_log.h"

#include <algorithm>

namespace mezzotint {
namespace {

double seconds_between(TeamListener::Time begin, TeamListener::Time end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

TeamLog::TeamLog(int threads) : workers_(static_cast<std::size_t>(threads)) {}

void TeamLog::on_loop(std::int64_t tasks) {
  ++loops_;
  tasks_ += tasks;
  for (Worker& worker : workers_) {
    worker.loop_starts.push_back(worker.tasks.size());
  }
}

void TeamLog::on_task(int thread, Time begin, Time end) {
  workers_[static_cast<std::size_t>(thread)].tasks.push_back({begin, end});
}

void TeamLog::clear() {
  loops_ = 0;
  tasks_ = 0;
  for (Worker& worker : workers_) {
    worker.tasks.clear();
    worker.loop_starts.clear();
  }
}

std::vector<double> TeamLog::busy_seconds() const {
  std::vector<double> busy;
  for (const Worker& worker : workers_) {
    double seconds = 0;
    for (const Interval& task : worker.tasks) {
      seconds += seconds_between(task.begin, task.end);
    }
    busy.push_back(seconds);
  }
  return busy;
}

double TeamLog::imbalance() const {
  double busy = 0;
  double available = 0;
  for (std::size_t loop = 0; loop < static_cast<std::size_t>(loops_); ++loop) {
    double busiest = 0;
    for (const Worker& worker : workers_) {
      const bool is_last = loop + 1 == worker.loop_starts.size();
      const std::size_t end = is_last ? worker.tasks.size() : worker.loop_starts[loop + 1];
      double seconds = 0;
      for (std::size_t i = worker.loop_starts[loop]; i < end; ++i) {
        seconds += seconds_between(worker.tasks[i].begin, worker.tasks[i].end);
      }
      busy += seconds;
      busiest = std::max(busiest, seconds);
    }
    available += busiest * threads();
  }
  return available > 0 ? 1 - busy / available : 0;
}

std::vector<TeamLog::Span> TeamLog::spans() const {
  std::vector<Span> spans;
  for (int thread = 0; thread < threads(); ++thread) {
    for (const Interval& task : workers_[static_cast<std::size_t>(thread)].tasks) {
      spans.push_back({thread, task.begin, task.end});
    }
  }
  return spans;
}

}  // namespace mezzotint
