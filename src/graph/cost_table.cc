#include "graph/cost_table.h"

#include <algorithm>

namespace mezzotint {

std::optional<CostRow> CostTable::find(std::string_view implementation, Isa isa) const {
  std::optional<CostRow> best;
  for (const CostRow& row : rows_) {
    if (row.implementation == implementation && row.isa <= isa && (!best || row.isa > best->isa)) {
      best = row;
    }
  }
  return best;
}

double CostTable::seconds(const CostRow& row, double flops, double bytes, int threads) {
  const double compute = flops / (row.gflops * 1e9 * threads);
  const double memory = bytes / (row.gbytes * 1e9 * threads);
  return std::max(compute, memory) + row.launch_seconds;
}

}  // namespace mezzotint
