#include "imaging/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mezzotint {
namespace {

LabelSet names() {
  LabelSet set;
  set.labels = {{1, "brain"}, {2, "tumour"}};
  return set;
}

Grid grid_of(const Dims3& dims, const Vec3& spacing, const Vec3& origin) {
  Grid grid{dims, scaling_affine(spacing)};
  for (std::size_t i = 0; i < 3; ++i) {
    grid.affine[i][3] = origin[i];
  }
  return grid;
}

// A lopsided head: brain but for a margin of a fifth, with a tumour in one corner.
LabelVolume head(const Grid& grid) {
  LabelVolume mask{grid, {}};
  const Dims3& d = grid.dims;
  for (std::int64_t z = 0; z < d[2]; ++z) {
    for (std::int64_t y = 0; y < d[1]; ++y) {
      for (std::int64_t x = 0; x < d[0]; ++x) {
        const bool brain = x >= d[0] / 5 && x < d[0] - d[0] / 5 && y >= d[1] / 5 &&
                           y < d[1] - d[1] / 5 && z >= d[2] / 5 && z < d[2] - d[2] / 5;
        const bool tumour = brain && x < d[0] / 2 && y < d[1] / 2 && z >= d[2] / 2;
        mask.data.push_back(tumour ? 2 : (brain ? 1 : 0));
      }
    }
  }
  return mask;
}

FitOptions options_for(const Dims3& dims, std::optional<double> spacing = {},
                       Resize resize = Resize::kAuto, const std::string& frame = "RAS+") {
  FitOptions options;
  options.dims = dims;
  options.frame = frame;
  options.resize = resize;
  if (spacing) {
    options.spacing_mm = Vec3{*spacing, *spacing, *spacing};
  }
  return options;
}

Fit plan(const Grid& mask, const FitOptions& options) {
  auto fit = plan_fit(mask, options);
  EXPECT_TRUE(fit.ok()) << fit.error().message;
  return fit ? *fit : Fit{};
}

FittedLabels fitted(const LabelVolume& mask, const Fit& fit) {
  auto labels = fit_labels(mask, fit, names());
  EXPECT_TRUE(labels.ok()) << labels.error().message;
  return labels ? *labels : FittedLabels{};
}

// Another value in each voxel.
std::vector<float> any_result(const Grid& grid) {
  std::vector<float> values(static_cast<std::size_t>(grid.voxels()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * 1.7));
  }
  return values;
}

