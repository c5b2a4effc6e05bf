#include "backend/ref/ref_backend.h"

#include <fmt/format.h>

#include <array>

#include "backend/ref/memory.h"
#include "backend/ref/pointwise.h"
#include "base/check.h"

namespace mezzotint {
namespace {

// A graph of this op alone, so that a kernel outlives the graph it was prepared from.
Result<Graph> isolate(const OpView& view) {
  Graph graph;
  Op op = view.op;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Value& value = view.input(i);
    op.inputs[i] = graph.add_input(fmt::format("input {}", i), value.type, value.rate);
  }
  if (auto added = graph.add_op(std::move(op)); !added) {
    return added.error();
  }
  return graph;
}

class RefKernel : public Kernel {
 public:
  RefKernel(Graph graph, std::vector<std::string> parameters)
      : graph_(std::move(graph)),
        parameters_(std::move(parameters)),
        weights_(parameters_.size()) {}

  std::size_t packed_bytes() const override {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].empty()) {
        bytes += static_cast<std::size_t>(view().input(i).type.bytes());
      }
    }
    return bytes;
  }

  Status load(ParameterSource& source) override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].empty()) {
        continue;
      }
      weights_[i].resize(static_cast<std::size_t>(view().input(i).type.shape.elements()));
      if (Status status = source.read(parameters_[i], weights_[i]); !status) {
        return status;
      }
    }
    return {};
  }

  void launch(const LaunchContext& context) const override {
    std::vector<Buffer> inputs(context.inputs.begin(), context.inputs.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!parameters_[i].empty()) {
        // Elements are only ever read.
        inputs[i].data = reinterpret_cast<std::byte*>(const_cast<float*>(weights_[i].data()));
      }
    }
    std::vector<bool> stored(context.outputs.size(), false);
    for (std::size_t k = 0; k < context.outputs.size(); ++k) {
      const ref::MemoryElements elements(view(), inputs, context.outputs, stored);
      const ValueType& type = view().output(k).type;
      ref::for_each_element(type.shape, context.team,
                            [&](std::int64_t /*flat*/, const std::int64_t* index) {
                              ref::store_element(type, context.outputs[k].data, index,
                                                 ref::element_at(view(), k, index, elements));
                            });
      stored[k] = true;
    }
  }

 private:
  [[nodiscard]] OpView view() const { return {graph_, graph_.op(0)}; }

  Graph graph_;
  std::vector<std::string> parameters_;  // per input; empty for a value
  std::vector<std::vector<float>> weights_;
};

class RefLoops : public Implementation {
 public:
  std::string_view name() const override { return "ref.loops"; }

  std::optional<std::string> refusal(const OpView& /*view*/,
                                     const Target& /*target*/) const override {
    return std::nullopt;
  }

  Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                          const Target& /*target*/) const override {
    std::vector<std::string> parameters(view.input_count());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (view.input(i).kind == ValueKind::kParameter) {
        parameters[i] = view.input(i).name;
      }
    }
    Result<Graph> graph = isolate(view);
    if (!graph) {
      return graph.error();
    }
    return std::unique_ptr<Kernel>(
        std::make_unique<RefKernel>(*std::move(graph), std::move(parameters)));
  }
};

// One thread of a Zen 5 core: a 3x3x3 convolution of 64 channels, SiLU, and SiLU of one element.
constexpr CostRow kCosts[] = {{Isa::kAvx2, "ref.loops", 0.1, 0.13, 1e-7}};

class RefBackend : public Backend {
 public:
  std::string_view name() const override { return "ref"; }
  std::string description() const override { return "ref"; }
  std::span<const Implementation* const> implementations(OpKind /*kind*/) const override {
    return all_;
  }
  const CostTable& costs() const override { return costs_; }

 private:
  RefLoops loops_;
  std::array<const Implementation*, 1> all_{&loops_};
  CostTable costs_{kCosts};
};

}  // namespace

std::unique_ptr<Backend> make_ref_backend() {
  return std::make_unique<RefBackend>();
}

}  // namespace mezzotint
