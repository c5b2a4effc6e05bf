#include "formats/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <string>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kLargestSide = 16384;
constexpr std::size_t kLongestMessage = 200;
constexpr const char* kOutOfMemory = "out of memory";

bool insert(std::vector<std::byte>& out, const png_byte* data, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    out.insert(out.end(), bytes, bytes + count);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// No exception may pass through libpng's frames, which are C.
void append(png_structp png, png_bytep data, png_size_t count) {
  if (!insert(*static_cast<std::vector<std::byte>*>(png_get_io_ptr(png)), data, count)) {
    png_error(png, kOutOfMemory);
  }
}

void flush(png_structp /*png*/) {}

void keep_message(png_structp png, png_const_charp message) {
  auto& kept = *static_cast<std::string*>(png_get_error_ptr(png));
  kept.assign(message, std::min(std::strlen(message), kept.capacity()));  // without allocating
  png_longjmp(png, 1);
}

void ignore(png_structp /*png*/, png_const_charp /*message*/) {}

// libpng leaves through longjmp on errors, so nothing with a destructor may live in this frame.
bool write_picture(png_structp png, png_infop info, std::int64_t width, std::int64_t height,
                   png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) {
    return false;
  }
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
  png_set_compression_level(png, 6);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

Result<std::vector<std::byte>> encode_png(std::int64_t width, std::int64_t height,
                                          std::span<const std::uint8_t> rgb) {
  if (width < 1 || height < 1 || width > kLargestSide || height > kLargestSide ||
      rgb.size() != static_cast<std::size_t>(width * height * 3)) {
    return invalid_input(
        "PNG: a picture of {} x {} with {} bytes, expected sides of 1 to {} and 3 "
        "bytes a pixel",
        width, height, rgb.size(), kLargestSide);
  }
  std::vector<png_bytep> rows;
  rows.reserve(static_cast<std::size_t>(height));
  for (std::int64_t row = 0; row < height; ++row) {
    // libpng takes rows through pointers to non-const and does not write to them.
    rows.push_back(const_cast<png_bytep>(rgb.data() + row * width * 3));
  }
  std::string message = kOutOfMemory;
  message.reserve(kLongestMessage);
  std::vector<std::byte> out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, keep_message, ignore);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  bool written = false;
  if (info != nullptr) {
    png_set_write_fn(png, &out, append, flush);
    written = write_picture(png, info, width, height, rows.data());
  }
  png_destroy_write_struct(&png, &info);
  if (!written) {
    return resource_error("PNG: cannot encode a picture of {} x {}: {}", width, height, message);
  }
  return out;
}

}  // namespace mezzotint
