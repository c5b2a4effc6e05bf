// Runs one op on one of our kernels for one instruction set, and judges it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backend/single_op.h"

namespace mezzotint::testing {

using Judge = std::function<void(const SampleReport& report, const std::string& what)>;

// `ulps` units in the last place of the largest magnitude.
[[nodiscard]] Judge within_ulps(double ulps);
[[nodiscard]] Judge within_sum_bound(std::int64_t terms);

// That output `output` holds the channel moments of output 0, as stored.
void expect_moments(const SingleOp& op, std::size_t output, const std::string& what);

// Runs with 2 threads, checks output 0 against the law with `judge`, then demands the same bytes
// of every output from 1, 3 and 4 threads and when output 0 shares the memory of any input that
// may. Further outputs are channel moments.
void run_and_check(SingleOp& op, const Implementation& implementation, Isa isa,
                   const std::string& what, const Judge& judge);

}  // namespace mezzotint::testing
