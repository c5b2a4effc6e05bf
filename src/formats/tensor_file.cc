#include "formats/tensor_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "formats/safetensors.h"
#include "formats/safetensors_index.h"
#include "formats/torch_checkpoint.h"

namespace mezzotint {
namespace {

// Large enough to amortise a system call, small enough to stay in the second-level cache.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

bool is_contiguous(const TensorInfo& info, const TensorView& view) {
  std::int64_t expected = 1;
  for (std::size_t i = info.shape.size(); i-- > 0;) {
    if (info.shape[i] != 1 && view.strides[i] != expected) {
      return false;
    }
    expected *= info.shape[i];
  }
  return true;
}

// The elements of a view in row-major order, one after the other.
class StridedWalk {
 public:
  StridedWalk(const TensorInfo& info, const TensorView& view)
      : shape_(info.shape), strides_(view.strides), index_(info.shape.size(), 0) {}

  // From the view's first element, in elements.
  [[nodiscard]] std::int64_t position() const { return position_; }

  void advance() {
    for (std::size_t i = shape_.size(); i-- > 0;) {
      position_ += strides_[i];
      if (++index_[i] < shape_[i]) {
        return;
      }
      position_ -= strides_[i] * shape_[i];
      index_[i] = 0;
    }
  }

 private:
  std::span<const std::int64_t> shape_;
  std::span<const std::int64_t> strides_;
  std::vector<std::int64_t> index_;
  std::int64_t position_ = 0;
};

// Elements from the view's first to its last, both included.
std::int64_t extent_of(const TensorInfo& info, const TensorView& view) {
  std::int64_t extent = 1;
  for (std::size_t i = 0; i < info.shape.size(); ++i) {
    extent += (info.shape[i] - 1) * view.strides[i];
  }
  return extent;
}

std::vector<InputFile> only(InputFile file) {
  std::vector<InputFile> files;
  files.push_back(std::move(file));
  return files;
}

}  // namespace

TensorFile::TensorFile(InputFile file, TensorDirectory directory)
    : TensorFile(only(std::move(file)), std::move(directory)) {}

TensorFile::TensorFile(std::vector<InputFile> files, TensorDirectory directory)
    : files_(std::move(files)),
      directory_(std::move(directory)),
      verified_(directory_.storages.size(), false) {
  check(directory_.tensors.size() == directory_.views.size(), "each tensor has a view");
  for (std::size_t i = 0; i < directory_.tensors.size(); ++i) {
    const TensorInfo& info = directory_.tensors[i];
    by_name_.emplace(std::pair<std::string_view, std::string_view>(info.group, info.name), i);
  }
}

std::vector<std::filesystem::path> TensorFile::files() const {
  std::vector<std::filesystem::path> paths;
  for (const InputFile& file : files_) {
    paths.push_back(file.path());
  }
  return paths;
}

std::uint64_t TensorFile::bytes() const {
  std::uint64_t sum = 0;
  for (const InputFile& file : files_) {
    sum += file.size();
  }
  return sum;
}

std::vector<std::string> TensorFile::groups() const {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const TensorInfo& info : directory_.tensors) {
    if (known.insert(info.group).second) {
      names.push_back(info.group);
    }
  }
  return names;
}

std::optional<std::size_t> TensorFile::find(std::string_view group, std::string_view name) const {
  const auto found = by_name_.find({group, name});
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

// A pass of its own over the storage: a view may need only part of it, and the second reading comes
// from the page cache.
Status TensorFile::verify(std::size_t storage) {
  const TensorStorage& run = directory_.storages[storage];
  if (verified_[storage] || !run.crc32) {
    return {};
  }
  std::vector<std::byte> piece(std::min<std::uint64_t>(run.bytes, kPieceBytes));
  uLong crc = ::crc32_z(0, nullptr, 0);
  for (std::uint64_t done = 0; done < run.bytes; done += piece.size()) {
    const auto part =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), run.bytes - done));
    if (Status status = files_[run.file].read_at(run.offset + done, part); !status) {
      return status;
    }
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  if (crc != *run.crc32) {
    return invalid_input(
        "{}: the {} bytes at offset {} have checksum {:08x}, expected {:08x}: the file is damaged; "
        "copy or download it again",
        files_[run.file].path().string(), run.bytes, run.offset, crc, *run.crc32);
  }
  verified_[storage] = true;
  return {};
}

template <typename Consume>
Status TensorFile::read_pieces(std::size_t index, const Consume& consume) {
  const TensorInfo& info = directory_.tensors[index];
  const TensorView& view = directory_.views[index];
  if (Status status = verify(view.storage); !status) {
    return status;
  }
  if (info.elements == 0) {
    return {};
  }
  const std::size_t size = size_of(info.dtype);
  const auto elements = static_cast<std::uint64_t>(info.elements);
  const TensorStorage& storage = directory_.storages[view.storage];
  const InputFile& file = files_[storage.file];
  const std::uint64_t begin = storage.offset + static_cast<std::uint64_t>(view.offset) * size;
  const std::uint64_t per_piece = std::min<std::uint64_t>(elements, kPieceBytes / size);
  std::vector<std::byte> piece(per_piece * size);
  const bool contiguous = is_contiguous(info, view);
  std::vector<std::byte> extent;
  if (!contiguous) {
    extent.resize(static_cast<std::uint64_t>(extent_of(info, view)) * size);
    if (Status status = file.read_at(begin, extent); !status) {
      return status;
    }
  }
  StridedWalk walk(info, view);
  for (std::uint64_t first = 0; first < elements; first += per_piece) {
    const auto part = std::span(piece).first(std::min(per_piece, elements - first) * size);
    if (contiguous) {
      if (Status status = file.read_at(begin + first * size, part); !status) {
        return status;
      }
    } else {
      for (std::size_t at = 0; at < part.size(); at += size, walk.advance()) {
        std::memcpy(part.data() + at, extent.data() + walk.position() * size, size);
      }
    }
    consume(std::span<const std::byte>(part), static_cast<std::size_t>(first));
  }
  return {};
}

