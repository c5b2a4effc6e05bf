// Byte offsets of the header fields that we read or write, from nifti1.h and nifti2.h.
#pragma once

#include <array>
#include <cstddef>

namespace mezzotint::nifti1 {

inline constexpr std::size_t kHeaderBytes = 348;
inline constexpr std::size_t kFirstVoxel =
    352;                                        // the header and four bytes that say "no extension"
inline constexpr std::size_t kDim = 40;         // 8 int16
inline constexpr std::size_t kDatatype = 70;    // int16
inline constexpr std::size_t kBitpix = 72;      // int16
inline constexpr std::size_t kPixdim = 76;      // 8 float32
inline constexpr std::size_t kVoxOffset = 108;  // float32
inline constexpr std::size_t kSclSlope = 112;   // float32
inline constexpr std::size_t kSclInter = 116;   // float32
inline constexpr std::size_t kXyztUnits = 123;  // uint8
inline constexpr std::size_t kDescrip = 148;    // 80 bytes
inline constexpr std::size_t kQformCode = 252;  // int16
inline constexpr std::size_t kSformCode = 254;  // int16
inline constexpr std::size_t kQuatern = 256;    // 3 float32
inline constexpr std::size_t kQoffset = 268;    // 3 float32
inline constexpr std::size_t kSrow = 280;       // 12 float32
inline constexpr std::size_t kMagic = 344;
inline constexpr std::array<char, 4> kMagicSingle{'n', '+', '1', '\0'};
inline constexpr std::array<char, 4> kMagicPair{'n', 'i', '1', '\0'};

}  // namespace mezzotint::nifti1

namespace mezzotint::nifti2 {

inline constexpr std::size_t kHeaderBytes = 540;
inline constexpr std::size_t kFirstVoxel = 544;
inline constexpr std::size_t kMagic = 4;
inline constexpr std::size_t kDatatype = 12;    // int16
inline constexpr std::size_t kBitpix = 14;      // int16
inline constexpr std::size_t kDim = 16;         // 8 int64
inline constexpr std::size_t kPixdim = 104;     // 8 float64
inline constexpr std::size_t kVoxOffset = 168;  // int64
inline constexpr std::size_t kSclSlope = 176;   // float64
inline constexpr std::size_t kSclInter = 184;   // float64
inline constexpr std::size_t kDescrip = 240;    // 80 bytes
inline constexpr std::size_t kQformCode = 344;  // int32
inline constexpr std::size_t kSformCode = 348;  // int32
inline constexpr std::size_t kQuatern = 352;    // 3 float64
inline constexpr std::size_t kQoffset = 376;    // 3 float64
inline constexpr std::size_t kSrow = 400;       // 12 float64
inline constexpr std::size_t kXyztUnits = 500;  // int32
inline constexpr std::array<char, 8> kMagicSingle{'n', '+', '2', '\0', '\r', '\n', '\032', '\n'};
inline constexpr std::array<char, 8> kMagicPair{'n', 'i', '2', '\0', '\r', '\n', '\032', '\n'};

}  // namespace mezzotint::nifti2

namespace mezzotint {

inline constexpr std::size_t kDescripBytes = 80;

}  // namespace mezzotint
