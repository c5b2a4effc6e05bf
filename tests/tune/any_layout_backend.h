// The processor's backend with one more implementation, which says that it computes convolutions in
// any layout: no other takes row-major activations by itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "support/extended_backend.h"

namespace mezzotint::testing {

class AnyLayout final : public Implementation {
 public:
  std::string_view name() const override { return "test.any_layout"; }
  std::optional<std::string> refusal(const OpView& /*view*/,
                                     const Target& /*target*/) const override {
    return std::nullopt;
  }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& /*view*/,
                                          const Target& /*target*/) const override {
    return Error{ErrorCode::kUnsupported, "only its answers are used"};
  }
};

class AnyLayoutBackend final : public ExtendedBackend {
 public:
  AnyLayoutBackend() : ExtendedBackend(make_cpu_backend(), std::make_unique<AnyLayout>()) {}
};

}  // namespace mezzotint::testing
