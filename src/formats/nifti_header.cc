#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/error.h"
#include "formats/gzip.h"
#include "formats/nifti.h"
#include "formats/nifti_layout.h"
#include "formats/nifti_space.h"

namespace mezzotint {
namespace {

// Fields of a header whose size has been checked, in the file's byte order.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, bool swap) : bytes_(bytes), swap_(swap) {}

  template <typename T>
  [[nodiscard]] T get(std::size_t offset) const {
    std::array<std::byte, sizeof(T)> raw;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), sizeof(T), raw.begin());
    if (swap_) {
      std::reverse(raw.begin(), raw.end());
    }
    return std::bit_cast<T>(raw);
  }

  template <typename T, typename U, std::size_t N>
  void get_all(std::size_t offset, std::array<U, N>& out) const {
    for (std::size_t i = 0; i < N; ++i) {
      out[i] = static_cast<U>(get<T>(offset + i * sizeof(T)));
    }
  }

  template <std::size_t N>
  [[nodiscard]] bool has(std::size_t offset, const std::array<char, N>& text) const {
    return std::memcmp(bytes_.data() + offset, text.data(), N) == 0;
  }

  [[nodiscard]] std::string text(std::size_t offset, std::size_t count) const {
    const auto* first = reinterpret_cast<const char*>(bytes_.data() + offset);
    return {first, std::find(first, first + count, '\0')};
  }

 private:
  std::span<const std::byte> bytes_;
  bool swap_;
};

// Fields that need a check before they become header facts.
struct RawFacts {
  std::array<std::int64_t, 8> dim{};
  int datatype = 0;
  int bitpix = 0;
  double voxel_offset = 0;
  double slope = 0;
  double intercept = 0;
  std::size_t first_voxel = 0;  // smallest offset of a single file's voxels
};

std::string_view name_of_refused_type(int datatype) {
  switch (datatype) {
    case 0: return "unknown";
    case 1: return "binary";
    case 32: return "complex64";
    case 128: return "RGB";
    case 1536: return "float128";
    case 1792: return "complex128";
    case 2048: return "complex256";
    case 2304: return "RGBA";
    default: return "not a NIfTI type";
  }
}

std::optional<NiftiType> known_type(int datatype) {
  for (const NiftiType type :
       {NiftiType::kUint8, NiftiType::kInt16, NiftiType::kInt32, NiftiType::kFloat32,
        NiftiType::kFloat64, NiftiType::kInt8, NiftiType::kUint16, NiftiType::kUint32,
        NiftiType::kInt64, NiftiType::kUint64}) {
    if (static_cast<int>(type) == datatype) {
      return type;
    }
  }
  return std::nullopt;
}

struct HeaderSize {
  std::int32_t bytes = 0;  // 0: not a NIfTI header
  bool swapped = false;
};

HeaderSize stated_size(std::span<const std::byte> bytes) {
  constexpr std::array<std::int32_t, 2> kSizes{nifti1::kHeaderBytes, nifti2::kHeaderBytes};
  if (bytes.size() >= sizeof(std::int32_t)) {
    for (const bool swapped : {false, true}) {
      const auto size = Fields(bytes, swapped).get<std::int32_t>(0);
      if (std::find(kSizes.begin(), kSizes.end(), size) != kSizes.end()) {
        return {size, swapped};
      }
    }
  }
  return {};
}

Error not_nifti(std::span<const std::byte> bytes, std::string_view what) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.empty()) {
    return invalid_input("{}: is empty, expected a NIfTI image", what);
  }
  if (is_gzip(bytes)) {
    return invalid_input("{}: is compressed twice; decompress it once with gunzip", what);
  }
  if (text.size() > 132 && text.substr(128, 4) == "DICM") {
    return invalid_input("{}: is a DICOM file, expected NIfTI; convert it first", what);
  }
  const std::string_view start = text.substr(0, 64);
  if (std::all_of(start.begin(), start.end(), [](char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
      })) {
    return invalid_input("{}: is a text file, expected a NIfTI image", what);
  }
  return invalid_input(
      "{}: is not NIfTI: its first four bytes are not a header size of 348 or 540 in either byte "
      "order",
      what);
}

