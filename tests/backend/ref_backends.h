// The backends that every parity test of an op runs on: one line each.
#pragma once

#include <memory>
#include <string_view>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"

namespace mezzotint::testing {

struct BackendUnderTest {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
  Layout activations;  // of rank 5
};

inline constexpr BackendUnderTest kBackendsUnderTest[] = {
    {"ref", make_ref_backend, Layout::kRowMajor},
    {"cpu", make_cpu_backend, Layout::kChannelsLast},
};

}  // namespace mezzotint::testing
