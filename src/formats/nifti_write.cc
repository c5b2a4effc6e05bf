#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "formats/nifti.h"
#include "formats/nifti_layout.h"

namespace mezzotint {
namespace {

// Little-endian, as the machines this library supports are.
template <typename T>
void put(std::span<std::byte> out, std::size_t offset, T value) {
  std::memcpy(out.subspan(offset, sizeof(T)).data(), &value, sizeof(T));
}

// A double of NIfTI-2 may be beyond float32.
float to_float32(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::abs(value) > kLargest) {
    return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
  }
  return static_cast<float>(value);
}

template <std::size_t N>
void put_floats(std::span<std::byte> out, std::size_t offset, const std::array<double, N>& values) {
  for (std::size_t i = 0; i < N; ++i) {
    put(out, offset + i * sizeof(float), to_float32(values[i]));
  }
}

std::int16_t to_int16(int code) {
  return static_cast<std::int16_t>(std::clamp<int>(code, std::numeric_limits<std::int16_t>::min(),
                                                   std::numeric_limits<std::int16_t>::max()));
}

void put_geometry(std::span<std::byte> out, const NiftiGeometry& geometry) {
  using namespace nifti1;
  put_floats(out, kPixdim, geometry.pixdim);
  put(out, kXyztUnits, static_cast<std::uint8_t>(geometry.xyzt_units));
  put(out, kQformCode, to_int16(geometry.qform_code));
  put(out, kSformCode, to_int16(geometry.sform_code));
  put_floats(out, kQuatern, geometry.quatern);
  put_floats(out, kQoffset, geometry.qoffset);
  for (std::size_t row = 0; row < 3; ++row) {
    put_floats(out, kSrow + row * 4 * sizeof(float), geometry.srow[row]);
  }
}

// `data` holds the voxels as they go into the file.
Result<std::vector<std::byte>> encode(const NiftiGeometry& geometry,
                                      const std::array<std::int64_t, 3>& dims, NiftiType type,
                                      std::span<const std::byte> data,
                                      std::string_view description) {
  using namespace nifti1;
  constexpr std::int64_t kLargestDim = std::numeric_limits<std::int16_t>::max();
  for (const std::int64_t dim : dims) {
    if (dim < 1 || dim > kLargestDim) {
      return unsupported("NIfTI-1 output: {} voxels, expected 1 to {} along each axis",
                         fmt::join(dims, " x "), kLargestDim);
    }
  }
  if (const auto elements = checked_elements(dims);
      !elements || data.size() / size_of(type) != static_cast<std::size_t>(*elements)) {
    return invalid_input("NIfTI-1 output: {} values for {} voxels", data.size() / size_of(type),
                         fmt::join(dims, " x "));
  }
  if (description.size() >= kDescripBytes) {
    return invalid_input("NIfTI-1 output: a description of {} bytes, expected at most {}",
                         description.size(), kDescripBytes - 1);
  }
  std::vector<std::byte> out(kFirstVoxel + data.size());
  put(out, 0, static_cast<std::int32_t>(kHeaderBytes));
  put(out, kDim, std::int16_t{3});
  for (std::size_t i = 1; i < 8; ++i) {
    put(out, kDim + i * sizeof(std::int16_t),
        i <= 3 ? to_int16(static_cast<int>(dims[i - 1])) : std::int16_t{1});
  }
  put(out, kDatatype, static_cast<std::int16_t>(type));
  put(out, kBitpix, static_cast<std::int16_t>(8 * size_of(type)));
  put(out, kVoxOffset, static_cast<float>(kFirstVoxel));
  put(out, kSclSlope, 1.0F);
  put(out, kSclInter, 0.0F);
  put_geometry(out, geometry);
  std::memcpy(out.data() + kDescrip, description.data(), description.size());
  put(out, kMagic, kMagicSingle);
  std::memcpy(out.data() + kFirstVoxel, data.data(), data.size());
  return out;
}

}  // namespace

Result<std::vector<std::byte>> encode_nifti(const NiftiGeometry& geometry,
                                            const std::array<std::int64_t, 3>& dims,
                                            std::span<const float> data,
                                            std::string_view description) {
  return encode(geometry, dims, NiftiType::kFloat32, std::as_bytes(data), description);
}

Result<std::vector<std::byte>> encode_nifti(const NiftiGeometry& geometry,
                                            const std::array<std::int64_t, 3>& dims,
                                            std::span<const std::uint8_t> labels,
                                            std::string_view description) {
  return encode(geometry, dims, NiftiType::kUint8, std::as_bytes(labels), description);
}

}  // namespace mezzotint