Status TensorFile::read_float(std::size_t index, std::span<float> out) {
  const TensorInfo& info = directory_.tensors.at(index);
  check(out.size() == static_cast<std::size_t>(info.elements), "read_float: size of out");
  const std::size_t size = size_of(info.dtype);
  return read_pieces(index, [&](std::span<const std::byte> bytes, std::size_t first) {
    convert_to_float(info.dtype, bytes, out.subspan(first, bytes.size() / size));
  });
}

Status TensorFile::read_bytes(std::size_t index, std::span<std::byte> out) {
  const TensorInfo& info = directory_.tensors.at(index);
  const std::size_t size = size_of(info.dtype);
  check(out.size() == static_cast<std::size_t>(info.elements) * size, "read_bytes: size of out");
  return read_pieces(index, [&](std::span<const std::byte> bytes, std::size_t first) {
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(first * size));
  });
}

Result<std::string> TensorFile::sha256(const CancelToken* cancel) const {
  std::string lines;
  for (const InputFile& file : files_) {
    auto hash = hash_file(file.path(), cancel);
    if (!hash || files_.size() == 1) {
      return hash;
    }
    lines += fmt::format("{}  {}\n", *hash, file.path().filename().string());
  }
  return sha256_hex(std::as_bytes(std::span(lines)));
}

namespace {

bool starts_with(std::span<const std::byte> bytes, std::string_view magic, std::size_t at = 0) {
  return bytes.size() >= at + magic.size() &&
         std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

bool is_text(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

// JSON text: an index, if anything of ours. A safetensors file begins with a length instead.
bool is_json_object(std::span<const std::byte> bytes) {
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](std::byte byte) {
    return byte != std::byte{' '} && byte != std::byte{'\n'} && byte != std::byte{'\r'} &&
           byte != std::byte{'\t'};
  });
  return first != bytes.end() && *first == std::byte{'{'} && is_text(bytes);
}

Result<std::unique_ptr<TensorFile>> open_sharded(InputFile index) {
  auto sharded = read_sharded_safetensors(index);
  if (!sharded) {
    return sharded.error();
  }
  std::vector<InputFile> files = only(std::move(index));
  std::move(sharded->shards.begin(), sharded->shards.end(), std::back_inserter(files));
  return std::make_unique<TensorFile>(std::move(files), std::move(sharded->directory));
}

}  // namespace

std::optional<std::string_view> tensor_format(std::span<const std::byte> start) {
  if (starts_with(start, "PK\x03\x04") || starts_with(start, "PK\x05\x06")) {
    return kTorch;
  }
  // The JSON header follows 8 bytes of length. The length itself may have been damaged.
  if (starts_with(start, "{", 8) && !is_text(start.first(8))) {
    return kSafetensors;
  }
  if (is_json_object(start)) {
    return kSharded;
  }
  return std::nullopt;
}

std::string_view describe_other(std::span<const std::byte> bytes) {
  using namespace std::string_view_literals;
  if (bytes.empty()) {
    return "an empty file; copy or download it again";
  }
  // The pickle of torch's magic number, 0x1950A86A20F9469CFC6C.
  if (starts_with(bytes, "\x80\x02\x8A\x0Al\xFC\x9C\x46\xF9\x20j\xA8P\x19.")) {
    return "a torch file in the legacy format (before torch 1.6, or saved with "
           "_use_new_zipfile_serialization=False); convert it with `python3 -c \"import torch; "
           "torch.save(torch.load('OLD', 'cpu', weights_only=True), 'NEW')\"`";
  }
  if (starts_with(bytes, "\x80")) {
    return "a pickle without torch's zip around it; load it and save a dictionary of tensors with "
           "torch.save";
  }
  if (starts_with(bytes, "\x89HDF\r\n\x1A\n")) {
    return "an HDF5 file; save the weights as safetensors";
  }
  if (starts_with(bytes, "\x93NUMPY")) {
    return "a NumPy array; save the weights as safetensors";
  }
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n")) {
    return "a PNG picture";
  }
  if (starts_with(bytes, "\x1F\x8B")) {
    return "a gzip file; decompress it first, if it holds a checkpoint";
  }
  if (starts_with(bytes, "\x5C\x01\x00\x00"sv) || starts_with(bytes, "\x00\x00\x01\x5C"sv)) {
    return "a NIfTI image, not weights";
  }
  if (starts_with(bytes, "version https://git-lfs")) {
    return "a Git LFS pointer, not the file itself; run git lfs pull";
  }
  if (is_text(bytes)) {
    return "a text file; if it was downloaded, it may be a web page instead of the file";
  }
  return "of no known format";
}

Result<std::unique_ptr<TensorFile>> open_tensor_file(const std::filesystem::path& path) {
  auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  const auto start = file->start(kProbeBytes);
  if (!start) {
    return start.error();
  }
  const auto format = tensor_format(*start);
  if (!format) {
    return invalid_input("{}: {}; expected safetensors or a torch checkpoint", path.string(),
                         describe_other(*start));
  }
  if (*format == kSharded) {
    return open_sharded(std::move(*file));
  }
  auto directory =
      *format == kTorch ? read_torch_directory(*file) : read_safetensors_directory(*file);
  if (!directory) {
    return directory.error();
  }
  return std::make_unique<TensorFile>(std::move(*file), std::move(*directory));
}

}  // namespace mezzotint
