#include "backend/ref/pointwise.h"

#include "base/check.h"

namespace mezzotint::ref {

double element_at(const OpView& view, std::size_t output, const std::int64_t* index,
                  const Elements& elements) {
  switch (view.op.kind) {
#define MEZZOTINT_OP(name) \
  case OpKind::name:       \
    return name##_at(view, output, index, elements);
#include "graph/ops.def"
#undef MEZZOTINT_OP
  }
  check_failed("unknown op kind");
}

}  // namespace mezzotint::ref
