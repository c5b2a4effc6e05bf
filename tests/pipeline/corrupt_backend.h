// A backend that is right but for one op: what a check must find.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace mezzotint::testing {

// Changes output 0 of an op after the right kernel has computed it.
using Corruption = std::function<void(const ValueType& type, const Buffer& output)>;

class CorruptBackend final : public Backend {
 public:
  // `op` is an op's name in the lowered graph.
  CorruptBackend(std::unique_ptr<Backend> right, std::string op, Corruption corruption)
      : right_(std::move(right)), op_(std::move(op)), corruption_(std::move(corruption)) {
    for (const OpKind kind : kAllOpKinds) {
      for (const Implementation* implementation : right_->implementations(kind)) {
        owned_.push_back(std::make_unique<CorruptImplementation>(*implementation, *this));
        lists_[kind].push_back(owned_.back().get());
      }
    }
  }

  [[nodiscard]] std::string_view name() const override { return right_->name(); }
  [[nodiscard]] std::string description() const override { return right_->description(); }
  [[nodiscard]] std::span<const Implementation* const> implementations(OpKind kind) const override {
    const auto found = lists_.find(kind);
    return found == lists_.end() ? std::span<const Implementation* const>() : found->second;
  }
  [[nodiscard]] const CostTable& costs() const override { return right_->costs(); }

 private:
  class CorruptKernel final : public Kernel {
   public:
    CorruptKernel(std::unique_ptr<Kernel> right, ValueType type, const Corruption& corruption)
        : right_(std::move(right)), type_(std::move(type)), corruption_(corruption) {}

    [[nodiscard]] std::size_t workspace_bytes() const override { return right_->workspace_bytes(); }
    [[nodiscard]] std::size_t packed_bytes() const override { return right_->packed_bytes(); }
    [[nodiscard]] std::size_t load_bytes() const override { return right_->load_bytes(); }
    [[nodiscard]] AliasableInputs aliasable_inputs() const override {
      return right_->aliasable_inputs();
    }
    Status load(ParameterSource& source) override { return right_->load(source); }
    void launch(const LaunchContext& context) const override {
      right_->launch(context);
      corruption_(type_, context.outputs[0]);
    }

   private:
    std::unique_ptr<Kernel> right_;
    ValueType type_;
    const Corruption& corruption_;
  };

  class CorruptImplementation final : public Implementation {
   public:
    CorruptImplementation(const Implementation& right, const CorruptBackend& backend)
        : right_(right), backend_(backend) {}

    [[nodiscard]] std::string_view name() const override { return right_.name(); }
    [[nodiscard]] std::optional<std::string> refusal(const OpView& view,
                                                     const Target& target) const override {
      return right_.refusal(view, target);
    }
    [[nodiscard]] Work work(const OpView& view, const Target& target) const override {
      return right_.work(view, target);
    }
    [[nodiscard]] double error_growth(const OpView& view) const override {
      return right_.error_growth(view);
    }
    [[nodiscard]] Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                                          const Target& target) const override {
      auto kernel = right_.prepare(view, target);
      if (!kernel || view.op.name != backend_.op_) {
        return kernel;
      }
      return std::unique_ptr<Kernel>(std::make_unique<CorruptKernel>(
          std::move(*kernel), view.output().type, backend_.corruption_));
    }

   private:
    const Implementation& right_;
    const CorruptBackend& backend_;
  };

  std::unique_ptr<Backend> right_;
  std::string op_;
  Corruption corruption_;
  std::vector<std::unique_ptr<Implementation>> owned_;
  std::map<OpKind, std::vector<const Implementation*>> lists_;
};

}  // namespace mezzotint::testing
