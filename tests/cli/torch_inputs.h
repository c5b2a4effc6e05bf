// The tiny model as torch would save it, in the forms that people have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli_inputs.h"

namespace mezzotint::testing {

// One set of weights. `name` "" puts it at the top level; `prefix` stands before UNet keys, and
// before the schedule's buffers without its "denoise_fn.".
struct TorchGroup {
  std::string name = "ema";
  std::string prefix = "denoise_fn.";
  bool zeros = false;  // to tell one group from another
};

struct TorchStyle {
  std::vector<TorchGroup> groups = {TorchGroup{}};
  std::string type = "FloatStorage";  // DoubleStorage, HalfStorage, BFloat16Storage
  bool column_major = false;          // weights as transposed views
  bool one_storage = false;           // all tensors of a group in one storage
  bool tensor_step = false;           // `step` as a tensor without dimensions
  bool plain_zip = false;             // neither zip64 nor descriptors, no `byteorder`
};

// {"step": 30000, group: {key: tensor, ...}, ...} in a zip.
[[nodiscard]] std::string torch_checkpoint(const TinyModel& model, const TorchStyle& style = {});

// Rounds all but `betas` to what the type can hold.
void round_weights(TinyModel& model, const std::string& type);

}  // namespace mezzotint::testing
