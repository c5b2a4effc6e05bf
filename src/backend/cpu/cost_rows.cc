#include "backend/cpu/cost_rows.h"

namespace mezzotint {
namespace {

// `kernels_bench --cost-rows`, one thread, best of several runs on a shared virtual machine.
// kAvx512: Zen 5 (AMD EPYC, family 26) at 2.6 GHz nominal. kAvx2: the AVX2 code on the same
// processor (MEZZOTINT_BENCH_ISA=avx2 DNNL_MAX_CPU_ISA=AVX2), which stands for older ones by
// estimate only; where neighbours took half of the time, the processor time counts. Sorted by name.
// kernels.conv_few_inputs: processor time on a Xeon (family 6, model 207) beside onednn.conv, scaled
// by that one's row here. What computes nothing has 1 GFLOP/s; the bytes of select_rows count its
// table, of which it reads a row.
constexpr CostRow kRows[] = {
    {Isa::kAvx2, "kernels.add", 3.5, 41.9, 5e-06},
    {Isa::kAvx2, "kernels.add_channels", 5.4, 43.4, 5e-06},
    {Isa::kAvx2, "kernels.affine", 9.9, 13.2, 5e-06},
    {Isa::kAvx2, "kernels.attention", 100.0, 1.6, 5e-06},
    {Isa::kAvx2, "kernels.channel_moments", 7.3, 9.8, 5e-06},
    {Isa::kAvx2, "kernels.concat", 1.0, 20.0, 5e-06},
    {Isa::kAvx2, "kernels.conv_few_inputs", 116.0, 2.9, 5e-06},
    {Isa::kAvx2, "kernels.conv_few_outputs", 54.3, 4.1, 5e-06},
    {Isa::kAvx2, "kernels.conv_winograd2", 110.0, 8.0, 5e-06},
    {Isa::kAvx2, "kernels.conv_winograd4", 85.0, 8.0, 5e-06},
    {Isa::kAvx2, "kernels.group_norm_coefficients", 9.3, 14.9, 5.5e-07},
    {Isa::kAvx2, "kernels.linear", 11.0, 22.2, 5e-06},
    {Isa::kAvx2, "kernels.reorder", 1.0, 2.4, 5e-06},
    {Isa::kAvx2, "kernels.select_rows", 1.0, 1110.1, 2.4e-08},
    {Isa::kAvx2, "kernels.silu", 7.3, 14.5, 5e-06},
    {Isa::kAvx2, "kernels.timestep_embedding", 1.0, 0.5, 5.1e-07},
    {Isa::kAvx2, "kernels.upsample_trilinear", 39.0, 19.5, 5e-06},
    {Isa::kAvx2, "onednn.conv", 122.0, 5.0, 5e-06},
    {Isa::kAvx2, "onednn.conv_narrow", 6.0, 0.5, 5e-06},
    {Isa::kAvx512, "kernels.add", 3.7, 44.7, 5e-06},
    {Isa::kAvx512, "kernels.add_channels", 5.9, 47.1, 5e-06},
    {Isa::kAvx512, "kernels.affine", 19.0, 25.4, 5e-06},
    {Isa::kAvx512, "kernels.attention", 216.0, 1.6, 5e-06},
    {Isa::kAvx512, "kernels.channel_moments", 29.5, 39.4, 5e-06},
    {Isa::kAvx512, "kernels.concat", 1.0, 29.3, 5e-06},
    {Isa::kAvx512, "kernels.conv_few_inputs", 220.0, 5.8, 5e-06},
    {Isa::kAvx512, "kernels.conv_few_outputs", 75.0, 5.6, 5e-06},
    {Isa::kAvx512, "kernels.conv_winograd2", 240.0, 12.0, 5e-06},
    {Isa::kAvx512, "kernels.conv_winograd4", 177.0, 12.0, 5e-06},
    {Isa::kAvx512, "kernels.group_norm_coefficients", 9.3, 14.9, 5.5e-07},
    {Isa::kAvx512, "kernels.linear", 11.0, 22.2, 5e-06},
    {Isa::kAvx512, "kernels.reorder", 1.0, 2.5, 5e-06},
    {Isa::kAvx512, "kernels.select_rows", 1.0, 1615.1, 1.6e-08},
    {Isa::kAvx512, "kernels.silu", 14.3, 28.7, 5e-06},
    {Isa::kAvx512, "kernels.timestep_embedding", 1.0, 0.5, 5.1e-07},
    {Isa::kAvx512, "kernels.upsample_trilinear", 42.6, 21.3, 5e-06},
    {Isa::kAvx512, "onednn.conv", 251.0, 10.1, 5e-06},
    {Isa::kAvx512, "onednn.conv_narrow", 14.0, 1.1, 5e-06},
};

}  // namespace

std::span<const CostRow> cpu_cost_rows() {
  return kRows;
}

}  // namespace mezzotint