// At each voxel, a function of its place in the world.
template <typename Field>
Volume paint(const Grid& grid, const Field& field) {
  Volume volume{grid, {}};
  for (std::int64_t z = 0; z < grid.dims[2]; ++z) {
    for (std::int64_t y = 0; y < grid.dims[1]; ++y) {
      for (std::int64_t x = 0; x < grid.dims[0]; ++x) {
        const Vec3 voxel{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
        volume.data.push_back(static_cast<float>(field(transform(grid.affine, voxel))));
      }
    }
  }
  return volume;
}

// All 48.
std::vector<std::string> all_frames() {
  std::vector<std::string> frames;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    for (unsigned flips = 0; flips < 8; ++flips) {
      std::string frame;
      for (std::size_t i = 0; i < 3; ++i) {
        frame += std::array{"RL", "AP", "SI"}[order[i]][flips >> i & 1];
      }
      frames.push_back(frame + "+");
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return frames;
}

// As a file stores it: the affine in float32.
LabelVolume stored_as(const LabelVolume& mask, const std::string& frame) {
  const auto turn = reorientation_to(mask.affine, frame);
  EXPECT_TRUE(turn.ok());
  LabelVolume turned = reorient(mask, *turn);
  for (auto& row : turned.affine) {
    for (double& entry : row) {
      entry = static_cast<float>(entry);
    }
  }
  return turned;
}

TEST(PlanFit, ChoosesTheWay) {
  const Grid one_mm = grid_of({20, 24, 18}, {1, 1, 1}, {-9, -11, -8});
  const Dims3 same = one_mm.dims;
  const Dims3 other{16, 16, 16};
  struct Case {
    Dims3 dims;
    std::optional<double> spacing;
    std::array<FitKind, 4> kinds;  // of auto, pad, resample, reference
  };
  using enum FitKind;
  for (const Case& c : {
           Case{same, {}, {kUnchanged, kUnchanged, kUnchanged, kUnchanged}},
           Case{same, 1.0, {kUnchanged, kUnchanged, kUnchanged, kUnchanged}},
           Case{same, 2.0, {kResampled, kUnchanged, kResampled, kUnchanged}},
           Case{other, {}, {kStretched, kPadded, kStretched, kReference}},
           Case{other, 1.0, {kPadded, kPadded, kResampled, kReference}},
           Case{other, 2.0, {kResampled, kPadded, kResampled, kReference}},
       }) {
    std::size_t i = 0;
    for (const Resize resize :
         {Resize::kAuto, Resize::kPad, Resize::kResample, Resize::kReference}) {
      const Fit fit = plan(one_mm, options_for(c.dims, c.spacing, resize));
      EXPECT_EQ(fit.kind, c.kinds[i++]) << name_of(resize) << ": " << fit.summary;
      EXPECT_EQ(fit.grid.dims, c.dims);
      // What is shown at another scale than the model's is said.
      const bool scaled = c.spacing == 2.0 && fit.kind != kResampled;
      EXPECT_EQ(fit.notes.empty() || fit.notes[0].find("was trained on") == std::string::npos,
                !scaled)
          << fit.summary;
    }
  }
}

TEST(PlanFit, NamesOfResizeRoundTrip) {
  for (const Resize resize : {Resize::kAuto, Resize::kPad, Resize::kResample, Resize::kReference}) {
    EXPECT_EQ(*resize_from_name(name_of(resize)), resize);
  }
  const auto wrong = resize_from_name("stretch");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "resize: `stretch` is not auto, pad, resample or reference");
}

// Whole voxels as long as none would move by more than half of one.
TEST(PlanFit, PadsWhileTheVoxelsLieAsTheModels) {
  const FitOptions options = options_for({32, 32, 32}, 1.0);
  const auto kind_at = [&](const Affine& affine) {
    return plan(Grid{{21, 21, 21}, affine}, options).kind;
  };
  // The corners are 10 voxels from the middle along each axis.
  EXPECT_EQ(kind_at(scaling_affine({1.02, 1.02, 1.02})), FitKind::kPadded);  // 0.35 mm there
  EXPECT_EQ(kind_at(scaling_affine({1.04, 1.04, 1.04})), FitKind::kResampled);
  const auto tilted = [](double degrees) {
    const double c = std::cos(degrees * std::numbers::pi / 180);
    const double s = std::sin(degrees * std::numbers::pi / 180);
    return Affine{{{c, -s, 0, 5}, {s, c, 0, 6}, {0, 0, 1, 7}, {0, 0, 0, 1}}};
  };
  EXPECT_EQ(kind_at(tilted(1)), FitKind::kPadded);  // 0.25 mm
  EXPECT_EQ(kind_at(tilted(3)), FitKind::kResampled);
}

TEST(PlanFit, SaysWhatItDoes) {
  const Grid mask = grid_of({20, 24, 18}, {-1, -1, 1}, {9, 11, -8});
  const auto summary = [&](const Dims3& dims, std::optional<double> spacing,
                           Resize resize = Resize::kAuto) {
    return plan(mask, options_for(dims, spacing, resize)).summary;
  };
  EXPECT_EQ(summary({20, 24, 18}, 1.0),
            "20x24x18 at 1 mm, the model's grid, turned from LPS to RAS+");
  EXPECT_EQ(summary({24, 24, 24}, 1.0),
            "20x24x18 at 1 mm padded to 24x24x24 by whole voxels, turned from LPS to RAS+");
  EXPECT_EQ(summary({16, 16, 16}, 1.0),
            "20x24x18 at 1 mm cropped to 16x16x16 by whole voxels, turned from LPS to RAS+");
  EXPECT_EQ(summary({16, 32, 16}, 1.0),
            "20x24x18 at 1 mm padded and cropped to 16x32x16 by whole voxels, turned from LPS to "
            "RAS+");
  EXPECT_EQ(summary({16, 16, 16}, 1.5),
            "20x24x18 at 1 mm resampled by world coordinates to 16x16x16 at 1.5 mm, turned from "
            "LPS to RAS+");
  EXPECT_EQ(summary({16, 16, 16}, {}),
            "20x24x18 stretched to 16x16x16 (the model's spacing is unknown), turned from LPS to "
            "RAS+");
  EXPECT_EQ(summary({16, 16, 16}, {}, Resize::kReference),
            "each label of 20x24x18 stretched linearly to 16x16x16, the reference's way, turned "
            "from LPS to RAS+");
  FitOptions as_stored = options_for({20, 24, 18}, 1.0);
  as_stored.as_stored = true;
  const Fit fit = plan(mask, as_stored);
  EXPECT_EQ(fit.summary,
            "20x24x18 at 1 mm, the model's grid, axes as stored (LPS+; the model's are RAS+)");
  EXPECT_EQ(fit.frame, "LPS+");
}

TEST(FitLabels, PadsBratsAsTheReferencePreparesIt) {
  const Grid raw{{240, 240, 155}, {{{-1, 0, 0, 0}, {0, -1, 0, 239}, {0, 0, 1, 0}, {0, 0, 0, 1}}}};
  const Fit fit = plan(raw, options_for({192, 192, 144}, 1.0, Resize::kAuto, "LPS+"));
  EXPECT_EQ(fit.kind, FitKind::kPadded);
  EXPECT_TRUE(fit.to_frame.is_identity());
  EXPECT_EQ(fit.grid.affine,
            (Affine{{{-1, 0, 0, -24}, {0, -1, 0, 215}, {0, 0, 1, 6}, {0, 0, 0, 1}}}));
  EXPECT_TRUE(fit.notes.empty());
  EXPECT_TRUE(fitted(head(raw), fit).notes.empty()) << "the head is inside";
}

// One head, stored in every way a file can: the same condition and the same picture, bit for bit.
TEST(BringBack, IsTheSameInTheWorldForAllOrientations) {
  struct Case {
    FitOptions options;
    FitKind kind;
  };
  const LabelVolume mask = head(grid_of({15, 12, 17}, {1.1F, 1.3F, 0.9F}, {-7.123F, 3.7F, 11.9F}));
  FitOptions with_spacing = options_for({16, 16, 16}, 1.2);
  FitOptions padded = options_for({16, 10, 16});
  padded.resize = Resize::kPad;
  FitOptions reference = options_for({16, 16, 16});
  reference.resize = Resize::kReference;
  for (const Case& c : {Case{options_for({15, 12, 17}), FitKind::kUnchanged},
                        Case{padded, FitKind::kPadded}, Case{with_spacing, FitKind::kResampled},
                        Case{options_for({16, 16, 16}), FitKind::kStretched},
                        Case{reference, FitKind::kReference}}) {
    const Fit fit = plan(mask, c.options);
    ASSERT_EQ(fit.kind, c.kind);
    const LabelVolume labels = fitted(mask, fit).labels;
    const std::vector<float> result = any_result(fit.grid);
    const Volume volume = bring_back(fit, result, -1);
    EXPECT_EQ(volume.dims, mask.dims);
    EXPECT_EQ(volume.affine, mask.affine);
    for (const std::string& frame : all_frames()) {
      SCOPED_TRACE(fmt::format("{}, {}", frame, fit.summary));
      const LabelVolume copy = stored_as(mask, frame);
      const Fit other = plan(copy, c.options);
      ASSERT_EQ(other.kind, c.kind);
      ASSERT_EQ(fitted(copy, other).labels.data, labels.data);
      const Volume back = bring_back(other, result, -1);
      ASSERT_EQ(back.dims, copy.dims);
      ASSERT_EQ(back.affine, copy.affine);
      ASSERT_EQ(back.data, reorient(volume, *reorientation_to(mask.affine, frame)).data);
    }
  }
}

TEST(BringBack, GivesWholeVoxelsBack) {
  for (const Dims3& dims : {Dims3{17, 17, 17}, Dims3{31, 16, 5}, Dims3{33, 40, 18}}) {
    const LabelVolume mask = head(grid_of(dims, {1, 1, 1}, {0, 0, 0}));
    const Fit fit = plan(mask, options_for({32, 32, 16}, 1.0));
    ASSERT_EQ(fit.kind, FitKind::kPadded);
    std::vector<float> result;
    const LabelVolume labels = fitted(mask, fit).labels;
    std::transform(labels.data.begin(), labels.data.end(), std::back_inserter(result),
                   [](std::uint8_t label) { return static_cast<float>(label); });
    const Volume back = bring_back(fit, result, 0);
    ASSERT_EQ(back.dims, dims);
    for (std::size_t i = 0; i < back.data.size(); ++i) {
      ASSERT_EQ(back.data[i], mask.data[i]) << i;
    }
  }
}

// As many voxels as the grid has, but not its sides: nothing is taken for the same by its size.
TEST(BringBack, DoesNotScrambleAnEqualCountOfVoxels) {
  const LabelVolume mask = head(grid_of({32, 16, 8}, {1, 1, 1}, {0, 0, 0}));
  for (const Resize resize : {Resize::kAuto, Resize::kPad, Resize::kResample, Resize::kReference}) {
    const Fit fit = plan(mask, options_for({16, 16, 16}, {}, resize));
    ASSERT_EQ(fit.grid.dims, (Dims3{16, 16, 16}));
    const Volume ramp = paint(fit.grid, [](const Vec3& p) { return p[0]; });
    const Volume back = bring_back(fit, ramp.data, -1);
    ASSERT_EQ(back.dims, mask.dims);
    for (std::int64_t x = 8; x < 24; ++x) {
      EXPECT_NEAR(back.at(x, 8, 4), static_cast<double>(x), 1e-5) << fit.summary;
    }
  }
}

// A linear function of the place comes back as it was, whatever the axes: oblique, far apart.
TEST(BringBack, KeepsPlacesOfObliqueMasks) {
  const double c = std::cos(0.3);
  const double s = std::sin(0.3);
  const Grid oblique{{21, 18, 25},
                     {{{-1.1 * c, -0.9 * s, 0, 30},
                       {-1.1 * s, 0.9 * c, 0.2, -40},
                       {0, 0.1, 1.4, 7},
                       {0, 0, 0, 1}}}};
  const auto field = [](const Vec3& p) { return 0.25 * p[0] - 0.5 * p[1] + 0.125 * p[2]; };
  for (const auto& [spacing, kind] : {std::pair{std::optional(2.0), FitKind::kResampled},
                                      std::pair{std::optional<double>(), FitKind::kStretched}}) {
    const Fit fit = plan(oblique, options_for({32, 32, 32}, spacing));
    ASSERT_EQ(fit.kind, kind);
    const Volume back = bring_back(fit, paint(fit.grid, field).data, -1);
    for (const Vec3& voxel : {Vec3{10, 9, 12}, Vec3{3, 4, 20}, Vec3{18, 2, 5}}) {
      const float value =
          back.at(static_cast<std::int64_t>(voxel[0]), static_cast<std::int64_t>(voxel[1]),
                  static_cast<std::int64_t>(voxel[2]));
      // Values up to 64, of which float32 holds 3.8e-6: the corners' and the result's rounding.
      EXPECT_NEAR(value, field(transform(oblique.affine, voxel)), 1e-5) << fit.summary;
    }
  }
}

TEST(FitLabels, CountsWhatIsCutAway) {
  LabelVolume mask{grid_of({8, 2, 2}, {1, 1, 1}, {0, 0, 0}), std::vector<std::uint8_t>(32, 1)};
  for (std::size_t i = 0; i < 32; i += 8) {
    mask.data[i + 3] = 2;
  }
  const Fit fit = plan(mask, options_for({4, 2, 2}, 1.0));
  ASSERT_EQ(fit.kind, FitKind::kPadded);
  const FittedLabels labels = fitted(mask, fit);
  ASSERT_EQ(labels.notes.size(), 1U);
  EXPECT_EQ(labels.notes[0],
            "outside the model's grid, where nothing is painted: 16 of 28 brain voxels");
  const LabelVolume kept = labels.labels;
  EXPECT_EQ(count_labels(kept)[1], 12);
  EXPECT_EQ(count_labels(kept)[2], 4);
}

TEST(FitLabels, RefusesToLoseALabel) {
  const auto refusal = [](const LabelVolume& mask, const FitOptions& options) {
    const auto labels = fit_labels(mask, plan(mask, options), names());
    EXPECT_FALSE(labels.ok());
    return labels.ok() ? "" : labels.error().message;
  };
  // Cropped away.
  LabelVolume mask{grid_of({16, 16, 16}, {1, 1, 1}, {0, 0, 0}), std::vector<std::uint8_t>(4096, 1)};
  mask.data[0] = 2;
  EXPECT_EQ(refusal(mask, options_for({8, 8, 8}, 1.0)),
            "label 2 (tumour): none of its 1 voxels is left on the model's grid of 8x8x8 voxels of "
            "1 mm around the mask's centre: all lie outside; check the mask's voxel size, or crop "
            "or shift it");
  // One voxel among eight that become one.
  mask.data[0] = 1;
  mask.data[mask.index(8, 8, 8)] = 2;
  EXPECT_NE(refusal(mask, options_for({8, 8, 8}, 2.0)).find("too thin"), std::string::npos);
  EXPECT_NE(refusal(mask, options_for({8, 8, 8})).find("label 2 (tumour)"), std::string::npos);
  EXPECT_TRUE(
      fit_labels(mask, plan(mask, options_for({8, 8, 8}, {}, Resize::kReference)), names()).ok())
      << "the reference keeps fractions";
}

// Voxels of a metre: the grid fits between their centres, and would come back as background.
TEST(FitLabels, RefusesUnitsThatCannotBe) {
  for (const double spacing : {1000.0, 0.001}) {
    const LabelVolume mask = head(grid_of({20, 20, 20}, {spacing, spacing, spacing}, {0, 0, 0}));
    const auto labels = fit_labels(mask, plan(mask, options_for({32, 32, 32}, 6.0)), names());
    ASSERT_FALSE(labels.ok()) << spacing;
    EXPECT_NE(labels.error().message.find("label 1 (brain): none of its"), std::string::npos);
  }
}

}  // namespace
}  // namespace mezzotint
