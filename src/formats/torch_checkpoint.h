// Checkpoints as torch.save writes them since torch 1.6: a zip of stored entries that holds a
// pickle of nested dictionaries and one entry per storage. Nothing in the file is ever executed:
// see pickle.h.
#pragma once

#include "base/file.h"
#include "formats/tensor_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// The content must be a dictionary. A top-level entry that is a dictionary becomes a group; tensors
// at the top level belong to group "". What lies deeper in a group has its path joined by "." as
// its name. Scalars at the top level become metadata; other values are ignored.
// kInvalidInput with one line for a file that is damaged, names anything but tensors and plain
// containers, or was written on a big-endian machine.
Result<TensorDirectory> read_torch_directory(const InputFile& file);

}  // namespace mezzotint
