// Figures as sentences and tables show them.
#pragma once

#include <cstdint>
#include <string>

namespace mezzotint {

// "3.412 s", "12.35 ms", "8.1 us"; "-12.35 ms".
[[nodiscard]] std::string format_duration(double seconds);
// With its sign in any case: "+12.35 ms".
[[nodiscard]] std::string format_change(double seconds);
// Of a share of 1: "83 %", below ten "9.5 %".
[[nodiscard]] std::string format_percent(double share);
// "3.41 GB" (10^9 bytes), "80.76 MB", "1.024 kB", "512 bytes".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace mezzotint
