#include <vector>

#include "backend/ref/pointwise.h"
#include "base/check.h"

namespace mezzotint::ref {

double select_rows_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                      const Elements& elements) {
  const Shape& table = view.input(0).type.shape;
  const auto row = static_cast<std::int64_t>(elements.input(1, index));
  check(row >= 0 && row < table[0], "select_rows: an index beyond the table");
  std::vector<std::int64_t> source(index, index + table.rank());
  source[0] = row;
  return elements.input(0, source.data());
}

}  // namespace mezzotint::ref
