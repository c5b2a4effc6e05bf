#include "formats/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include <string>

namespace mezzotint {
namespace {

std::vector<std::uint8_t> gradient(std::int64_t width, std::int64_t height) {
  std::vector<std::uint8_t> rgb;
  for (std::int64_t i = 0; i < width * height * 3; ++i) {
    rgb.push_back(static_cast<std::uint8_t>(i * 7 % 251));
  }
  return rgb;
}

TEST(Png, LibpngReadsTheSamePixels) {
  for (const auto& [width, height] : {std::pair{1, 1}, {17, 5}, {300, 200}}) {
    const auto rgb = gradient(width, height);
    const auto encoded = encode_png(width, height, rgb);
    ASSERT_TRUE(encoded.ok()) << encoded.error().message;
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_NE(png_image_begin_read_from_memory(&image, encoded->data(), encoded->size()), 0);
    EXPECT_EQ(image.width, static_cast<unsigned>(width));
    EXPECT_EQ(image.height, static_cast<unsigned>(height));
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> decoded(PNG_IMAGE_SIZE(image));
    ASSERT_NE(png_image_finish_read(&image, nullptr, decoded.data(), 0, nullptr), 0);
    EXPECT_EQ(decoded, rgb);
  }
}

TEST(Png, EqualPicturesGiveEqualBytesAndNoTime) {
  const auto rgb = gradient(40, 30);
  const auto first = encode_png(40, 30, rgb);
  const auto second = encode_png(40, 30, rgb);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  const std::string text(reinterpret_cast<const char*>(first->data()), first->size());
  EXPECT_EQ(text.find("tIME"), std::string::npos);
  EXPECT_EQ(text.find("tEXt"), std::string::npos);
}

TEST(Png, RefusesSizesThatDoNotAgree) {
  const std::vector<std::uint8_t> rgb(30);
  for (const auto& [width, height] : {std::pair{0, 10}, {-1, 10}, {4, 3}, {16385, 1}}) {
    const auto encoded = encode_png(width, height, rgb);
    ASSERT_FALSE(encoded.ok());
    EXPECT_NE(encoded.error().message.find("with 30 bytes"), std::string::npos)
        << encoded.error().message;
  }
}

}  // namespace
}  // namespace mezzotint
