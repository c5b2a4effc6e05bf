#include "runtime/memory_price.h"

#include <algorithm>
#include <array>

namespace mezzotint {
namespace {

constexpr double kLeastBudget = 350e6;
constexpr double kOfLargestActivation = 0.25;

constexpr double kLowestPrice = 2.5e-10;
constexpr double kStep = 1.2;
constexpr std::size_t kSteps = 24;
// At which no transform is worth its weights.
constexpr double kHighestPrice = 1e-6;

constexpr auto kPrices = [] {
  std::array<double, kSteps + 2> prices{};  // the first is nothing
  double price = kLowestPrice;
  for (std::size_t i = 1; i <= kSteps; ++i, price *= kStep) {
    prices.at(i) = price;
  }
  prices.back() = kHighestPrice;
  return prices;
}();

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
