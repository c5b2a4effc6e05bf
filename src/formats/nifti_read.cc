#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "formats/gzip.h"
#include "formats/nifti.h"
#include "formats/nifti_layout.h"

namespace mezzotint {
namespace {

// Bytes after the voxels that a file may hold: padding, not another volume.
constexpr std::uint64_t kLargestTail = std::uint64_t{1} << 20;
// `count` values of type T from `bytes` on, swapped when asked, scaled.
template <typename T>
void convert(const std::byte* bytes, bool swap, double slope, double intercept,
             std::span<double> out) {
  for (double& value : out) {
    std::array<std::byte, sizeof(T)> raw;
    std::copy_n(bytes, sizeof(T), raw.begin());
    bytes += sizeof(T);
    if (swap) {
      std::reverse(raw.begin(), raw.end());
    }
    value = static_cast<double>(std::bit_cast<T>(raw)) * slope + intercept;
  }
}

// Both factors were bounded by parse_nifti_header().
std::uint64_t bytes_needed(const NiftiHeader& header) {
  const auto elements = checked_elements(header.dims);
  check(elements.has_value(), "a parsed header has a finite volume");
  return header.voxel_offset + static_cast<std::uint64_t>(*elements) * size_of(header.type);
}

Error too_short(const NiftiHeader& header, std::uint64_t size, std::string_view what) {
  return invalid_input(
      "{}: has {} bytes, but {} voxels of {} from byte {} need {}: the file is truncated; copy it "
      "again",
      what, size, fmt::join(header.dims, " x "), name_of(header.type), header.voxel_offset,
      bytes_needed(header));
}

// Decompresses where needed, no further than the header (already known) allows.
Result<NiftiImage> with_voxels(NiftiHeader header, std::vector<std::byte> bytes,
                               std::string_view what) {
  if (is_gzip(bytes)) {
    auto content = gunzip(bytes, bytes_needed(header) + kLargestTail, what);
    if (!content) {
      return content.error();
    }
    bytes = std::move(*content);
  }
  if (bytes.size() < bytes_needed(header)) {
    return too_short(header, bytes.size(), what);
  }
  return NiftiImage{std::move(header), std::move(bytes), {}};
}

Result<NiftiHeader> header_of(std::span<const std::byte> bytes, std::string_view what) {
  if (!is_gzip(bytes)) {
    return parse_nifti_header(bytes, what);
  }
  auto start = gunzip_prefix(bytes, nifti2::kHeaderBytes, what);
  if (!start) {
    return start.error();
  }
  return parse_nifti_header(*start, what);
}

// The first bytes of a file show whether the rest is worth reading.
struct FileStart {
  std::vector<std::byte> bytes;
  std::uint64_t file_size = 0;
};

Result<FileStart> read_start(const std::filesystem::path& path) {
  const auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  FileStart start{std::vector<std::byte>(std::min(file->size(), kNiftiStartBytes)), file->size()};
  if (Status status = file->read_at(0, start.bytes); !status) {
    return status.error();
  }
  return start;
}

// The file that holds the voxels of `header`.
Result<NiftiImage> read_voxels(NiftiHeader header, const FileStart& start,
                               const std::filesystem::path& path) {
  if (!is_gzip(start.bytes) && start.file_size > bytes_needed(header) + kLargestTail) {
    return invalid_input(
        "{}: has {} bytes, but {} voxels of {} from byte {} need only {}: more follows than "
        "padding; check that the header is this image's",
        path.string(), start.file_size, fmt::join(header.dims, " x "), name_of(header.type),
        header.voxel_offset, bytes_needed(header));
  }
  auto bytes = read_file(path, kMaxNiftiBytes);
  if (!bytes) {
    return bytes.error();
  }
  std::string hash = sha256_hex(*bytes);
  auto image = with_voxels(std::move(header), std::move(*bytes), path.string());
  if (image) {
    image->sha256 = std::move(hash);
  }
  return image;
}

bool ends_with(const std::string& text, std::string_view ending) {
  return text.size() > ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// `path` with its ending .from or .from.gz replaced; the candidate that exists, else the plain one.
std::optional<std::filesystem::path> sibling(const std::filesystem::path& path,
                                             std::string_view from, std::string_view to) {
  std::string stem = path.string();
  if (ends_with(stem, ".gz")) {
    stem.resize(stem.size() - 3);
  }
  if (!ends_with(stem, from)) {
    return std::nullopt;
  }
  stem.resize(stem.size() - from.size());
  const std::filesystem::path plain = stem + std::string(to);
  const std::filesystem::path compressed = plain.string() + ".gz";
  std::error_code ignored;
  const bool use_compressed =
      !std::filesystem::exists(plain, ignored) && std::filesystem::exists(compressed, ignored);
  return use_compressed ? compressed : plain;
}

std::filesystem::path header_path(const std::filesystem::path& path) {
  return sibling(path, ".img", ".hdr").value_or(path);
}

// `error` met at the header of `path`.
Error about_header(const Error& error, const std::filesystem::path& header,
                   const std::filesystem::path& path) {
  return header == path
             ? error
             : make_error(error.code, "{} (the header of {})", error.message, path.string());
}

Result<NiftiImage> read_pair(NiftiHeader header, const std::filesystem::path& header_path) {
  const auto voxels_path = sibling(header_path, ".hdr", ".img");
  if (!voxels_path) {
    return invalid_input(
        "{}: is the header of a .hdr/.img pair, expected a name that ends in .hdr so that the .img "
        "beside it can be found",
        header_path.string());
  }
  const auto start = read_start(*voxels_path);
  if (!start) {
    return make_error(start.error().code, "{} (the voxels of {})", start.error().message,
                      header_path.string());
  }
  const auto header_hash = hash_file(header_path);
  if (!header_hash) {
    return header_hash.error();
  }
  auto image = read_voxels(std::move(header), *start, *voxels_path);
  if (image) {
    const std::string both = *header_hash + image->sha256;
    image->sha256 = sha256_hex(std::as_bytes(std::span(both)));
  }
  return image;
}

}  // namespace

std::int64_t NiftiImage::voxels() const {
  return checked_elements(header.dims).value_or(0);
}

void NiftiImage::read_values(std::int64_t first, std::span<double> out) const {
  check(first >= 0 && first <= voxels() && out.size() <= static_cast<std::size_t>(voxels() - first),
        "voxels outside the image");
  const std::byte* source =
      bytes.data() + header.voxel_offset + static_cast<std::size_t>(first) * size_of(header.type);
  const auto run = [&]<typename T>(T /*type*/) {
    convert<T>(source, header.big_endian, header.slope, header.intercept, out);
  };
  switch (header.type) {
    case NiftiType::kUint8: return run(std::uint8_t{});
    case NiftiType::kInt8: return run(std::int8_t{});
    case NiftiType::kInt16: return run(std::int16_t{});
    case NiftiType::kUint16: return run(std::uint16_t{});
    case NiftiType::kInt32: return run(std::int32_t{});
    case NiftiType::kUint32: return run(std::uint32_t{});
    case NiftiType::kInt64: return run(std::int64_t{});
    case NiftiType::kUint64: return run(std::uint64_t{});
    case NiftiType::kFloat32: return run(float{});
    case NiftiType::kFloat64: return run(double{});
  }
}

double NiftiImage::value(std::int64_t index) const {
  double result = 0;
  read_values(index, std::span(&result, 1));
  return result;
}

void NiftiImage::to_float(std::span<float> out) const {
  check(out.size() == static_cast<std::size_t>(voxels()), "one float per voxel");
  std::array<double, 4096> block;
  for (std::size_t first = 0; first < out.size(); first += block.size()) {
    const std::size_t count = std::min(block.size(), out.size() - first);
    read_values(static_cast<std::int64_t>(first), std::span(block).first(count));
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count),
                   out.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double value) { return static_cast<float>(value); });
  }
}

