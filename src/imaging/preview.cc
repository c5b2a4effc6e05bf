#include "imaging/preview.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "imaging/reorient.h"

namespace mezzotint {
namespace {

constexpr double kPanelSide = 320;     // pixels of the longest side of the field of view
constexpr std::int64_t kMargin = 22;   // around each panel, for the letters
constexpr std::int64_t kBetween = 24;  // so that a letter's panel is never in doubt
constexpr Colour kBrainColour{60, 190, 230};
constexpr Colour kTumourColour{255, 150, 30};
constexpr Colour kLetterColour{230, 230, 230};
constexpr double kLowPercentile = 0.01;
constexpr double kHighPercentile = 0.995;

// One plane of a RAS volume. Pictures run against both axes: right and anterior are on the left,
// anterior and superior at the top.
struct Plane {
  std::size_t horizontal;
  std::size_t vertical;
  std::size_t normal;
  char left, right, top, bottom;
};

constexpr std::array<Plane, 3> kPlanes{{
    {1, 2, 0, 'A', 'P', 'S', 'I'},  // sagittal
    {0, 2, 1, 'R', 'L', 'S', 'I'},  // coronal
    {0, 1, 2, 'R', 'L', 'A', 'P'},  // axial
}};

struct Subject {
  Volume image;
  LabelVolume mask;
  std::array<bool, 256> is_tumour{};
  Dims3 centre{};
  IntensityWindow window;
};

// Mean voxel of those that `chosen` picks; nothing when it picks none.
template <typename Chosen>
std::optional<Dims3> centroid(const LabelVolume& mask, const Chosen& chosen) {
  Dims3 sum{};
  std::int64_t count = 0;
  std::size_t index = 0;
  for (std::int64_t z = 0; z < mask.dims[2]; ++z) {
    for (std::int64_t y = 0; y < mask.dims[1]; ++y) {
      for (std::int64_t x = 0; x < mask.dims[0]; ++x, ++index) {
        if (chosen(mask.data[index])) {
          sum = {sum[0] + x, sum[1] + y, sum[2] + z};
          ++count;
        }
      }
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  return Dims3{(sum[0] + count / 2) / count, (sum[1] + count / 2) / count,
               (sum[2] + count / 2) / count};
}

Dims3 choose_centre(const Subject& subject) {
  const LabelVolume& mask = subject.mask;
  if (const auto tumour =
          centroid(mask, [&](std::uint8_t label) { return subject.is_tumour[label]; })) {
    return *tumour;
  }
  return centroid(mask, [](std::uint8_t label) { return label != 0; })
      .value_or(Dims3{mask.dims[0] / 2, mask.dims[1] / 2, mask.dims[2] / 2});
}

IntensityWindow choose_window(const Subject& subject) {
  std::vector<float> values;
  for (const bool whole_volume : {false, true}) {
    for (std::size_t i = 0; i < subject.image.data.size(); ++i) {
      const float value = subject.image.data[i];
      if ((whole_volume || subject.mask.data[i] != 0) && std::isfinite(value)) {
        values.push_back(value);
      }
    }
    if (!values.empty()) {
      break;
    }
  }
  if (values.empty()) {
    return {};
  }
  const auto percentile = [&](double fraction) {
    const auto nth =
        values.begin() + std::lround(fraction * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
  };
  const float low = percentile(kLowPercentile);
  const float high = percentile(kHighPercentile);
  return {low, high > low ? high : low + 1};
}

// A panel's pixels in voxel coordinates of its plane, and linear interpolation there.
class Panel {
 public:
  Panel(const Subject& subject, const Plane& plane, std::int64_t width, std::int64_t height)
      : subject_(subject), plane_(plane), width_(width), height_(height) {}

  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] const Plane& plane() const { return plane_; }

  // Linear interpolation of value(voxel index) at a pixel.
  template <typename Value>
  [[nodiscard]] double sample(std::int64_t column, std::int64_t row, const Value& value) const {
    const Position h = position(column, width_, subject_.image.dims[plane_.horizontal]);
    const Position v = position(row, height_, subject_.image.dims[plane_.vertical]);
    const auto at = [&](std::int64_t i, std::int64_t j) {
      Dims3 voxel = subject_.centre;
      voxel[plane_.horizontal] = i;
      voxel[plane_.vertical] = j;
      return value(subject_.image.index(voxel[0], voxel[1], voxel[2]));
    };
    const double low = at(h.low, v.low) * (1 - h.fraction) + at(h.high, v.low) * h.fraction;
    const double high = at(h.low, v.high) * (1 - h.fraction) + at(h.high, v.high) * h.fraction;
    return low * (1 - v.fraction) + high * v.fraction;
  }

  // Whether at least half of a pixel's weight has a chosen label: outlines are smooth, not blocky.
  template <typename Chosen>
  [[nodiscard]] bool inside(std::int64_t column, std::int64_t row, const Chosen& chosen) const {
    if (column < 0 || row < 0 || column >= width_ || row >= height_) {
      return false;
    }
    return sample(column, row, [&](std::size_t index) {
             return chosen(subject_.mask.data[index]) ? 1.0 : 0.0;
           }) >= 0.5;
  }

  // Inside, with an outside pixel beside it.
  template <typename Chosen>
  [[nodiscard]] bool on_outline(std::int64_t column, std::int64_t row, const Chosen& chosen) const {
    return inside(column, row, chosen) &&
           !(inside(column - 1, row, chosen) && inside(column + 1, row, chosen) &&
             inside(column, row - 1, chosen) && inside(column, row + 1, chosen));
  }

 private:
  struct Position {
    std::int64_t low;
    std::int64_t high;
    double fraction;
  };

  static Position position(std::int64_t pixel, std::int64_t pixels, std::int64_t voxels) {
    const auto count = static_cast<double>(voxels);
    const double from_start =
        count - (static_cast<double>(pixel) + 0.5) / static_cast<double>(pixels) * count;
    const double centre = std::clamp(from_start - 0.5, 0.0, count - 1);
    const auto low = static_cast<std::int64_t>(centre);
    return {low, std::min(low + 1, voxels - 1), centre - static_cast<double>(low)};
  }

  const Subject& subject_;
  const Plane& plane_;
  std::int64_t width_;
  std::int64_t height_;
};

std::uint8_t grey(double value, const IntensityWindow& window) {
  const double level = (value - window.low) / (static_cast<double>(window.high) - window.low) * 255;
  return std::isfinite(level)
             ? static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0, 255.0)))
             : std::uint8_t{0};
}

void draw_panel(RgbImage& picture, const Subject& subject, const Panel& panel, std::int64_t left,
                std::int64_t top, bool outline) {
  const auto is_brain = [](std::uint8_t label) { return label != 0; };
  const auto is_tumour = [&](std::uint8_t label) { return subject.is_tumour[label]; };
  for (std::int64_t row = 0; row < panel.height(); ++row) {
    for (std::int64_t column = 0; column < panel.width(); ++column) {
      const double value = panel.sample(column, row, [&](std::size_t index) {
        return static_cast<double>(subject.image.data[index]);
      });
      const std::uint8_t level = grey(value, subject.window);
      Colour colour{level, level, level};
      if (outline && panel.on_outline(column, row, is_tumour)) {
        colour = kTumourColour;
      } else if (outline && panel.on_outline(column, row, is_brain)) {
        colour = kBrainColour;
      }
      set_pixel(picture, left + column, top + row, colour);
    }
  }
  const std::int64_t middle_x = left + (panel.width() - kLetterWidth) / 2;
  const std::int64_t middle_y = top + (panel.height() - kLetterHeight) / 2;
  constexpr std::int64_t kGap = 4;
  const Plane& plane = panel.plane();
  draw_letter(picture, plane.left, left - kGap - kLetterWidth, middle_y, kLetterColour);
  draw_letter(picture, plane.right, left + panel.width() + kGap, middle_y, kLetterColour);
  draw_letter(picture, plane.top, middle_x, top - kGap - kLetterHeight, kLetterColour);
  draw_letter(picture, plane.bottom, middle_x, top + panel.height() + kGap, kLetterColour);
}

}  // namespace

