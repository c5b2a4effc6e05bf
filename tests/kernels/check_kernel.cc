#include "kernels/check_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace mezzotint::testing {
namespace {

std::vector<std::byte> bytes_of_outputs(const SingleOp& op) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < op.view().op.outputs.size(); ++i) {
    const auto output = op.output_bytes(i);
    bytes.insert(bytes.end(), output.begin(), output.end());
  }
  return bytes;
}

}  // namespace

Judge within_ulps(double ulps) {
  return [ulps](const SampleReport& report, const std::string& what) {
    EXPECT_LE(report.max_abs_error, ulps * std::ldexp(report.max_abs_truth, -23)) << what;
  };
}

Judge within_sum_bound(std::int64_t terms) {
  return [terms](const SampleReport& report, const std::string& what) {
    expect_within_sum_bound(report, terms, what);
  };
}

void expect_moments(const SingleOp& op, std::size_t output, const std::string& what) {
  const SampleReport moments = op.check(output);
  const Shape& shape = op.view().output().type.shape;
  const auto values =
      static_cast<double>(shape.elements()) / static_cast<double>(shape[0] * shape[1]);
  EXPECT_LE(moments.max_abs_error, moments_bound(values, moments.max_abs_truth))
      << what << ", moments";
}

void run_and_check(SingleOp& op, const Implementation& implementation, Isa isa,
                   const std::string& what, const Judge& judge) {
  const std::string name = fmt::format("{}, {}", implementation.name(), what);
  const Status status = op.run(implementation, machine_with(isa, 2));
  ASSERT_TRUE(status.ok()) << name << ": " << status.error().message;
  judge(op.check(), name);
  for (std::size_t i = 1; i < op.view().op.outputs.size(); ++i) {
    expect_moments(op, i, name);
  }
  const std::vector<std::byte> expected = bytes_of_outputs(op);
  for (const int threads : {1, 3, 4}) {
    ASSERT_TRUE(op.run(implementation, machine_with(isa, threads)).ok());
    EXPECT_TRUE(expected == bytes_of_outputs(op)) << name << ", " << threads;
  }
  const auto kernel = implementation.prepare(op.view(), {machine_with(isa, 2)});
  ASSERT_TRUE(kernel.ok());
  for (const std::size_t input : (*kernel)->aliasable_inputs()) {
    ASSERT_TRUE(op.run(implementation, machine_with(isa, 2), input).ok());
    EXPECT_TRUE(expected == bytes_of_outputs(op)) << name << " in place " << input;
  }
}

}  // namespace mezzotint::testing
