#include "base/descriptor.h"

#include <unistd.h>

namespace mezzotint {

void Descriptor::close() {
  if (is_open()) {
    ::close(std::exchange(number_, -1));
  }
}

}  // namespace mezzotint