Result<RgbImage> render_preview(const Volume& image, const LabelVolume& mask,
                                const PreviewOptions& options) {
  if (image.dims != mask.dims) {
    return invalid_input(
        "preview: the volume has {} voxels and the mask {}, expected the same grid",
        fmt::join(image.dims, " x "), fmt::join(mask.dims, " x "));
  }
  const auto to_ras = reorientation_to(image.affine, "RAS");
  if (!to_ras) {
    return to_ras.error();
  }
  Subject subject{reorient(image, *to_ras), reorient(mask, *to_ras), {}, {}, {}};
  for (const int label : options.tumour_labels) {
    check(label >= 1 && label <= 255, "labels are 1 to 255");
    subject.is_tumour[static_cast<std::size_t>(label)] = true;
  }
  subject.centre = choose_centre(subject);
  subject.window = options.window ? *options.window : choose_window(subject);

  const Vec3 spacing = column_norms(subject.image.affine);
  Vec3 extent{};
  for (std::size_t i = 0; i < 3; ++i) {
    extent[i] = spacing[i] * static_cast<double>(subject.image.dims[i]);
  }
  const double scale = kPanelSide / *std::max_element(extent.begin(), extent.end());
  const auto pixels = [&](std::size_t axis) {
    return std::max<std::int64_t>(1, std::lround(extent[axis] * scale));
  };
  std::int64_t width = 0;
  std::int64_t height = 0;
  for (const Plane& plane : kPlanes) {
    width += pixels(plane.horizontal) + 2 * kMargin + kBetween;
    height = std::max(height, pixels(plane.vertical) + 2 * kMargin);
  }
  RgbImage picture = black_picture(width - kBetween, height);
  std::int64_t left = kMargin;
  for (const Plane& plane : kPlanes) {
    const Panel panel(subject, plane, pixels(plane.horizontal), pixels(plane.vertical));
    draw_panel(picture, subject, panel, left, (height - panel.height()) / 2, options.outline);
    left += panel.width() + 2 * kMargin + kBetween;
  }
  return picture;
}

}  // namespace mezzotint
