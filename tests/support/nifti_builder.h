// NIfTI files of arbitrary content, good and bad, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "formats/nifti.h"
#include "formats/nifti_layout.h"

namespace mezzotint::testing {

// Begins as a valid single file: 4 x 3 x 2 voxels of uint8, 1 mm, no orientation. Fields are set by
// meaning, in the version and byte order chosen; voxels are appended.
class NiftiBuilder {
 public:
  explicit NiftiBuilder(int version = 1, bool big_endian = false)
      : version_(version),
        big_endian_(big_endian),
        header_(version == 1 ? nifti1::kFirstVoxel : nifti2::kFirstVoxel) {
    if (version_ == 1) {
      put(0, std::int32_t{nifti1::kHeaderBytes});
      text(nifti1::kMagic, {nifti1::kMagicSingle.data(), 4});
    } else {
      put(0, std::int32_t{nifti2::kHeaderBytes});
      text(nifti2::kMagic, {nifti2::kMagicSingle.data(), 8});
    }
    vox_offset(static_cast<double>(header_.size()));
    dims({4, 3, 2});
    type(NiftiType::kUint8);
    for (std::size_t i = 0; i < 8; ++i) {
      pixdim(i, 1);
    }
  }

  NiftiBuilder& dim(std::size_t i, std::int64_t value) {
    if (version_ == 1) {
      put(nifti1::kDim + 2 * i, static_cast<std::int16_t>(value));
    } else {
      put(nifti2::kDim + 8 * i, value);
    }
    return *this;
  }
  NiftiBuilder& dims(const std::vector<std::int64_t>& values) {
    dim(0, static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      dim(i + 1, values[i]);
    }
    return *this;
  }
  NiftiBuilder& datatype(int code, int bits) {
    put(version_ == 1 ? nifti1::kDatatype : nifti2::kDatatype, static_cast<std::int16_t>(code));
    put(version_ == 1 ? nifti1::kBitpix : nifti2::kBitpix, static_cast<std::int16_t>(bits));
    return *this;
  }
  NiftiBuilder& type(NiftiType type) {
    return datatype(static_cast<int>(type), static_cast<int>(8 * size_of(type)));
  }
  NiftiBuilder& pixdim(std::size_t i, double value) {
    return real(nifti1::kPixdim + 4 * i, nifti2::kPixdim + 8 * i, value);
  }
  NiftiBuilder& vox_offset(double value) {
    if (version_ == 1) {
      put(nifti1::kVoxOffset, static_cast<float>(value));
    } else {
      put(nifti2::kVoxOffset, static_cast<std::int64_t>(value));
    }
    return *this;
  }
  NiftiBuilder& scaling(double slope, double intercept) {
    real(nifti1::kSclSlope, nifti2::kSclSlope, slope);
    return real(nifti1::kSclInter, nifti2::kSclInter, intercept);
  }
  NiftiBuilder& units(int value) {
    if (version_ == 1) {
      put(nifti1::kXyztUnits, static_cast<std::uint8_t>(value));
    } else {
      put(nifti2::kXyztUnits, static_cast<std::int32_t>(value));
    }
    return *this;
  }
  NiftiBuilder& sform(int code, const Affine& affine) {
    put_code(nifti1::kSformCode, nifti2::kSformCode, code);
    for (std::size_t i = 0; i < 12; ++i) {
      real(nifti1::kSrow + 4 * i, nifti2::kSrow + 8 * i, affine[i / 4][i % 4]);
    }
    return *this;
  }
  NiftiBuilder& qform(int code, const Vec3& bcd, const Vec3& offset) {
    put_code(nifti1::kQformCode, nifti2::kQformCode, code);
    for (std::size_t i = 0; i < 3; ++i) {
      real(nifti1::kQuatern + 4 * i, nifti2::kQuatern + 8 * i, bcd[i]);
      real(nifti1::kQoffset + 4 * i, nifti2::kQoffset + 8 * i, offset[i]);
    }
    return *this;
  }
  // At a byte offset of the header.
  NiftiBuilder& text(std::size_t offset, std::string_view value) {
    std::memcpy(header_.data() + offset, value.data(), value.size());
    return *this;
  }

  template <typename T>
  NiftiBuilder& voxels(const std::vector<T>& values) {
    voxels_.clear();
    for (const T value : values) {
      const auto raw = in_file_order(value);
      voxels_.insert(voxels_.end(), raw.begin(), raw.end());
    }
    return *this;
  }

  // The voxels begin right after the header; `gap` more bytes may lie between.
  [[nodiscard]] std::vector<std::byte> build(std::size_t gap = 0) const {
    std::vector<std::byte> file = header_;
    file.resize(file.size() + gap, std::byte{0xa5});
    file.insert(file.end(), voxels_.begin(), voxels_.end());
    return file;
  }
  // For a .hdr/.img pair.
  [[nodiscard]] const std::vector<std::byte>& voxel_bytes() const { return voxels_; }

 private:
  template <typename T>
  [[nodiscard]] std::array<std::byte, sizeof(T)> in_file_order(T value) const {
    auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if (big_endian_) {
      std::reverse(raw.begin(), raw.end());
    }
    return raw;
  }
  template <typename T>
  void put(std::size_t offset, T value) {
    const auto raw = in_file_order(value);
    std::copy(raw.begin(), raw.end(), header_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  NiftiBuilder& real(std::size_t offset1, std::size_t offset2, double value) {
    if (version_ == 1) {
      put(offset1, static_cast<float>(value));
    } else {
      put(offset2, value);
    }
    return *this;
  }
  void put_code(std::size_t offset1, std::size_t offset2, int code) {
    if (version_ == 1) {
      put(offset1, static_cast<std::int16_t>(code));
    } else {
      put(offset2, static_cast<std::int32_t>(code));
    }
  }

  int version_;
  bool big_endian_;
  std::vector<std::byte> header_;
  std::vector<std::byte> voxels_ = std::vector<std::byte>(24);
};

}  // namespace mezzotint::testing
