#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace mezzotint {

void check_failed(const char* what, const char* file, unsigned line) {
  std::fprintf(stderr, "mezzotint: internal error at %s:%u: %s\n", file, line, what);
  std::abort();
}

}  // namespace mezzotint
