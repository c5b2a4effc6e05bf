// A convolution region as a Winograd kernel. Reasons for refusing one are in conv_winograd.cc.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/cpu/kernels/conv_winograd/matrices.h"
#include "graph/conv_region.h"

namespace mezzotint::kernels {

[[nodiscard]] std::unique_ptr<Kernel> make_winograd_kernel(const OpView& view,
                                                           const ConvRegion& region,
                                                           WinogradTile tile,
                                                           const Machine& machine);

}  // namespace mezzotint::kernels
