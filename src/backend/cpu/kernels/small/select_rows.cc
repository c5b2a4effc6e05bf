#include <cstring>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "base/check.h"

namespace mezzotint::kernels {
namespace {

// A row is contiguous in every layout, since the first axis is the outermost of each.
class SelectRowsKernel final : public Kernel {
 public:
  explicit SelectRowsKernel(const OpView& view)
      : rows_(view.input(0).type.shape[0]),
        selected_(view.input(1).type.shape[0]),
        row_bytes_(static_cast<std::size_t>(view.input(0).type.bytes() / rows_)) {}

  void launch(const LaunchContext& context) const override {
    const auto* index = context.inputs[1].as<const std::int32_t>();
    for (std::int64_t n = 0; n < selected_; ++n) {
      check(index[n] >= 0 && index[n] < rows_, "select_rows: an index beyond the table");
      std::memcpy(context.outputs[0].data + static_cast<std::size_t>(n) * row_bytes_,
                  context.inputs[0].data + static_cast<std::size_t>(index[n]) * row_bytes_,
                  row_bytes_);
    }
  }

 private:
  std::int64_t rows_;
  std::int64_t selected_;
  std::size_t row_bytes_;
};

Refusal refuse(const OpView& view) {
  if (view.input(0).kind == ValueKind::kParameter) {
    return "the table must be a value";
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Implementation> make_select_rows() {
  return make_implementation({"kernels.select_rows", refuse,
                              [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
                                return std::make_unique<SelectRowsKernel>(view);
                              }});
}

}  // namespace mezzotint::kernels
