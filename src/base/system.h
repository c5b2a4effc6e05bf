// What this machine and process offer: instruction sets and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mezzotint/result.h"

namespace mezzotint {

// Instruction sets that kernels are compiled for, weakest first. Each includes those before it.
enum class Isa : std::uint8_t { kAvx2, kAvx512, kAmx };

[[nodiscard]] std::string_view name_of(Isa isa);
[[nodiscard]] std::optional<Isa> isa_from_name(std::string_view name);

// The best instruction set of this processor (and operating system). kUnsupported when even AVX2
// with FMA is missing. kAvx2 means BMI, BMI2 and F16C besides; kAvx512 F, BW, DQ, VL and VNNI;
// kAmx tiles of bf16 and int8 whose state the operating system saves. Asks the system for nothing:
// the first user of tiles asks for Linux's permission with request_amx_tiles().
[[nodiscard]] Result<Isa> detect_isa();

// AVX512_BF16: dot products of pairs of bfloat16 on vectors. Not part of kAvx512, which older
// processors have without it.
[[nodiscard]] bool has_avx512_bf16();

// Linux's permission for this process to use tiles; false without AMX or when it is refused. Cheap
// when granted before; threads started earlier are included.
[[nodiscard]] bool request_amx_tiles();

// "AMD EPYC 9R14", from /proc/cpuinfo; "unknown processor" when absent.
[[nodiscard]] std::string processor_name();

// Level 2 cache of one core, in bytes; 1 MiB where the system does not say.
[[nodiscard]] std::int64_t l2_cache_bytes();

// Bytes this process may use: the smaller of physical memory and the cgroups' limit.
[[nodiscard]] std::uint64_t memory_limit();
// Bytes that can be had now without swapping: the smaller of what Linux calls MemAvailable and
// memory_limit().
[[nodiscard]] std::uint64_t available_memory();
// Processor time that all threads of this process have taken, in seconds.
[[nodiscard]] double process_cpu_seconds();
// High-water mark of the resident set, in bytes (VmHWM); 0 when unavailable.
[[nodiscard]] std::uint64_t peak_resident_bytes();
// Resident set now, in bytes (VmRSS); 0 when unavailable.
[[nodiscard]] std::uint64_t resident_bytes();
// Gives freed memory that the allocator keeps for later back to the system, so that
// resident_bytes() is what is in use.
void return_free_memory();
// Sets the high-water mark back to the present resident set. False when the kernel refuses.
bool reset_peak_resident_bytes();

}  // namespace mezzotint
