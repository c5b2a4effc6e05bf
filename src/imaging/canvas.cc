#include "imaging/canvas.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kGlyphWidth = 5;
constexpr std::int64_t kGlyphHeight = 7;
constexpr std::int64_t kGlyphScale = 2;
static_assert(kLetterWidth == kGlyphWidth * kGlyphScale);
static_assert(kLetterHeight == kGlyphHeight * kGlyphScale);

struct Glyph {
  char letter;
  std::array<std::uint8_t, kGlyphHeight> rows;  // the top first, bit 4 is the left pixel
};

constexpr std::array<Glyph, 6> kGlyphs{{
    {'L', {0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111}},
    {'R', {0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001}},
    {'A', {0b00100, 0b01010, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001}},
    {'P', {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000}},
    {'S', {0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110}},
    {'I', {0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
}};

}  // namespace

RgbImage black_picture(std::int64_t width, std::int64_t height) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3))};
}

void append_below(RgbImage& picture, const RgbImage& below) {
  const std::int64_t above = picture.height;
  RgbImage both = black_picture(std::max(picture.width, below.width), above + below.height);
  const auto copy = [&](const RgbImage& from, std::int64_t top) {
    for (std::int64_t y = 0; y < from.height; ++y) {
      std::copy_n(from.rgb.begin() + y * from.width * 3, from.width * 3,
                  both.rgb.begin() + (top + y) * both.width * 3);
    }
  };
  copy(picture, 0);
  copy(below, above);
  picture = std::move(both);
}

void set_pixel(RgbImage& picture, std::int64_t x, std::int64_t y, const Colour& colour) {
  if (x >= 0 && y >= 0 && x < picture.width && y < picture.height) {
    std::copy(colour.begin(), colour.end(), picture.rgb.begin() + (y * picture.width + x) * 3);
  }
}

void draw_letter(RgbImage& picture, char letter, std::int64_t x, std::int64_t y,
                 const Colour& colour) {
  const auto* glyph = std::find_if(kGlyphs.begin(), kGlyphs.end(),
                                   [=](const Glyph& g) { return g.letter == letter; });
  check(glyph != kGlyphs.end(), "only the letters of sides can be drawn");
  for (std::int64_t row = 0; row < kLetterHeight; ++row) {
    for (std::int64_t column = 0; column < kLetterWidth; ++column) {
      const unsigned bits = glyph->rows[static_cast<std::size_t>(row / kGlyphScale)];
      if ((bits >> (kGlyphWidth - 1 - column / kGlyphScale) & 1) != 0) {
        set_pixel(picture, x + column, y + row, colour);
      }
    }
  }
}

}  // namespace mezzotint
