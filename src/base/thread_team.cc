#include "base/thread_team.h"

#include <immintrin.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cmath>

#include "base/cgroup.h"

namespace mezzotint {
namespace {

constexpr unsigned kFlushBits = 0x8040;  // MXCSR: flush-to-zero and denormals-are-zero

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = 1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    count = std::max(1, CPU_COUNT(&set));
  }
  const double quota = std::ceil(cgroup_processor_quota().value_or(count));
  return quota < count ? static_cast<int>(quota) : count;
}

ThreadTeam::ThreadTeam(int threads, TeamListener* listener)
    : size_(threads > 0 ? threads : available_processors()), listener_(listener) {}

void ThreadTeam::Task::report() const {
  listener_->on_task(omp_get_thread_num(), begin_, std::chrono::steady_clock::now());
}

// OpenMP keeps the workers of a team of one size, so each finds its own state again; scopes may
// nest.
ComputeScope::ComputeScope(const ThreadTeam& team)
    : size_(team.size()),
      previous_threads_(omp_get_max_threads()),
      previous_states_(static_cast<std::size_t>(team.size())) {
  omp_set_num_threads(size_);
#pragma omp parallel num_threads(size_)
  {
    const unsigned state = _mm_getcsr();
    previous_states_[static_cast<std::size_t>(omp_get_thread_num())] = state;
    _mm_setcsr(state | kFlushBits);
  }
}

ComputeScope::~ComputeScope() {
#pragma omp parallel num_threads(size_)
  _mm_setcsr(previous_states_[static_cast<std::size_t>(omp_get_thread_num())]);
  omp_set_num_threads(previous_threads_);
}

}  // namespace mezzotint
