#include "runtime/memory_price.h"

#include <algorithm>
#include <array>

namespace mezzotint {
namespace {

constexpr double kLeastBudget = 350e6;
constexpr double kOfLargestActivation = 0.5;

// Half as much again each time. At 1e-9 whole-head at 128^3 takes the largest transform at its
// three finest levels and none at the coarsest; at the last, weights are never worth their
// transform.
constexpr std::array<double, 13> kPrices = {0,      2.5e-10, 3.8e-10, 5.6e-10, 8.4e-10,
                                            1.3e-9, 1.9e-9,  2.8e-9,  4.3e-9,  6.4e-9,
                                            9.6e-9, 1.4e-8,  1e-6};

}  // namespace

std::span<const double> memory_prices() {
  return kPrices;
}

double weight_budget(const Graph& graph) {
  double largest = 0;
  for (const Op& op : graph.ops()) {
    for (const ValueId id : op.outputs) {
      largest = std::max(largest, static_cast<double>(graph.value(id).type.bytes()));
    }
  }
  return std::max(kLeastBudget, kOfLargestActivation * largest);
}

}  // namespace mezzotint
