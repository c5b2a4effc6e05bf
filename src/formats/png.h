// PNG (ISO/IEC 15948), by libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

// 8-bit RGB, rows from the top, width * height * 3 bytes. Fixed filter and compression and no
// ancillary chunks: equal pictures give equal bytes. kInvalidInput when the sizes do not agree or
// are outside 1..16384.
[[nodiscard]] Result<std::vector<std::byte>> encode_png(std::int64_t width, std::int64_t height,
                                                        std::span<const std::uint8_t> rgb);

}  // namespace mezzotint
