// Errors as values: every fallible function of the library returns a Result.
//
// An Error carries one line for a person: what failed, where, what was expected, what to do.
// The library never prints, never exits and never throws across this boundary.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mezzotint {

enum class ErrorCode {
  kInvalidInput,  // a file, flag or shape that cannot be used as it is
  kNotFound,      // a path or a name that does not exist
  kUnsupported,   // well-formed, but not something this build or machine can do
  kResource,      // memory, disk space or a file that cannot be created
  kCancelled,     // the caller asked to stop
  kNumerics,      // a non-finite value appeared in a computation
  kInternal,      // a bug of this library
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;  // one line, no trailing newline
};

// Either a value or an Error. Reading the wrong side is a bug of the caller (std::get throws).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace mezzotint