Result<NiftiImage> decode_nifti(std::vector<std::byte> bytes, std::string_view what) {
  auto header = header_of(bytes, what);
  if (!header) {
    return header.error();
  }
  if (header->two_files) {
    return unsupported("{}: is the header of a .hdr/.img pair, expected a single NIfTI file", what);
  }
  return with_voxels(std::move(*header), std::move(bytes), what);
}

std::vector<std::filesystem::path> nifti_files(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files{path};
  for (const auto& other : {sibling(path, ".hdr", ".img"), sibling(path, ".img", ".hdr")}) {
    if (other) {
      files.push_back(*other);
    }
  }
  return files;
}

Result<NiftiHeader> read_nifti_header(const std::filesystem::path& path) {
  const std::filesystem::path first = header_path(path);
  const auto start = read_start(first);
  return start ? header_of(start->bytes, first.string())
               : Result<NiftiHeader>(about_header(start.error(), first, path));
}

NiftiMemory nifti_memory(const std::filesystem::path& path) {
  constexpr std::uint64_t kMostCompressed = 1032;  // deflate: 258 bytes by two bits
  const auto header = read_nifti_header(path);
  const std::filesystem::path first = header_path(path);
  const auto start = read_start(
      header && header->two_files ? sibling(first, ".hdr", ".img").value_or(first) : first);
  if (!header || !start) {
    return {};
  }
  const std::uint64_t needed = bytes_needed(*header);
  NiftiMemory memory;
  if (is_gzip(start->bytes)) {
    memory.image = std::min(needed, start->file_size * kMostCompressed);
    memory.reading = start->file_size + memory.image;
  } else {
    memory.image = std::min(start->file_size, needed + kLargestTail);
    memory.reading = memory.image;
  }
  if (memory.image >= needed) {
    memory.voxels = (needed - header->voxel_offset) / size_of(header->type);
  }
  return memory;
}

Result<NiftiImage> read_nifti(const std::filesystem::path& path) {
  const std::filesystem::path first = header_path(path);
  const auto start = read_start(first);
  if (!start) {
    return about_header(start.error(), first, path);
  }
  auto header = header_of(start->bytes, first.string());
  if (!header) {
    return header.error();
  }
  if (header->two_files) {
    return read_pair(std::move(*header), first);
  }
  return read_voxels(std::move(*header), *start, first);
}

Result<std::array<std::int64_t, 3>> volume_dims(const NiftiHeader& header, std::string_view what) {
  check(header.dims.size() >= 3, "a parsed header has three dimensions");
  if (std::any_of(header.dims.begin() + 3, header.dims.end(),
                  [](std::int64_t dim) { return dim != 1; })) {
    return invalid_input("{}: holds {} voxels, expected one 3D volume; extract the one you mean",
                         what, fmt::join(header.dims, " x "));
  }
  return std::array{header.dims[0], header.dims[1], header.dims[2]};
}

}  // namespace mezzotint