void read_version1(const Fields& fields, NiftiHeader& header, RawFacts& raw) {
  using namespace nifti1;
  header.version = 1;
  raw.first_voxel = kFirstVoxel;
  fields.get_all<std::int16_t>(kDim, raw.dim);
  raw.datatype = fields.get<std::int16_t>(kDatatype);
  raw.bitpix = fields.get<std::int16_t>(kBitpix);
  raw.voxel_offset = fields.get<float>(kVoxOffset);
  raw.slope = fields.get<float>(kSclSlope);
  raw.intercept = fields.get<float>(kSclInter);
  header.description = fields.text(kDescrip, kDescripBytes);
  NiftiGeometry& geometry = header.geometry;
  geometry.qform_code = fields.get<std::int16_t>(kQformCode);
  geometry.sform_code = fields.get<std::int16_t>(kSformCode);
  geometry.xyzt_units = fields.get<std::uint8_t>(kXyztUnits);
  fields.get_all<float>(kPixdim, geometry.pixdim);
  fields.get_all<float>(kQuatern, geometry.quatern);
  fields.get_all<float>(kQoffset, geometry.qoffset);
  for (std::size_t row = 0; row < 3; ++row) {
    fields.get_all<float>(kSrow + row * 4 * sizeof(float), geometry.srow[row]);
  }
}

void read_version2(const Fields& fields, NiftiHeader& header, RawFacts& raw) {
  using namespace nifti2;
  header.version = 2;
  raw.first_voxel = kFirstVoxel;
  fields.get_all<std::int64_t>(kDim, raw.dim);
  raw.datatype = fields.get<std::int16_t>(kDatatype);
  raw.bitpix = fields.get<std::int16_t>(kBitpix);
  raw.voxel_offset = static_cast<double>(fields.get<std::int64_t>(kVoxOffset));
  raw.slope = fields.get<double>(kSclSlope);
  raw.intercept = fields.get<double>(kSclInter);
  header.description = fields.text(kDescrip, kDescripBytes);
  NiftiGeometry& geometry = header.geometry;
  geometry.qform_code = fields.get<std::int32_t>(kQformCode);
  geometry.sform_code = fields.get<std::int32_t>(kSformCode);
  geometry.xyzt_units = fields.get<std::int32_t>(kXyztUnits);
  fields.get_all<double>(kPixdim, geometry.pixdim);
  fields.get_all<double>(kQuatern, geometry.quatern);
  fields.get_all<double>(kQoffset, geometry.qoffset);
  for (std::size_t row = 0; row < 3; ++row) {
    fields.get_all<double>(kSrow + row * 4 * sizeof(double), geometry.srow[row]);
  }
}

Status set_type_and_dims(const RawFacts& raw, NiftiHeader& header, std::string_view what) {
  const auto type = known_type(raw.datatype);
  if (!type) {
    return unsupported(
        "{}: data type {} ({}) cannot be read, expected integers or real numbers; convert it", what,
        raw.datatype, name_of_refused_type(raw.datatype));
  }
  header.type = *type;
  if (raw.bitpix != static_cast<int>(8 * size_of(*type))) {
    header.notes.push_back(fmt::format("bitpix is {}, but {} has {} bits; the type is believed",
                                       raw.bitpix, name_of(*type), 8 * size_of(*type)));
  }
  const std::int64_t rank = raw.dim[0];
  if (rank < 1 || rank > 7) {
    return invalid_input("{}: states {} dimensions, expected 3 to 7; the header is damaged", what,
                         rank);
  }
  if (rank < 3) {
    return invalid_input("{}: is a {}D image, expected a 3D volume", what, rank);
  }
  header.dims.assign(raw.dim.begin() + 1, raw.dim.begin() + 1 + rank);
  for (std::size_t i = 0; i < header.dims.size(); ++i) {
    if (header.dims[i] < 1) {
      return invalid_input("{}: dimension {} is {}, expected at least 1; the header is damaged",
                           what, i + 1, header.dims[i]);
    }
  }
  const auto elements = checked_elements(header.dims);
  if (!elements || static_cast<std::uint64_t>(*elements) > kMaxNiftiBytes / size_of(*type)) {
    return invalid_input("{}: {} voxels of {} need more than {} GiB, the most that is read", what,
                         fmt::join(header.dims, " x "), name_of(*type), kMaxNiftiBytes >> 30);
  }
  return {};
}

