#include "backend/single_op.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "support/random_fill.h"

namespace mezzotint::testing {
namespace {

// What the law may read for the random samples of one output; corners and seams come besides. Many
// ops are checked, and under emulation, too.
constexpr std::int64_t kReadBudget = 1'000'000;

AlignedBuffer allocate_nan(std::size_t bytes) {
  auto buffer = AlignedBuffer::allocate(bytes);
  check(buffer.ok(), "no memory for a test tensor");
  std::memset(buffer->data(), 0xff, bytes);
  return *std::move(buffer);
}

// Parameters are the op's inputs of that name.
class InputParameters final : public ParameterSource {
 public:
  InputParameters(const OpView& view, const std::vector<AlignedBuffer>& inputs)
      : view_(view), inputs_(inputs) {}
  Status read(std::string_view name, std::span<float> out) override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (view_.input(i).name == name &&
          view_.input(i).type.shape.elements() == static_cast<std::int64_t>(out.size())) {
        std::copy_n(inputs_[i].as<float>().begin(), out.size(), out.begin());
        return {};
      }
    }
    return invalid_input("no parameter {} of {} elements", name, out.size());
  }

 private:
  OpView view_;
  const std::vector<AlignedBuffer>& inputs_;
};

std::vector<Buffer> buffers_of(const std::vector<AlignedBuffer>& values) {
  std::vector<Buffer> buffers;
  for (const AlignedBuffer& value : values) {
    buffers.push_back({value.data()});
  }
  return buffers;
}

}  // namespace

AlignedBuffer SingleOp::filled(std::int64_t count, float low, float high) {
  AlignedBuffer buffer = allocate_nan(static_cast<std::size_t>(count) * sizeof(float));
  const std::vector<float> values = random_floats(count, 17 + ids_.size(), low, high);
  std::copy(values.begin(), values.end(), buffer.as<float>().begin());
  return buffer;
}

ValueId SingleOp::input(const Shape& shape, Layout layout, float low, float high) {
  inputs_.push_back(filled(shape.elements(), low, high));
  ids_.push_back(graph_.add_input(fmt::format("v{}", ids_.size()),
                                  ValueType{shape, DType::kF32, layout}, Rate::kStep));
  return ids_.back();
}

ValueId SingleOp::moments(std::int64_t samples, std::int64_t channels) {
  const Shape shape{samples, channels, 2};
  const std::vector<float> values = random_floats(shape.elements(), 17 + ids_.size(), -1, 1);
  inputs_.push_back(allocate_nan(values.size() * sizeof(double)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    inputs_.back().as<double>()[i] = i % 2 == 0 ? values[i] : 1.5 + values[i];
  }
  ids_.push_back(graph_.add_input(fmt::format("v{}", ids_.size()),
                                  ValueType{shape, DType::kF64, Layout::kRowMajor}, Rate::kStep));
  return ids_.back();
}

ValueId SingleOp::indices(std::span<const std::int32_t> values) {
  inputs_.push_back(allocate_nan(values.size_bytes()));
  std::ranges::copy(values, inputs_.back().as<std::int32_t>().begin());
  const Shape shape{static_cast<std::int64_t>(values.size())};
  ids_.push_back(graph_.add_input(fmt::format("v{}", ids_.size()),
                                  ValueType{shape, DType::kI32, Layout::kRowMajor}, Rate::kStep));
  return ids_.back();
}

ValueId SingleOp::parameter(const Shape& shape, float low, float high) {
  inputs_.push_back(filled(shape.elements(), low, high));
  ids_.push_back(graph_.add_parameter(fmt::format("v{}", ids_.size()), shape));
  return ids_.back();
}

void SingleOp::op(OpKind kind, Attributes attributes, std::shared_ptr<const Graph> body) {
  const auto id = graph_.add_op({kind, "op", std::move(attributes), ids_, {}, std::move(body)});
  ASSERT_TRUE(id.ok()) << id.error().message;
  for (std::size_t i = 0; i < graph_.op(0).outputs.size(); ++i) {
    outputs_.push_back(allocate_nan(static_cast<std::size_t>(view().output(i).type.bytes())));
  }
}

std::span<const std::byte> SingleOp::output_bytes(std::size_t i) const {
  return {outputs_[i].data(), outputs_[i].size()};
}

Status SingleOp::run(const Implementation& implementation, const Machine& machine,
                     std::optional<std::size_t> alias) {
  const Target target{machine, Precision::kFast};  // which refuses least
  if (const auto refusal = implementation.refusal(view(), target)) {
    return unsupported("{} refuses: {}", implementation.name(), *refusal);
  }
  auto kernel = implementation.prepare(view(), target);
  if (!kernel) {
    return kernel.error();
  }
  InputParameters parameters(view(), inputs_);
  if (Status status = (*kernel)->load(parameters); !status) {
    return status;
  }
  for (const AlignedBuffer& output : outputs_) {
    std::memset(output.data(), 0xff, output.size());
  }
  std::vector<Buffer> inputs = buffers_of(inputs_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (view().input(i).kind == ValueKind::kParameter) {
      inputs[i].data = nullptr;
    }
  }
  if (alias) {
    std::memcpy(outputs_[0].data(), inputs_[*alias].data(), outputs_[0].size());
    inputs[*alias].data = outputs_[0].data();
  }
  const std::vector<Buffer> outputs = buffers_of(outputs_);
  const AlignedBuffer workspace = allocate_nan((*kernel)->workspace_bytes());
  const ThreadTeam team(machine.threads);
  const ComputeScope scope(team);
  (*kernel)->launch({inputs, outputs, workspace.data(), team});
  return {};
}

SampleReport SingleOp::check(std::size_t output) const {
  SampleOptions options;
  options.read_budget = kReadBudget;
  return sample_check(view(), output, buffers_of(inputs_), buffers_of(outputs_), ThreadTeam(2),
                      options);
}

std::vector<Isa> runnable_isas() {
  const auto best = detect_isa();
  check(best.ok(), "tests need AVX2");
  return *best == Isa::kAvx2 ? std::vector{Isa::kAvx2} : std::vector{Isa::kAvx2, Isa::kAvx512};
}

Machine machine_with(Isa isa, int threads) {
  Machine machine;
  machine.isa = isa;
  machine.threads = threads;
  machine.avx512_bf16 = has_avx512_bf16();
  return machine;
}

void expect_within_sum_bound(const SampleReport& report, std::int64_t terms,
                             const std::string& what) {
  const double bound = std::ldexp(1.0, -24) * (1.0 + std::sqrt(static_cast<double>(terms)));
  EXPECT_GT(report.rms_truth, 0.0) << what;
  EXPECT_LE(report.relative_l2, bound) << what;
  EXPECT_LE(report.max_abs_error,
            8.0 * bound * report.rms_truth + std::ldexp(report.max_abs_truth, -23))
      << what;
}

}  // namespace mezzotint::testing
