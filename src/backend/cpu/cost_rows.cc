#include "backend/cpu/cost_rows.h"

namespace mezzotint {
namespace {

// `kernels_bench --cost-rows`, one thread, on an otherwise idle virtual machine of two cores of a
// Xeon (family 6, model 207; 2 MiB of L2 each). kAvx2: the AVX2 code on the same processor
// (MEZZOTINT_BENCH_ISA=avx2 DNNL_MAX_CPU_ISA=AVX2), which stands for older ones by estimate only.
// Sorted by name. What computes nothing has 1 GFLOP/s; the bytes of select_rows count its table, of
// which it reads a row. conv_bf16 is from a later run, scaled by what conv did in it; AVX2 has no
// unit for it, and AMX machines, of which none was measured, are given AVX-512's row.
constexpr CostRow kRows[] = {
    {Isa::kAvx2, "kernels.add", 1.2, 14.6, 5.0e-06},
    {Isa::kAvx2, "kernels.add_channels", 1.6, 13.0, 5.0e-06},
    {Isa::kAvx2, "kernels.affine", 6.4, 8.5, 5.0e-06},
    {Isa::kAvx2, "kernels.attention", 71.0, 0.6, 5.0e-06},
    {Isa::kAvx2, "kernels.channel_moments", 11.2, 15.0, 5.0e-06},
    {Isa::kAvx2, "kernels.concat", 1.0, 11.3, 5.0e-06},
    {Isa::kAvx2, "kernels.conv_few_inputs", 79.5, 2.0, 5.0e-06},
    {Isa::kAvx2, "kernels.conv_few_outputs", 44.3, 3.3, 5.0e-06},
    {Isa::kAvx2, "kernels.conv_winograd2", 69.3, 27.5, 5.0e-06},
    {Isa::kAvx2, "kernels.conv_winograd4", 37.1, 24.9, 5.0e-06},
    {Isa::kAvx2, "kernels.group_norm_coefficients", 6.4, 10.2, 8.1e-07},
    {Isa::kAvx2, "kernels.linear", 5.6, 11.4, 5.0e-06},
    {Isa::kAvx2, "kernels.reorder", 1.0, 2.0, 5.0e-06},
    {Isa::kAvx2, "kernels.select_rows", 1.0, 832.1, 3.2e-08},
    {Isa::kAvx2, "kernels.silu", 4.5, 9.1, 5.0e-06},
    {Isa::kAvx2, "kernels.timestep_embedding", 1.0, 0.3, 8.3e-07},
    {Isa::kAvx2, "kernels.upsample_trilinear", 19.4, 9.7, 5.0e-06},
    {Isa::kAvx2, "onednn.conv", 82.6, 16.8, 5.0e-06},
    {Isa::kAvx2, "onednn.conv_narrow", 4.2, 0.3, 5.0e-06},
    {Isa::kAvx512, "kernels.add", 1.3, 15.5, 5.0e-06},
    {Isa::kAvx512, "kernels.add_channels", 3.0, 23.8, 5.0e-06},
    {Isa::kAvx512, "kernels.affine", 9.4, 12.6, 5.0e-06},
    {Isa::kAvx512, "kernels.attention", 124.3, 1.1, 5.0e-06},
    {Isa::kAvx512, "kernels.channel_moments", 20.1, 26.8, 5.0e-06},
    {Isa::kAvx512, "kernels.concat", 1.0, 11.2, 5.0e-06},
    {Isa::kAvx512, "kernels.conv_few_inputs", 143.4, 3.9, 5.0e-06},
    {Isa::kAvx512, "kernels.conv_few_outputs", 47.7, 3.6, 5.0e-06},
    {Isa::kAvx512, "kernels.conv_winograd2", 159.8, 28.7, 5.0e-06},
    {Isa::kAvx512, "kernels.conv_winograd4", 105.0, 25.9, 5.0e-06},
    {Isa::kAvx512, "kernels.group_norm_coefficients", 6.6, 10.5, 7.8e-07},
    {Isa::kAvx512, "kernels.linear", 5.7, 11.4, 5.0e-06},
    {Isa::kAvx512, "kernels.reorder", 1.0, 2.0, 5.0e-06},
    {Isa::kAvx512, "kernels.select_rows", 1.0, 832.1, 3.2e-08},
    {Isa::kAvx512, "kernels.silu", 6.4, 12.9, 5.0e-06},
    {Isa::kAvx512, "kernels.timestep_embedding", 1.0, 0.3, 8.2e-07},
    {Isa::kAvx512, "kernels.upsample_trilinear", 30.4, 15.2, 5.0e-06},
    {Isa::kAvx512, "onednn.conv", 168.3, 19.3, 5.0e-06},
    {Isa::kAvx512, "onednn.conv_bf16", 92.3, 18.3, 5.0e-06},
    {Isa::kAvx512, "onednn.conv_narrow", 9.3, 0.7, 5.0e-06},
};

}  // namespace

std::span<const CostRow> cpu_cost_rows() {
  return kRows;
}

}  // namespace mezzotint
