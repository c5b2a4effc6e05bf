// Any bytes: either one clear error, or an image whose voxels can all be read and written again.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "formats/nifti.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  // One read may decompress to a thousand times its size: keep the time of one input bounded.
  constexpr std::size_t kLargestInput = std::size_t{1} << 16;
  if (size > kLargestInput) {
    return 0;
  }
  const auto input = std::as_bytes(std::span(data, size));
  const auto image = decode_nifti({input.begin(), input.end()}, "fuzz.nii");
  if (!image) {
    check(!image.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  std::vector<float> values(static_cast<std::size_t>(image->voxels()));
  image->to_float(values);

  const auto dims = volume_dims(image->header, "fuzz.nii");
  if (!dims) {
    return 0;
  }
  const NiftiGeometry& geometry = image->header.geometry;
  const auto written = encode_nifti(geometry, *dims, values, "fuzz");
  // Dimensions of NIfTI-2 need not fit NIfTI-1, nor do its numbers: only NIfTI-1 must come back.
  if (!written || image->header.version == 2) {
    return 0;
  }
  const auto again = decode_nifti(*written, "written.nii");
  check(again.ok(), "what was written can be read");
  check(again->header.affine == image->header.affine, "voxels stay where they were");
  check(again->header.geometry.qform_code == geometry.qform_code &&
            again->header.geometry.sform_code == geometry.sform_code,
        "codes are kept");
  check(again->header.dims == std::vector<std::int64_t>(dims->begin(), dims->end()),
        "dimensions are kept");
  return 0;
}
