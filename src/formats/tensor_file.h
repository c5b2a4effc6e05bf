// Files of named tensors, read one tensor at a time.
//
// Nothing is mapped and nothing but the directory of the file is held: a weight is read when it is
// asked for, so the peak memory of loading is one tensor beyond what the caller keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/file.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Far beyond any model; they keep a hostile directory from exhausting memory.
inline constexpr std::size_t kMostTensors = 100'000;
inline constexpr std::size_t kLongestTensorName = 512;
inline constexpr std::size_t kMostDimensions = 16;

struct TensorInfo {
  std::string group;  // top-level dictionary of a torch checkpoint ("model", "ema"), else ""
  std::string name;   // the key inside its group, as stored
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;  // row-major, outermost first; empty for a scalar
  std::int64_t elements = 1;        // product of `shape`
};

// A run of bytes of a file that tensors are views of.
struct TensorStorage {
  std::size_t file = 0;      // 0: the file that was opened; then the shards that it names
  std::uint64_t offset = 0;  // in that file
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> crc32;  // of the whole run; checked before its first use
};

// Where a tensor's elements lie: element (i0, i1, ...) is at `offset` + sum of i_k * strides[k], in
// elements of the tensor's dtype from the start of the storage.
struct TensorView {
  std::size_t storage = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

// What a format's reader finds in a file. The reader has checked that every view lies within its
// storage, every storage within the file, that no tensor has more elements than its storage, and
// that dimensions of 1 have stride 0.
struct TensorDirectory {
  std::vector<TensorInfo> tensors;  // in file order
  std::vector<TensorView> views;    // of the tensor at the same index
  std::vector<TensorStorage> storages;
  std::map<std::string, std::string> metadata;
};

// A file of tensors, or an index with the shards that it names. Use from one thread at a time.
class TensorFile {
 public:
  // The first of `files` is the one that was opened.
  TensorFile(std::vector<InputFile> files, TensorDirectory directory);
  TensorFile(InputFile file, TensorDirectory directory);

  [[nodiscard]] const std::filesystem::path& path() const { return files_.front().path(); }
  // All that is read: path(), then its shards by name.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;
  // In file order. No tensor has more bytes than the file that holds it.
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return directory_.tensors; }
  // Safetensors: `__metadata__`. Torch: scalars at the top level, such as "step" -> "30000".
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const {
    return directory_.metadata;
  }
  // Of all of files().
  [[nodiscard]] std::uint64_t bytes() const;
  // Names of the groups that hold tensors, in file order: up to as many as tensors.
  [[nodiscard]] std::vector<std::string> groups() const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view group,
                                                std::string_view name) const;

  // Fills `out` (size tensors()[index].elements) in row-major order, whatever the strides in the
  // file. Any dtype is converted as convert_to_float() states.
  Status read_float(std::size_t index, std::span<float> out);
  // As stored: little-endian elements of the tensor's dtype, in row-major order; `out` has
  // elements * size_of(dtype) bytes.
  Status read_bytes(std::size_t index, std::span<std::byte> out);

  // Hexadecimal SHA-256 of all content. Of one file: its own. Of an index and shards: that of the
  // lines `<SHA-256>  <name>\n` for each of files(), as sha256sum prints them in their folder.
  // kCancelled when the token was set.
  [[nodiscard]] Result<std::string> sha256(const CancelToken* cancel = nullptr) const;

 private:
  Status verify(std::size_t storage);
  // Calls consume(bytes, index of the first element) over the tensor in row-major order, by pieces.
  template <typename Consume>
  Status read_pieces(std::size_t index, const Consume& consume);

  std::vector<InputFile> files_;
  TensorDirectory directory_;
  std::vector<bool> verified_;  // per storage
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> by_name_;
};

// How many bytes of a file's start tell what it is.
inline constexpr std::size_t kProbeBytes = 64;

inline constexpr std::string_view kTorch = "torch checkpoint";
inline constexpr std::string_view kSafetensors = "safetensors";
inline constexpr std::string_view kSharded = "sharded safetensors";

// One of the above by the first kProbeBytes of a file (any JSON object may be an index of shards);
// nothing: none of them.
[[nodiscard]] std::optional<std::string_view> tensor_format(std::span<const std::byte> start);
// What a file that is none looks like, by the same bytes, and what to do.
[[nodiscard]] std::string_view describe_other(std::span<const std::byte> start);

// Opens a safetensors file, the index of a sharded one (JSON), or a torch checkpoint (zip), by
// content, not by the file's name. kInvalidInput with one line for anything else, named where it is
// recognisable (HDF5, NumPy, torch's legacy format, text, NIfTI, an empty file).
Result<std::unique_ptr<TensorFile>> open_tensor_file(const std::filesystem::path& path);

}  // namespace mezzotint
