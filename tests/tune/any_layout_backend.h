// The processor's backend with one more implementation, which says that it computes convolutions in
// any layout: no other takes row-major activations by itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"

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

class AnyLayoutBackend final : public Backend {
 public:
  AnyLayoutBackend() {
    for (const OpKind kind : {OpKind::conv3d, OpKind::region}) {
      const auto right = right_->implementations(kind);
      lists_[kind].assign(right.begin(), right.end());
      lists_[kind].push_back(&any_);
    }
  }
  std::string_view name() const override { return right_->name(); }
  std::string description() const override { return right_->description(); }
  std::span<const Implementation* const> implementations(OpKind kind) const override {
    const auto found = lists_.find(kind);
    return found == lists_.end() ? right_->implementations(kind) : found->second;
  }
  const CostTable& costs() const override { return right_->costs(); }

 private:
  std::unique_ptr<Backend> right_ = make_cpu_backend();
  AnyLayout any_;
  std::map<OpKind, std::vector<const Implementation*>> lists_;
};

}  // namespace mezzotint::testing