Status set_voxel_offset(const RawFacts& raw, NiftiHeader& header, std::string_view what) {
  double offset = raw.voxel_offset;
  const double smallest = header.two_files ? 0 : static_cast<double>(raw.first_voxel);
  if (offset == 0 && !header.two_files) {
    offset = smallest;
    header.notes.push_back(
        fmt::format("vox_offset is 0; voxels are taken to begin at byte {}", raw.first_voxel));
  }
  // Written so that NaN is refused too.
  if (!(offset >= smallest && offset <= static_cast<double>(kMaxNiftiBytes)) ||
      offset != std::floor(offset)) {
    return invalid_input("{}: vox_offset is {}, expected a whole number of at least {}", what,
                         raw.voxel_offset, smallest);
  }
  header.voxel_offset = static_cast<std::uint64_t>(offset);
  return {};
}

void set_scaling(const RawFacts& raw, NiftiHeader& header) {
  if (raw.slope == 0 || !std::isfinite(raw.slope)) {
    return;  // nifti1.h: slope 0 means no scaling; common writers put NaN
  }
  header.slope = raw.slope;
  header.intercept = raw.intercept;
  if (!std::isfinite(raw.intercept)) {
    header.intercept = 0;
    header.notes.push_back(fmt::format("scl_inter is {}; 0 is used", raw.intercept));
  }
}

}  // namespace

std::string_view name_of(NiftiType type) {
  switch (type) {
    case NiftiType::kUint8: return "uint8";
    case NiftiType::kInt16: return "int16";
    case NiftiType::kInt32: return "int32";
    case NiftiType::kFloat32: return "float32";
    case NiftiType::kFloat64: return "float64";
    case NiftiType::kInt8: return "int8";
    case NiftiType::kUint16: return "uint16";
    case NiftiType::kUint32: return "uint32";
    case NiftiType::kInt64: return "int64";
    case NiftiType::kUint64: return "uint64";
  }
  return "unknown";
}

std::size_t size_of(NiftiType type) {
  switch (type) {
    case NiftiType::kUint8:
    case NiftiType::kInt8: return 1;
    case NiftiType::kInt16:
    case NiftiType::kUint16: return 2;
    case NiftiType::kInt32:
    case NiftiType::kUint32:
    case NiftiType::kFloat32: return 4;
    case NiftiType::kFloat64:
    case NiftiType::kInt64:
    case NiftiType::kUint64: return 8;
  }
  return 0;
}

bool is_nifti(std::span<const std::byte> start) {
  if (!is_gzip(start)) {
    return stated_size(start).bytes != 0;
  }
  const auto content = gunzip_prefix(start, sizeof(std::int32_t), "");
  return content && stated_size(*content).bytes != 0;
}

Result<NiftiHeader> parse_nifti_header(std::span<const std::byte> bytes, std::string_view what) {
  const auto [stated, swap] = stated_size(bytes);
  if (stated == 0) {
    return not_nifti(bytes, what);
  }
  if (bytes.size() < static_cast<std::size_t>(stated)) {
    return invalid_input("{}: has {} bytes, expected a NIfTI header of {}: the file is truncated",
                         what, bytes.size(), stated);
  }
  const Fields fields(bytes, swap);
  const bool first = stated == nifti1::kHeaderBytes;
  const bool single = first ? fields.has(nifti1::kMagic, nifti1::kMagicSingle)
                            : fields.has(nifti2::kMagic, nifti2::kMagicSingle);
  const bool pair = first ? fields.has(nifti1::kMagic, nifti1::kMagicPair)
                          : fields.has(nifti2::kMagic, nifti2::kMagicPair);
  if (!single && !pair) {
    return invalid_input(
        "{}: has a header of {} bytes without NIfTI's magic word (an Analyze 7.5 file has none and "
        "states no orientation); convert it to NIfTI",
        what, stated);
  }
  NiftiHeader header;
  RawFacts raw;
  header.big_endian = swap;
  header.two_files = pair;
  if (first) {
    read_version1(fields, header, raw);
  } else {
    read_version2(fields, header, raw);
  }
  if (Status status = set_type_and_dims(raw, header, what); !status) {
    return status.error();
  }
  if (Status status = set_voxel_offset(raw, header, what); !status) {
    return status.error();
  }
  set_scaling(raw, header);
  if (Status status = choose_affine(header, what); !status) {
    return status.error();
  }
  return header;
}

}  // namespace mezzotint
