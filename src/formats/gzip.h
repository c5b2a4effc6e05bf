// gzip (RFC 1952), by zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

// The content, not the name, says whether bytes are gzip.
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes);

// All members, decompressed one after another; zero padding after the last is accepted.
// kInvalidInput when the stream is damaged or truncated, a checksum does not match, something else
// follows, or the content exceeds `limit` bytes. Memory grows with what has really been
// decompressed. `what` begins the error's line.
[[nodiscard]] Result<std::vector<std::byte>> gunzip(std::span<const std::byte> bytes,
                                                    std::uint64_t limit, std::string_view what);

// The first `count` bytes of the content (fewer when it is shorter), without reading further;
// nothing after them is checked.
[[nodiscard]] Result<std::vector<std::byte>> gunzip_prefix(std::span<const std::byte> bytes,
                                                           std::size_t count,
                                                           std::string_view what);

using ByteSink = std::function<Status(std::span<const std::byte>)>;

// One member without time or name in its header: equal content gives equal bytes. The packed bytes
// go to `sink` in parts of at most 256 KiB, and its error ends the work.
Status gzip(std::span<const std::byte> content, const ByteSink& sink);

}  // namespace mezzotint
