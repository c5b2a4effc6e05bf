#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/thread_team.h"

namespace mezzotint {
namespace {

struct Report {
  int thread = 0;
  TeamListener::Time begin;
  TeamListener::Time end;
};

class Collector final : public TeamListener {
 public:
  void on_loop(std::int64_t tasks) override { loops_.push_back(tasks); }
  void on_task(int thread, Time begin, Time end) override {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back({thread, begin, end});
  }

  [[nodiscard]] const std::vector<std::int64_t>& loops() const { return loops_; }
  [[nodiscard]] const std::vector<Report>& tasks() const { return tasks_; }

 private:
  std::vector<std::int64_t> loops_;
  std::mutex mutex_;
  std::vector<Report> tasks_;
};

TEST(TeamListener, HearsEachLoopAndEachTaskOnce) {
  for (const int threads : {1, 3}) {
    for (const std::int64_t count : {1, 2, 100}) {
      Collector collector;
      const ThreadTeam team(threads, &collector);
      std::atomic<int> ran{0};
      const auto before = std::chrono::steady_clock::now();
      team.parallel_for(count, [&](std::int64_t) { ++ran; });
      team.parallel_for_slots(count, 2, [&](std::int64_t, std::int64_t) { ++ran; });
      const auto after = std::chrono::steady_clock::now();
      EXPECT_EQ(ran, 2 * count);
      EXPECT_EQ(collector.loops(), (std::vector<std::int64_t>{count, count}));
      ASSERT_EQ(collector.tasks().size(), static_cast<std::size_t>(2 * count));
      for (const Report& task : collector.tasks()) {
        EXPECT_GE(task.thread, 0);
        EXPECT_LT(task.thread, threads);
        EXPECT_LE(before, task.begin);
        EXPECT_LE(task.begin, task.end);
        EXPECT_LE(task.end, after);
      }
    }
  }
}

TEST(TeamListener, HearsNothingOfALoopWithoutTasks) {
  Collector collector;
  const ThreadTeam team(2, &collector);
  team.parallel_for(0, [](std::int64_t) {});
  team.parallel_for_slots(0, 2, [](std::int64_t, std::int64_t) {});
  EXPECT_TRUE(collector.loops().empty());
  EXPECT_TRUE(collector.tasks().empty());
}

// Tasks of one thread follow each other.
TEST(TeamListener, TasksOfAThreadDoNotOverlap) {
  Collector collector;
  const ThreadTeam team(3, &collector);
  team.parallel_for(200, [](std::int64_t) {});
  for (int thread = 0; thread < 3; ++thread) {
    std::vector<Report> own;
    std::ranges::copy_if(collector.tasks(), std::back_inserter(own),
                         [&](const Report& task) { return task.thread == thread; });
    std::ranges::sort(own, {}, [](const Report& task) { return task.begin; });
    for (std::size_t i = 1; i < own.size(); ++i) {
      EXPECT_LE(own[i - 1].end, own[i].begin);
    }
  }
}

}  // namespace
}  // namespace mezzotint
