#include "base/system.h"

#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cpuid.h>
#include <algorithm>
#include <ctime>
#include <fstream>

#include "base/cgroup.h"
#include "base/error.h"

namespace mezzotint {
namespace {

// CPUID leaf 7, EDX: AMX-BF16 (22), AMX-TILE (24), AMX-INT8 (25); XCR0: the operating system saves
// tile configuration (17) and tile data (18). XGETBV exists wherever AVX2 may be used.
bool has_amx() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kBits = (1u << 22) | (1u << 24) | (1u << 25);
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kBits) != kBits) {
    return false;
  }
  constexpr unsigned kTileState = (1u << 17) | (1u << 18);
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return (eax & kTileState) == kTileState;
}

// CPUID leaf 1, ECX bit 29; gcc 12's __builtin_cpu_supports does not know it.
bool has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 29)) != 0;
}

// The bytes after a key such as "VmRSS:" in a file of /proc that counts in KiB.
std::optional<std::uint64_t> bytes_after(std::string_view key, const char* path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(key)) {
      return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    }
  }
  return std::nullopt;
}

std::uint64_t status_bytes(std::string_view key) {
  return bytes_after(key, "/proc/self/status").value_or(0);
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
    case Isa::kAmx: return "amx";
  }
  return "unknown";
}

std::optional<Isa> isa_from_name(std::string_view name) {
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) {
    if (name_of(isa) == name) {
      return isa;
    }
  }
  return std::nullopt;
}

Result<Isa> detect_isa() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !has_f16c()) {
    return unsupported("{}: needs AVX2 and FMA (Intel Haswell or AMD Zen, 2013 or later)",
                       processor_name());
  }
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
  if (!avx512) {
    return Isa::kAvx2;
  }
  return has_amx() ? Isa::kAmx : Isa::kAvx512;
}

// CPUID leaf 7, subleaf 1, EAX bit 5.
bool has_avx512_bf16() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << 5)) != 0;
}

bool request_amx_tiles() {
  constexpr long kArchReqXcompPerm = 0x1023;  // asm/prctl.h of Linux 5.16
  constexpr long kTileData = 18;              // the state's number in XCR0
  return has_amx() && ::syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData) == 0;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos) {
        return line.substr(colon + 2);
      }
    }
  }
  return "unknown processor";
}

std::int64_t l2_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : std::int64_t{1} << 20;
}

std::uint64_t memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_size = ::sysconf(_SC_PAGE_SIZE);
  const std::uint64_t physical =
      pages > 0 && page_size > 0
          ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size)
          : UINT64_MAX;
  return std::min(physical, cgroup_memory_limit().value_or(physical));
}

std::uint64_t available_memory() {
  const std::uint64_t limit = memory_limit();
  return std::min(limit, bytes_after("MemAvailable:", "/proc/meminfo").value_or(limit));
}

double process_cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::uint64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

std::uint64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

bool reset_peak_resident_bytes() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace mezzotint
