// Where exceptions end: standard containers throw when memory runs out, the library's callers see
// errors as values.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace mezzotint {

// body(), which returns a Result. What it owned is released before an exception becomes an error:
// kResource when memory could not be had, else kInternal.
template <typename Body>
[[nodiscard]] auto no_throw(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return resource_error(
        "not enough memory: this process may not have as much as predicted; choose a smaller "
        "--size "
        "or free some memory");
  } catch (const std::length_error&) {
    return resource_error("not enough memory: an array would be longer than this machine allows");
  } catch (const std::exception& error) {
    return make_error(ErrorCode::kInternal, "internal error: {}; please report it", error.what());
  }
}

}  // namespace mezzotint
