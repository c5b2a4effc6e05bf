// What a Winograd convolution does, and what that costs.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/cpu/kernels/conv_winograd/matrices.h"
#include "graph/conv_region.h"

namespace mezzotint::kernels {

// lanes: of the ISA's vectors. FLOPs are those of whole tiles, also where they reach beyond the
// volume: transforms of the inputs (with the doubling that is part of them), products, transforms
// of the products; a source that is normalised on load as often as its rows of tiles stage it; and
// what the region does behind the convolution.
[[nodiscard]] Work winograd_work(const OpView& view, const ConvRegion& region, WinogradTile tile,
                                 std::int64_t lanes);

}  // namespace mezzotint::kernels
