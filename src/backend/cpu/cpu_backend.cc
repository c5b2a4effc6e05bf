#include "backend/cpu/cpu_backend.h"

#include <map>

#include "backend/cpu/cost_rows.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/probes/probes.h"
#include "backend/cpu/onednn/onednn_ops.h"

namespace mezzotint {
namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend() : costs_(cpu_cost_rows()) {
    offer({OpKind::conv3d, OpKind::region}, kernels::make_conv_few_outputs());
    offer({OpKind::conv3d, OpKind::region}, kernels::make_conv_few_inputs());
    offer({OpKind::conv3d, OpKind::region}, kernels::make_conv_winograd4());
    offer({OpKind::conv3d, OpKind::region}, kernels::make_conv_winograd2());
    offer({OpKind::conv3d, OpKind::region}, make_onednn_conv());
    offer({OpKind::conv3d, OpKind::region}, make_onednn_conv_narrow());
    offer({OpKind::conv3d, OpKind::region}, make_onednn_conv_bf16());
    offer({OpKind::silu}, kernels::make_silu());
    offer({OpKind::add}, kernels::make_add());
    offer({OpKind::add_channels}, kernels::make_add_channels());
    offer({OpKind::affine}, kernels::make_affine());
    offer({OpKind::channel_moments}, kernels::make_channel_moments());
    offer({OpKind::group_norm_coefficients}, kernels::make_group_norm_coefficients());
    offer({OpKind::upsample_trilinear}, kernels::make_upsample_trilinear());
    offer({OpKind::attention}, kernels::make_attention());
    offer({OpKind::concat}, kernels::make_concat());
    offer({OpKind::reorder}, kernels::make_reorder());
    offer({OpKind::linear}, kernels::make_linear());
    offer({OpKind::timestep_embedding}, kernels::make_timestep_embedding());
    offer({OpKind::select_rows}, kernels::make_select_rows());
    for (const auto& probe : owned_probes_) {
      probes_.push_back(probe.get());
    }
  }

  std::string_view name() const override { return "cpu"; }

  std::string description() const override { return "cpu: " + describe_onednn(); }

  std::span<const Implementation* const> implementations(OpKind kind) const override {
    const auto found = by_kind_.find(kind);
    if (found == by_kind_.end()) {
      return {};
    }
    return found->second;
  }

  const CostTable& costs() const override { return costs_; }

  Probes probes() const override { return {probes_, stream_probe_.get()}; }

 private:
  void offer(std::initializer_list<OpKind> kinds, std::unique_ptr<Implementation> implementation) {
    for (const OpKind kind : kinds) {
      by_kind_[kind].push_back(implementation.get());
    }
    owned_.push_back(std::move(implementation));
  }

  std::vector<std::unique_ptr<Implementation>> owned_;
  std::map<OpKind, std::vector<const Implementation*>> by_kind_;
  CostTable costs_;
  std::vector<std::unique_ptr<UnitProbe>> owned_probes_ = kernels::make_unit_probes();
  std::vector<const UnitProbe*> probes_;
  std::unique_ptr<StreamProbe> stream_probe_ = kernels::make_stream_probe();
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace mezzotint
