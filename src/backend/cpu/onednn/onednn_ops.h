// Ops computed by oneDNN (Debian's libdnnl 2.6). No type of that library leaves this folder.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace mezzotint {

// "onednn.conv": conv3d and regions around one, on float32 channels-last activations. Any number of
// sources, bias, time vector and residual. Needs neither a concatenation (each further source adds
// to the result) nor a copy of the residual when it may share the output's memory.
[[nodiscard]] std::unique_ptr<Implementation> make_onednn_conv();
// "onednn.conv_narrow": the same for fewer than 16 output channels, which onednn.conv leaves to it;
// apart, because the cost table knows one rate per implementation.
[[nodiscard]] std::unique_ptr<Implementation> make_onednn_conv_narrow();
// "onednn.conv_bf16": onednn.conv with sources and weights rounded to bfloat16; products are exact
// and their sums float32, as is the result. For Precision::kFast where the processor has a unit for
// it.
[[nodiscard]] std::unique_ptr<Implementation> make_onednn_conv_bf16();

// "oneDNN 2.6.3 (avx512_core_bf16)": the library that is loaded, and the instruction set that it
// takes on this processor. The set is the library's own choice; DNNL_MAX_CPU_ISA can limit it.
[[nodiscard]] std::string describe_onednn();

}  // namespace mezzotint
