#include "base/thread_team.h"

#include <immintrin.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace mezzotint {
namespace {

constexpr unsigned kFlushBits = 0x8040;  // MXCSR: flush-to-zero and denormals-are-zero

// cgroup v2 cpu.max ("quota period" in microseconds, or "max"); 0 when there is no quota.
int cgroup_processors() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) {
    return 0;
  }
  char* end = nullptr;
  const double microseconds = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str() || microseconds <= 0) {
    return 0;
  }
  return std::max(1, static_cast<int>(std::ceil(microseconds / period)));
}

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = 1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    count = std::max(1, CPU_COUNT(&set));
  }
  const int quota = cgroup_processors();
  return quota > 0 ? std::min(count, quota) : count;
}

ThreadTeam::ThreadTeam(int threads) : size_(threads > 0 ? threads : available_processors()) {}

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
