// Shorthands for building an Error with a formatted line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "mezzotint/result.h"

namespace mezzotint {

template <typename... Args>
Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename... Args>
Error invalid_input(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kInvalidInput, format, std::forward<Args>(args)...);
}

template <typename... Args>
Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kUnsupported, format, std::forward<Args>(args)...);
}

template <typename... Args>
Error resource_error(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::kResource, format, std::forward<Args>(args)...);
}

}  // namespace mezzotint
