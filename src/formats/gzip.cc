#include "formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // largest window, gzip wrapper
constexpr std::size_t kChunk = std::size_t{256} << 10;
// zlib counts input in 32 bits.
constexpr std::size_t kLargestInput = std::size_t{1} << 30;
// DEFLATE cannot expand further than this (RFC 1951: 258 bytes from two bits).
constexpr std::uint64_t kLargestRatio = 1032;

// zlib reads through a pointer to non-const.
Bytef* input_pointer(std::span<const std::byte> bytes) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
}

class Inflater {
 public:
  explicit Inflater(std::span<const std::byte> bytes) : bytes_(bytes) {
    check(inflateInit2(&stream_, kGzipWindowBits) == Z_OK, "zlib could not start to decompress");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] std::size_t position() const { return position_; }

  // Fills `out` as far as the content goes; returns how many bytes it filled.
  Result<std::size_t> read(std::span<std::byte> out, std::string_view what) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out > 0 && !finished_) {
      const auto input =
          bytes_.subspan(position_).first(std::min(bytes_.size() - position_, kLargestInput));
      if (input.empty()) {
        return invalid_input(
            "{}: the gzip stream breaks off after {} bytes: the file is truncated; copy it again",
            what, position_);
      }
      stream_.next_in = input_pointer(input);
      stream_.avail_in = static_cast<uInt>(input.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      position_ += input.size() - stream_.avail_in;
      if (code == Z_STREAM_END) {
        if (Status status = next_member(what); !status) {
          return status.error();
        }
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return invalid_input("{}: damaged gzip data at byte {} ({}); copy or compress it again",
                             what, position_, stream_.msg != nullptr ? stream_.msg : "unknown");
      }
    }
    return out.size() - stream_.avail_out;
  }

 private:
  Status next_member(std::string_view what) {
    const auto rest = bytes_.subspan(position_);
    if (std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; })) {
      finished_ = true;
      return {};
    }
    if (!is_gzip(rest)) {
      return invalid_input(
          "{}: {} bytes follow the gzip data at byte {} that are not gzip; compress it again", what,
          rest.size(), position_);
    }
    inflateReset(&stream_);
    return {};
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool finished_ = false;
  z_stream stream_{};
};

class Deflater {
 public:
  Deflater() = default;
  ~Deflater() { deflateEnd(&stream_); }  // does nothing before start()
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // zlib's own header: time 0, no name. False without memory.
  bool start() {
    return deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, 8,
                        Z_DEFAULT_STRATEGY) == Z_OK;
  }
  [[nodiscard]] bool finished() const { return finished_; }

  // The next packed bytes of `content`, which is the same in each call, in `chunk`.
  std::span<const std::byte> pack(std::span<const std::byte> content, std::span<std::byte> chunk) {
    if (stream_.avail_in == 0) {
      const auto input =
          content.subspan(position_).first(std::min(content.size() - position_, kLargestInput));
      stream_.next_in = input_pointer(input);
      stream_.avail_in = static_cast<uInt>(input.size());
      position_ += input.size();
    }
    stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream_.avail_out = static_cast<uInt>(chunk.size());
    const int code = deflate(&stream_, position_ == content.size() ? Z_FINISH : Z_NO_FLUSH);
    check(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR, "zlib failed to compress");
    finished_ = code == Z_STREAM_END;
    return chunk.first(chunk.size() - stream_.avail_out);
  }

 private:
  std::size_t position_ = 0;
  bool finished_ = false;
  z_stream stream_{};
};

// The last member's length field: right for one member below 4 GiB, and only a hint.
std::uint64_t expected_size(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  if (bytes.size() >= sizeof(length)) {
    std::memcpy(&length, bytes.last(sizeof(length)).data(), sizeof(length));
  }
  return std::min<std::uint64_t>(length, bytes.size() * kLargestRatio);
}

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Result<std::vector<std::byte>> gunzip(std::span<const std::byte> bytes, std::uint64_t limit,
                                      std::string_view what) {
  Inflater inflater(bytes);
  std::vector<std::byte> content;
  content.reserve(std::min(limit, expected_size(bytes)));
  std::vector<std::byte> chunk(kChunk);
  while (!inflater.finished()) {
    auto count = inflater.read(chunk, what);
    if (!count) {
      return count.error();
    }
    if (*count > limit - content.size()) {
      return invalid_input("{}: decompresses to more than the {} bytes expected", what, limit);
    }
    content.insert(content.end(), chunk.begin(),
                   chunk.begin() + static_cast<std::ptrdiff_t>(*count));
  }
  return content;
}

Result<std::vector<std::byte>> gunzip_prefix(std::span<const std::byte> bytes, std::size_t count,
                                             std::string_view what) {
  check(count <= kLargestInput, "a prefix is short");
  Inflater inflater(bytes);
  std::vector<std::byte> content(count);
  auto filled = inflater.read(content, what);
  if (!filled) {
    return filled.error();
  }
  content.resize(*filled);
  return content;
}

Status gzip(std::span<const std::byte> content, const ByteSink& sink) {
  Deflater deflater;
  if (!deflater.start()) {
    return resource_error("gzip: not enough memory to compress {} bytes", content.size());
  }
  std::vector<std::byte> chunk(kChunk);
  while (!deflater.finished()) {
    if (Status status = sink(deflater.pack(content, chunk)); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace mezzotint
