// The cases of the folder `unet`: stored inputs, timesteps, outputs and named activations.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "mezzotint/result.h"
#include "support/fixture.h"

namespace mezzotint::testing {

// One evaluation with its stored results: the tensors "in2.t17_249.*.truth" of a manifest are the
// values of input in2 at timesteps 17 and 249 (one per sample).
struct UnetCase {
  std::string manifest;   // empty: there are no fixtures
  std::string input;      // "in2"
  std::string timesteps;  // "t17_249"
};

void PrintTo(const UnetCase& unet_case, std::ostream* out);

// All evaluations of all manifests; one empty case when there are none, for a visible skip.
[[nodiscard]] std::vector<UnetCase> unet_cases();
// "tiny_whole_head_in2_t17_249", or "absent".
[[nodiscard]] std::string name_of(const UnetCase& unet_case);

// "t17_249" -> 17, 249; empty when it is not of this form.
[[nodiscard]] std::vector<double> parse_timesteps(std::string_view text);

// Whether the tensor is a stored result of this evaluation, and the name of the graph's value for
// it: "in0.t17.act.middle_block.truth" -> "middle_block", "in0.t17.out.truth" -> "out".
[[nodiscard]] bool is_result(const UnetCase& unet_case, std::string_view tensor);
[[nodiscard]] std::string value_name(const UnetCase& unet_case, std::string_view tensor);

// Channels [begin, end) of every sample of x, row-major [N, C, ...].
[[nodiscard]] std::vector<double> take_channels(std::span<const double> x,
                                                const std::vector<std::int64_t>& shape,
                                                std::int64_t begin, std::int64_t end);

// "checkpoints/tiny_whole_head, ema" in a manifest's facts: the checkpoint's file and its group.
struct StoredWeights {
  std::filesystem::path file;
  std::string group;
};
[[nodiscard]] Result<StoredWeights> stored_weights(const nlohmann::json& facts);
// The one file beside the manifest of a checkpoint case such as "checkpoints/tiny_whole_head".
[[nodiscard]] Result<std::filesystem::path> checkpoint_file(const std::string& relative);

}  // namespace mezzotint::testing
