// NIfTI-1 and NIfTI-2 images, read and written by our own code.
// Sources: nifti1.h and nifti2.h of the NIfTI Data Format Working Group (2003, 2011).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/affine.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Content larger than this is refused, compressed or not.
inline constexpr std::uint64_t kMaxNiftiBytes = std::uint64_t{4} << 30;

enum class NiftiType : std::int16_t {
  kUint8 = 2,
  kInt16 = 4,
  kInt32 = 8,
  kFloat32 = 16,
  kFloat64 = 64,
  kInt8 = 256,
  kUint16 = 512,
  kUint32 = 768,
  kInt64 = 1024,
  kUint64 = 1280,
};

[[nodiscard]] std::string_view name_of(NiftiType type);
[[nodiscard]] std::size_t size_of(NiftiType type);

// Everything the header says about space, as stored, so that a writer can say the same again. In a
// parsed header only what can be used is left: an sform or qform that places no voxels has code 0
// and zeros, voxel sizes that are none are those of the affine, and every number fits float32.
struct NiftiGeometry {
  int qform_code = 0;
  int sform_code = 0;
  int xyzt_units = 0;
  std::array<double, 8> pixdim{};   // pixdim[0] is qfac
  std::array<double, 3> quatern{};  // b, c, d
  std::array<double, 3> qoffset{};
  std::array<std::array<double, 4>, 3> srow{};
};

enum class AffineSource : std::uint8_t { kSform, kQform, kPixdim };
[[nodiscard]] std::string_view name_of(AffineSource source);

struct NiftiHeader {
  int version = 1;  // 1 or 2
  bool big_endian = false;
  bool two_files = false;          // .hdr and .img
  std::vector<std::int64_t> dims;  // 1 to 7, x first, all >= 1; their product fits int64
  NiftiType type = NiftiType::kUint8;
  std::uint64_t voxel_offset = 0;  // in the file that holds the voxels
  double slope = 1;                // value = stored * slope + intercept; 1 and 0 when the header
  double intercept = 0;            // has no scaling (slope 0 or not finite)
  NiftiGeometry geometry;
  Affine affine{};  // voxel index -> world mm, RAS+: sform before qform before pixdim
  AffineSource affine_source = AffineSource::kPixdim;
  Vec3 spacing{};                  // mm, the affine's column lengths
  std::string description;         // `descrip`, cut at the first zero byte
  std::vector<std::string> notes;  // one line each: what was assumed, corrected or ignored
};

struct NiftiImage {
  NiftiHeader header;
  std::vector<std::byte>
      bytes;  // decompressed file that holds the voxels, in the file's byte order
  // Of the file as stored; of a pair, of the two files' hashes, the .hdr's first, as text. Empty
  // from decode_nifti.
  std::string sha256;

  [[nodiscard]] std::int64_t voxels() const;
  // Scaled values of voxels [first, first + out.size()), x fastest. 64-bit integers beyond 2^53 are
  // rounded.
  void read_values(std::int64_t first, std::span<double> out) const;
  [[nodiscard]] double value(std::int64_t index) const;
  // All voxels, rounded to float32. out.size() == voxels().
  void to_float(std::span<float> out) const;
};

// The header at the start of uncompressed bytes. `what` (the file's name) begins each error's line.
[[nodiscard]] Result<NiftiHeader> parse_nifti_header(std::span<const std::byte> bytes,
                                                     std::string_view what);

// So much of a file's start holds its header, compressed or not: gzip's own header may hold 64 KiB
// of extra fields and a name.
inline constexpr std::uint64_t kNiftiStartBytes = 128 << 10;

// Whether a file that starts so is meant to be NIfTI, compressed or not: its header's size is one
// of NIfTI's, in either byte order.
[[nodiscard]] bool is_nifti(std::span<const std::byte> start);

// A single-file image, gzip or not by content. Nothing is allocated for voxels that are not there.
[[nodiscard]] Result<NiftiImage> decode_nifti(std::vector<std::byte> bytes, std::string_view what);

// A file: .nii, .nii.gz, or either half of a .hdr/.img pair. The name's ending decides nothing but
// where the other half of a pair is.
[[nodiscard]] Result<NiftiImage> read_nifti(const std::filesystem::path& path);

// Its header alone, with the same refusals; the file's first 128 KiB are read.
[[nodiscard]] Result<NiftiHeader> read_nifti_header(const std::filesystem::path& path);

// What an image takes of memory.
struct NiftiMemory {
  // read_nifti() at its peak: the file with the voxels and, where that is compressed, what its
  // header promises, as far as it can be in there.
  std::uint64_t reading = 0;
  std::uint64_t image = 0;   // the NiftiImage
  std::uint64_t voxels = 0;  // their number; 0 when the file is too small for them
};

// By the header and the size of the file alone. All 0 when the file is not what it should be;
// reading it says why.
[[nodiscard]] NiftiMemory nifti_memory(const std::filesystem::path& path);

// What read_nifti(path) may read: the file itself, and the other half where its name is that of
// one.
[[nodiscard]] std::vector<std::filesystem::path> nifti_files(const std::filesystem::path& path);

// The three dimensions of an image that is one volume: 3D, or more with all further dimensions 1.
[[nodiscard]] Result<std::array<std::int64_t, 3>> volume_dims(const NiftiHeader& header,
                                                              std::string_view what);

// A NIfTI-1 single file, little-endian, uncompressed; float32 for values and uint8 for labels.
// Every spatial field is `geometry`'s (rounded to float32 if that came from NIfTI-2); slope 1,
// intercept 0; `description` (at most 79 bytes) is the only text. data: x fastest, dims[0] *
// dims[1] * dims[2] values.
[[nodiscard]] Result<std::vector<std::byte>> encode_nifti(const NiftiGeometry& geometry,
                                                          const std::array<std::int64_t, 3>& dims,
                                                          std::span<const float> data,
                                                          std::string_view description);
[[nodiscard]] Result<std::vector<std::byte>> encode_nifti(const NiftiGeometry& geometry,
                                                          const std::array<std::int64_t, 3>& dims,
                                                          std::span<const std::uint8_t> labels,
                                                          std::string_view description);

}  // namespace mezzotint
