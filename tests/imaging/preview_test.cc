#include "imaging/preview.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "imaging/reorient.h"

namespace mezzotint {
namespace {

constexpr Colour kBrainColour{60, 190, 230};
constexpr Colour kTumourColour{255, 150, 30};

struct Case {
  Volume image;
  LabelVolume mask;
};

// A RAS brain of 2 x 2 x 4 mm voxels, its right half brighter, with a tumour at the right front
// top.
Case brain() {
  const Grid grid{{40, 48, 20}, scaling_affine({2, 2, 4})};
  Case result{{grid, {}}, {grid, {}}};
  for (std::int64_t z = 0; z < 20; ++z) {
    for (std::int64_t y = 0; y < 48; ++y) {
      for (std::int64_t x = 0; x < 40; ++x) {
        const bool brain = x >= 5 && x < 35 && y >= 6 && y < 42 && z >= 3 && z < 17;
        const bool tumour = x >= 25 && x < 31 && y >= 30 && y < 38 && z >= 11 && z < 15;
        result.mask.data.push_back(tumour ? 2 : brain ? 1 : 0);
        result.image.data.push_back(!brain ? -1.0F : x >= 20 ? 0.8F : 0.2F);
      }
    }
  }
  return result;
}

RgbImage render(const Case& subject, const PreviewOptions& options = {}) {
  auto picture = render_preview(subject.image, subject.mask, options);
  EXPECT_TRUE(picture.ok()) << picture.error().message;
  return picture ? std::move(*picture) : RgbImage{};
}

Colour pixel(const RgbImage& picture, std::int64_t x, std::int64_t y) {
  const std::uint8_t* rgb = picture.rgb.data() + (y * picture.width + x) * 3;
  return {rgb[0], rgb[1], rgb[2]};
}

struct Box {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  std::int64_t right = -1;
  std::int64_t top = std::numeric_limits<std::int64_t>::max();
  std::int64_t bottom = -1;

  [[nodiscard]] double middle_x() const { return static_cast<double>(left + right) / 2; }
  [[nodiscard]] double middle_y() const { return static_cast<double>(top + bottom) / 2; }
  [[nodiscard]] std::int64_t width() const { return right - left + 1; }
  [[nodiscard]] std::int64_t height() const { return bottom - top + 1; }
};

// Bounding box of a colour between two columns.
Box find(const RgbImage& picture, const Colour& colour, std::int64_t first, std::int64_t last) {
  Box box;
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = first; x < last; ++x) {
      if (pixel(picture, x, y) == colour) {
        box = {std::min(box.left, x), std::max(box.right, x), std::min(box.top, y),
               std::max(box.bottom, y)};
      }
    }
  }
  return box;
}

// The field is 80 x 96 x 80 mm, so 320 pixels are 96 mm. Panels: 320, 267 and 267 pixels wide.
constexpr double kPixelsPerMm = 320.0 / 96;
constexpr std::int64_t kSagittalEnd = 22 + 320 + 22 + 12;
constexpr std::int64_t kCoronalEnd = kSagittalEnd + 12 + 22 + 267 + 22 + 12;

TEST(Preview, PixelsAreSquareInMillimetres) {
  const RgbImage picture = render(brain());
  EXPECT_EQ(picture.rgb.size(), static_cast<std::size_t>(picture.width * picture.height * 3));
  EXPECT_EQ(picture.height, 320 + 44);
  EXPECT_EQ(picture.width, (320 + 267 + 267) + 6 * 22 + 2 * 24);
  // The brain's outline in each panel: 60 x 72 x 56 mm.
  const std::array<std::array<std::int64_t, 2>, 3> panels{
      {{0, kSagittalEnd}, {kSagittalEnd, kCoronalEnd}, {kCoronalEnd, picture.width}}};
  const std::array<std::array<double, 2>, 3> sizes{{{72, 56}, {60, 56}, {60, 72}}};
  for (std::size_t i = 0; i < 3; ++i) {
    const Box box = find(picture, kBrainColour, panels[i][0], panels[i][1]);
    EXPECT_NEAR(static_cast<double>(box.width()), sizes[i][0] * kPixelsPerMm, 2);
    EXPECT_NEAR(static_cast<double>(box.height()), sizes[i][1] * kPixelsPerMm, 2);
  }
}

