// check() guards against our own bugs; bad input goes through Result instead.
#pragma once

namespace mezzotint {

// The place is the caller's. Builtins, since clang 14 has no std::source_location.
[[noreturn]] void check_failed(const char* what, const char* file = __builtin_FILE(),
                               unsigned line = __builtin_LINE());

// Aborts with the file, the line and `what` when `condition` is false.
inline void check(bool condition, const char* what, const char* file = __builtin_FILE(),
                  unsigned line = __builtin_LINE()) {
  if (!condition) [[unlikely]] {
    check_failed(what, file, line);
  }
}

}  // namespace mezzotint
