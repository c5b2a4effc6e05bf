// Attainable rates per implementation and ISA, measured once and shipped, so that the default plan
// and the predicted time depend on nothing measured at run time.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/system.h"

namespace mezzotint {

struct CostRow {
  Isa isa;
  std::string_view implementation;
  double gflops;          // GFLOP/s of one thread, counting what the implementation does
  double gbytes;          // GB/s of one thread
  double launch_seconds;  // fixed cost per launch
};

class CostTable {
 public:
  explicit CostTable(std::span<const CostRow> rows) : rows_(rows) {}

  // The row for `isa`, or for the best weaker ISA that has one.
  [[nodiscard]] std::optional<CostRow> find(std::string_view implementation, Isa isa) const;

  // max(compute, memory) + launch, with what the implementation does spread evenly over `threads`.
  [[nodiscard]] static double seconds(const CostRow& row, double flops, double bytes, int threads);

 private:
  std::span<const CostRow> rows_;
};

}  // namespace mezzotint
