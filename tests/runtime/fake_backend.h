// A backend that only decides: what it accepts, what work that is, what it costs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"

namespace mezzotint::testing {

struct FakeImplementation final : Implementation {
  std::string id;
  std::function<std::optional<std::string>(const OpView&)> refuse;
  std::function<Work(const OpView&)> does;  // empty: the direct form

  std::string_view name() const override { return id; }
  std::optional<std::string> refusal(const OpView& view, const Target& /*target*/) const override {
    return refuse(view);
  }
  Work work(const OpView& view, const Target& target) const override {
    return does ? does(view) : Implementation::work(view, target);
  }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& /*view*/,
                                          const Target& /*target*/) const override {
    return unsupported("a fake implementation computes nothing");
  }
};

// Every implementation is asked for every op.
class FakeBackend final : public Backend {
 public:
  // `gflops` and `gbytes` of one thread, without a launch cost.
  FakeImplementation& offer(std::string name, double gflops, double gbytes) {
    auto made = std::make_unique<FakeImplementation>();
    made->id = std::move(name);
    made->refuse = [](const OpView&) { return std::nullopt; };
    rows_.push_back({Isa::kAvx2, made->id, gflops, gbytes, 0});
    costs_ = CostTable(rows_);
    all_.push_back(made.get());
    owned_.push_back(std::move(made));
    return *owned_.back();
  }

  std::string_view name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  std::span<const Implementation* const> implementations(OpKind /*kind*/) const override {
    return all_;
  }
  const CostTable& costs() const override { return costs_; }

 private:
  std::vector<std::unique_ptr<FakeImplementation>> owned_;
  std::vector<const Implementation*> all_;
  std::vector<CostRow> rows_;
  CostTable costs_{{}};
};

}  // namespace mezzotint::testing
