// Safetensors (https://huggingface.co/docs/safetensors): 8 bytes of header length, a JSON header,
// then the tensors' bytes, little-endian and row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/file.h"
#include "base/output_file.h"
#include "formats/tensor_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Reads and checks the header. Refused with one line: a header longer than the file or 100 MB,
// malformed JSON, a key given twice, an unknown dtype, a size that disagrees with dtype and shape,
// and data that overlap, leave a gap or do not end with the file.
Result<TensorDirectory> read_safetensors_directory(const InputFile& file);

struct TensorToWrite {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // little-endian, row-major
};

// Writes the tensors in the order given; equal content gives equal bytes. The data start at a
// multiple of 8. kInvalidInput for a name that is given twice, is `__metadata__`, or is not UTF-8.
// The caller commits the file.
Status write_safetensors(OutputFile& file, std::span<const TensorToWrite> tensors,
                         const std::map<std::string, std::string>& metadata);

}  // namespace mezzotint
