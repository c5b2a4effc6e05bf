// A backend with one more implementation of convolutions, alone and in regions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace mezzotint::testing {

class ExtendedBackend : public Backend {
 public:
  // `further` comes last of each list.
  ExtendedBackend(std::unique_ptr<Backend> right, std::unique_ptr<Implementation> further)
      : right_(std::move(right)), further_(std::move(further)) {
    for (const OpKind kind : {OpKind::conv3d, OpKind::region}) {
      const auto right = right_->implementations(kind);
      lists_[kind].assign(right.begin(), right.end());
      lists_[kind].push_back(further_.get());
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
  std::unique_ptr<Backend> right_;
  std::unique_ptr<Implementation> further_;
  std::map<OpKind, std::vector<const Implementation*>> lists_;
};

}  // namespace mezzotint::testing
