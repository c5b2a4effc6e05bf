// Drawing on an RGB picture: pixels and the six letters that name the sides of a patient.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace mezzotint {

struct RgbImage {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> rgb;  // rows from the top
};

using Colour = std::array<std::uint8_t, 3>;

inline constexpr std::int64_t kLetterWidth = 10;
inline constexpr std::int64_t kLetterHeight = 14;

[[nodiscard]] RgbImage black_picture(std::int64_t width, std::int64_t height);
// `below` under `picture`, left-aligned; the narrower of them is filled up with black.
void append_below(RgbImage& picture, const RgbImage& below);
// Pixels outside the picture are ignored.
void set_pixel(RgbImage& picture, std::int64_t x, std::int64_t y, const Colour& colour);
// One of L, R, A, P, S, I; (x, y) is its top left pixel.
void draw_letter(RgbImage& picture, char letter, std::int64_t x, std::int64_t y,
                 const Colour& colour);

}  // namespace mezzotint