TEST(Preview, RadiologicalSides) {
  const RgbImage picture = render(brain());
  const auto check_side = [&](std::int64_t first, std::int64_t last, bool left, bool top) {
    const Box whole = find(picture, kBrainColour, first, last);
    const Box tumour = find(picture, kTumourColour, first, last);
    ASSERT_GE(tumour.right, 0);
    EXPECT_EQ(tumour.middle_x() < whole.middle_x(), left);
    EXPECT_EQ(tumour.middle_y() < whole.middle_y(), top);
  };
  check_side(0, kSagittalEnd, true, true);             // anterior left, superior top
  check_side(kSagittalEnd, kCoronalEnd, true, true);   // right on the left, superior top
  check_side(kCoronalEnd, picture.width, true, true);  // right on the left, anterior top
  // The bright right half of the image is on the left as well.
  const Box axial = find(picture, kBrainColour, kCoronalEnd, picture.width);
  const auto row = static_cast<std::int64_t>(axial.middle_y());
  EXPECT_GT(pixel(picture, axial.left + 20, row)[0], 200);
  EXPECT_LT(pixel(picture, axial.right - 20, row)[0], 50);
}

TEST(Preview, AnyOrientationGivesTheSamePicture) {
  const Case subject = brain();
  const RgbImage expected = render(subject);
  for (const char* frame : {"LPS+", "PIR", "SAL", "IPL"}) {
    const auto to_frame = reorientation_to(subject.image.affine, frame);
    ASSERT_TRUE(to_frame.ok());
    const Case turned{reorient(subject.image, *to_frame), reorient(subject.mask, *to_frame)};
    EXPECT_TRUE(render(turned).rgb == expected.rgb) << frame;
  }
}

TEST(Preview, SidesAreLabelledOutsideThePanels) {
  const RgbImage picture = render(brain(), {.outline = false});
  constexpr Colour kLetter{230, 230, 230};
  // A left of the sagittal panel, P right of it, S above and I below.
  const Box a = find(picture, kLetter, 0, 22);
  EXPECT_EQ(a.width(), 10);
  EXPECT_EQ(a.height(), 14);
  EXPECT_NEAR(a.middle_y(), static_cast<double>(picture.height) / 2, 2);
  EXPECT_EQ(find(picture, kLetter, 22 + 320, kSagittalEnd).width(), 10);
}

TEST(Preview, WithoutTumourThePlanesGoThroughTheMiddle) {
  Case subject = brain();
  std::replace(subject.mask.data.begin(), subject.mask.data.end(), std::uint8_t{2},
               std::uint8_t{1});
  const RgbImage picture = render(subject);
  EXPECT_EQ(find(picture, kTumourColour, 0, picture.width).right, -1);
  EXPECT_GE(find(picture, kBrainColour, 0, picture.width).right, 0);
}

TEST(Preview, TumourLabelsAreTheCallers) {
  const RgbImage picture = render(brain(), {.tumour_labels = {3, 4}});
  EXPECT_EQ(find(picture, kTumourColour, 0, picture.width).right, -1);
}

TEST(Preview, WindowIsExplicitOrFromTheBrain) {
  Case subject = brain();
  const RgbImage fixed = render(subject, {.window = IntensityWindow{0.2F, 1.4F}, .outline = false});
  const std::int64_t row = fixed.height / 2;
  // Right half: (0.8 - 0.2) / 1.2 * 255 = 127.5.
  EXPECT_NEAR(pixel(fixed, kCoronalEnd + 12 + 22 + 50, row)[0], 127.5, 1);
  EXPECT_EQ(pixel(fixed, kCoronalEnd + 12 + 22 + 220, row)[0], 0);
  // A bright spot outside the brain does not darken it.
  subject.image.data[0] = 1000;
  const RgbImage automatic = render(subject, {.outline = false});
  EXPECT_EQ(pixel(automatic, kCoronalEnd + 12 + 22 + 50, row)[0], 255);
}

TEST(Preview, OddInputIsDrawnNotRefused) {
  Case subject = brain();
  subject.image.data[subject.image.index(20, 20, 10)] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(render(subject).width, 0);

  Case flat{{{{1, 5, 7}, identity_affine()}, std::vector<float>(35, 0.5F)},
            {{{1, 5, 7}, identity_affine()}, std::vector<std::uint8_t>(35)}};
  EXPECT_GT(render(flat).width, 0);
}

TEST(Preview, RefusesDifferentGrids) {
  Case subject = brain();
  subject.mask.dims[2] = 19;
  const auto picture = render_preview(subject.image, subject.mask);
  ASSERT_FALSE(picture.ok());
  EXPECT_EQ(picture.error().message,
            "preview: the volume has 40 x 48 x 20 voxels and the mask 40 x 48 x 19, expected the "
            "same grid");
}

}  // namespace
}  // namespace mezzotint
