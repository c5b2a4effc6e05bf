#include "pipeline/op_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rounding.h"

namespace mezzotint {
namespace {

// Interpolation, activations and norms: a few roundings, and exp to 2 ulp.
constexpr double kPointwiseTerms = 8;
// Number of terms that one element of a float32 output sums.
double terms(const OpView& view) {
  const Shape& out = view.output().type.shape;
  const auto per_output = [&](std::size_t weight) {
    const Shape& shape = view.input(weight).type.shape;
    return static_cast<double>(shape.elements()) / static_cast<double>(shape[0]);
  };
  switch (view.op.kind) {
    case OpKind::conv3d:
    case OpKind::linear: return per_output(1);
    case OpKind::attention: {
      const double positions =
          static_cast<double>(out.elements()) / static_cast<double>(out[0] * out[1]);
      return static_cast<double>(out[1]) + positions;
    }
    case OpKind::region: {
      double total = 0;
      for (const Op& op : view.op.body->ops()) {
        total += op.kind == OpKind::channel_moments ? 0 : terms({*view.op.body, op});
      }
      return total;
    }
    default: return kPointwiseTerms;
  }
}

// Values that one moment is of: the positions of what the op measures, or, in a region, the op of
// its body that gives this output.
double moment_terms(const OpView& view, std::size_t output) {
  if (view.op.kind == OpKind::region) {
    const Graph& body = *view.op.body;
    const OpId producer = body.value(body.outputs()[output]).producer;
    return moment_terms({body, body.op(producer)}, 0);
  }
  const Shape& x = view.input(0).type.shape;
  return static_cast<double>(x.elements()) / static_cast<double>(x[0] * x[1]);
}

}  // namespace

double OpVerdict::severity() const {
  if (report.max_abs_error == 0) {
    return 0;
  }
  return bound > 0 ? report.max_abs_error / bound : std::numeric_limits<double>::infinity();
}

std::string OpVerdict::describe() const {
  return fmt::format(
      "{} ({}): max error {:.3g} at [{}] (got {:.9g}, expected {:.9g}), bound {:.3g}", op,
      implementation, report.max_abs_error, fmt::join(report.worst, ", "), report.worst_value,
      report.worst_truth, bound);
}

double error_bound(const OpView& view, std::size_t output, const SampleReport& report,
                   double error_growth) {
  if (view.output(output).type.dtype != DType::kF64) {
    return error_growth * sum_bound(terms(view), report.max_abs_truth);
  }
  return moments_bound(moment_terms(view, output), report.max_abs_truth);
}

Status OpCheck::on_op(const OpEvent& event) {
  std::vector<Buffer> inputs(event.inputs.begin(), event.inputs.end());
  std::vector<std::vector<float>> weights(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = event.view.input(i);
    if (value.kind != ValueKind::kParameter) {
      continue;
    }
    weights[i].resize(static_cast<std::size_t>(value.type.shape.elements()));
    if (Status status = parameters_.read(value.name, weights[i]); !status) {
      return status;
    }
    inputs[i].data = reinterpret_cast<std::byte*>(weights[i].data());
  }
  for (std::size_t output = 0; output < event.outputs.size(); ++output) {
    OpVerdict verdict;
    verdict.op = event.op.name;
    verdict.implementation = event.op.implementation;
    verdict.report = sample_check(event.view, output, inputs, event.outputs, team_, options_);
    verdict.bound = error_bound(event.view, output, verdict.report, event.op.error_growth);
    verdicts_.push_back(std::move(verdict));
  }
  return {};
}

const OpVerdict& OpCheck::worst() const {
  check(!verdicts_.empty(), "no op has been checked");
  return *std::max_element(
      verdicts_.begin(), verdicts_.end(),
      [](const OpVerdict& a, const OpVerdict& b) { return a.severity() < b.severity(); });
}

}  // namespace mezzotint
