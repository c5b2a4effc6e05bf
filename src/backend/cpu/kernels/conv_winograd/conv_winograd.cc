#include <fmt/format.h>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/error.h"
#include "backend/cpu/kernels/conv_winograd/kernel.h"
#include "backend/cpu/kernels/conv_winograd/work.h"
#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "graph/op_definition.h"

namespace mezzotint::kernels {
namespace {

Refusal refuse_region(const OpView& view, const ConvRegion& region) {
  for (const ConvSource& source : region.sources) {
    if (auto reason = refuse_unless_channels_innermost(view.input(source.input), "a source")) {
      return reason;
    }
  }
  if (auto reason = refuse_unless_channels_innermost(view.output(), "the result")) {
    return reason;
  }
  if (region.residual) {
    if (auto reason =
            refuse_unless_channels_innermost(view.input(*region.residual), "the residual")) {
      return reason;
    }
  }
  const Value& weight = view.input(region.weight);
  if (weight.kind != ValueKind::kParameter ||
      (region.bias && view.input(*region.bias).kind != ValueKind::kParameter)) {
    return "weights and bias must be parameters, to be transformed once";
  }
  return refuse_unless_cube3(view, region);
}

class ConvWinograd final : public Implementation {
 public:
  explicit ConvWinograd(WinogradTile tile) : tile_(tile) {}

  std::string_view name() const override {
    return tile_ == WinogradTile::k2 ? "kernels.conv_winograd2" : "kernels.conv_winograd4";
  }

  std::optional<std::string> refusal(const OpView& view, const Target& target) const override {
    if (tile_ == WinogradTile::k4 && target.precision == Precision::kStrict) {
      return "F(4^3) rounds more than strict allows; it is for fp32";
    }
    const auto region = describe_conv(view);
    if (!region) {
      return "the region is not one convolution with a known epilogue";
    }
    return refuse_region(view, *region);
  }

  Work work(const OpView& view, const Target& target) const override {
    return winograd_work(
        view, *describe_conv(view), tile_,
        for_isa(target.machine.isa, conv_winograd_avx2(), conv_winograd_avx512()).lanes);
  }

  // F(2^3) is for strict, too, which makes no allowance; sum_bound() has room for it.
  double error_growth(const OpView& view) const override {
    return tile_ == WinogradTile::k2
               ? 1
               : winograd_error_growth(winograd_matrices(tile_),
                                       view.input(describe_conv(view)->weight).type.shape[1]);
  }

  Result<std::unique_ptr<Kernel>> prepare(const OpView& view, const Target& target) const override {
    return make_winograd_kernel(view, *describe_conv(view), tile_, target.machine);
  }

 private:
  WinogradTile tile_;
};

}  // namespace

std::unique_ptr<Implementation> make_conv_winograd2() {
  return std::make_unique<ConvWinograd>(WinogradTile::k2);
}

std::unique_ptr<Implementation> make_conv_winograd4() {
  return std::make_unique<ConvWinograd>(WinogradTile::k4);
}

}  // namespace mezzotint::kernels
