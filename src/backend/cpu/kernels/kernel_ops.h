// Every implementation of this room, by the op that it computes.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace mezzotint::kernels {

// Element-wise, float32 (pointwise/).
[[nodiscard]] std::unique_ptr<Implementation> make_silu();
[[nodiscard]] std::unique_ptr<Implementation> make_add();
[[nodiscard]] std::unique_ptr<Implementation> make_add_channels();
[[nodiscard]] std::unique_ptr<Implementation> make_affine();
[[nodiscard]] std::unique_ptr<Implementation> make_channel_moments();     // moments/
[[nodiscard]] std::unique_ptr<Implementation> make_upsample_trilinear();  // upsample/
// Channels innermost (attention/).
[[nodiscard]] std::unique_ptr<Implementation> make_attention();
// conv3d with at most 4 output channels (conv_few/).
[[nodiscard]] std::unique_ptr<Implementation> make_conv_few_outputs();
// 3x3x3 conv3d with at most 8 input channels (conv_few_inputs/).
[[nodiscard]] std::unique_ptr<Implementation> make_conv_few_inputs();
// 3x3x3 conv3d by fewer multiplications: F(2^3) and F(4^3) (conv_winograd/).
[[nodiscard]] std::unique_ptr<Implementation> make_conv_winograd2();
[[nodiscard]] std::unique_ptr<Implementation> make_conv_winograd4();
// Moving without computing (movement/).
[[nodiscard]] std::unique_ptr<Implementation> make_concat();
[[nodiscard]] std::unique_ptr<Implementation> make_reorder();
// Vectors, where no time goes (small/).
[[nodiscard]] std::unique_ptr<Implementation> make_linear();
[[nodiscard]] std::unique_ptr<Implementation> make_group_norm_coefficients();
[[nodiscard]] std::unique_ptr<Implementation> make_timestep_embedding();
[[nodiscard]] std::unique_ptr<Implementation> make_select_rows();

}  // namespace mezzotint::kernels
