// Masks of other orientations, spacings and extents.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "imaging/reorient.h"

namespace mezzotint::testing {
namespace {

constexpr Affine kRas{{{2, 0, 0, -7}, {0, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}};

class Geometry : public GenerateTest {
 protected:
  static std::vector<float> voxels_of(const std::string& nifti) {
    std::vector<float> values((nifti.size() - nifti1::kFirstVoxel) / sizeof(float));
    std::memcpy(values.data(), nifti.data() + nifti1::kFirstVoxel, values.size() * sizeof(float));
    return values;
  }

  // Runs; the screen has each of `parts`.
  static void expect_said(const Flags& flags, const std::vector<std::string>& parts) {
    const CommandResult result = run(flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const std::string& part : parts) {
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " is not in\n" << result.err;
    }
  }

  [[nodiscard]] nlohmann::json sidecar() const {
    return nlohmann::json::parse(read_text(in_folder("out.json")));
  }

  // The tiny model in a folder of its own, with this model.json.
  [[nodiscard]] std::string model_with_card(const std::string& card) const {
    const auto folder = in_folder("model");
    std::filesystem::create_directory(folder);
    TinyModel().save(folder / "model.safetensors");
    write_text(folder / "model.json", card);
    return folder.string();
  }

  void save_mask(const LabelVolume& mask) const {
    write_bytes(in_folder("mask.nii"),
                head_mask(mask.dims).sform(1, mask.affine).voxels(mask.data).build());
  }

  // A mask that ships with the demo model, on a grid of 16.
  [[nodiscard]] Flags demo(const std::string& mask) const {
    return usual()
        .set("--model", demo_model().string())
        .set("--mask", (demo_model() / "masks" / mask).string())
        .set("--size", "16")
        .set("--steps", "1");
  }
};

struct Way {
  const char* name;
  Dims3 mask;
  const char* card;
  std::map<std::string, std::string> flags;
  const char* said;
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class EveryWay : public Geometry, public ::testing::WithParamInterface<Way> {};

// Stored in another order and direction, a head is the same head, bit for bit.
TEST_P(EveryWay, GivesTheSamePictureInTheWorld) {
  const Way& way = GetParam();
  Flags flags = usual().erase("--size").set("--model", model_with_card(way.card));
  for (const auto& [flag, value] : way.flags) {
    flags.set(flag, value);
  }
  const LabelVolume mask{{way.mask, kRas}, head_labels(way.mask)};
  save_mask(mask);
  expect_said(flags, {way.said});
  const Volume reference{{way.mask, kRas}, voxels_of(read_text(in_folder("out.nii")))};
  ASSERT_EQ(reference.data.size(), mask.data.size());
  EXPECT_NE(std::ranges::min(reference.data), std::ranges::max(reference.data));
  for (const std::string frame : {"LPS", "PIR", "SRA"}) {
    const auto turn = reorientation_to(kRas, frame);
    ASSERT_TRUE(turn.ok());
    save_mask(reorient(mask, *turn));
    flags.set("--out", in_folder(frame + ".nii").string());
    expect_said(flags, {way.said, fmt::format("turned from {} to RAS+", frame)});
    EXPECT_TRUE(voxels_of(read_text(flags.at("--out"))) == reorient(reference, *turn).data)
        << frame;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks, EveryWay,
    ::testing::Values(
        Way{"unchanged", {8, 10, 12}, R"({"grid": [8, 10, 12]})", {}, "at 2 mm, the model's grid"},
        Way{"padded",
            {8, 10, 11},
            R"({"grid": [8, 8, 16], "spacing_mm": [2, 2, 2]})",
            {},
            "8x10x11 at 2 mm padded and cropped to 8x8x16 by whole voxels"},
        Way{"resampled",
            {9, 10, 13},
            R"({"grid": [12, 12, 12], "spacing_mm": [2.3, 2.5, 2.7]})",
            {},
            "9x10x13 at 2 mm resampled by world coordinates to 12x12x12 at 2.3x2.5x2.7 mm"},
        Way{"stretched",
            {9, 10, 13},
            R"({"grid": [12, 12, 12]})",
            {},
            "9x10x13 stretched to 12x12x12 (the model's spacing is unknown)"},
        Way{"reference",
            {9, 10, 13},
            R"({"grid": [12, 12, 12]})",
            {{"--resize", "reference"}},
            "each label of 9x10x13 stretched linearly to 12x12x12, the reference's way"},
        // As many voxels as the grid, but not its sides.
        Way{"equal_count", {16, 8, 4}, R"({"grid": [8, 8, 8]})", {}, "16x8x4 stretched to 8x8x8"},
        Way{"its_own_grid",
            {17, 17, 17},
            R"({"grid": [8, 8, 8], "spacing_mm": [6, 6, 6]})",
            {{"--size", "mask"}},
            "17x17x17 at 2 mm padded to 18x18x18 by whole voxels"}),
    [](const auto& info) { return info.param.name; });

// The arrays go in as they are, whatever the header says of their axes.
TEST_F(Geometry, AsStoredIgnoresTheAxes) {
  const std::string expected = volume(usual());
  Grid lps{kDims, {{{-2, 0, 0, 7}, {0, -2, 0, 8}, {0, 0, 2, -9}, {0, 0, 0, 1}}}};
  save_mask({lps, head_labels(kDims)});
  Flags flags = usual().set("--overwrite");
  EXPECT_NE(voxels_of(volume(flags)), voxels_of(expected));
  flags.set("--as-stored");
  expect_said(flags, {"8x10x12 at 2 mm, the model's grid, axes as stored (LPS+; the model's are "
                      "RAS+)"});
  EXPECT_EQ(voxels_of(read_text(in_folder("out.nii"))), voxels_of(expected));
  EXPECT_EQ(sidecar()["Frame"], "LPS+");
  EXPECT_EQ(sidecar()["Mask"]["AsStored"], true);
  EXPECT_EQ(sidecar()["Mask"]["Resize"], "auto");
}

// What the sidecar holds gives the same bytes again.
TEST_F(Geometry, TheSidecarTellsHow) {
  save_mask({{{9, 11, 13}, kRas}, head_labels({9, 11, 13})});
  const std::string bytes = volume(with("--size", "mask"));
  EXPECT_EQ(sidecar()["Grid"], nlohmann::json({10, 12, 14}));
  EXPECT_EQ(sidecar()["Mask"]["Fit"], "9x11x13 at 2 mm padded to 10x12x14 by whole voxels");
  EXPECT_EQ(sidecar()["Mask"]["AsStored"], false);
  const std::string resize = sidecar()["Mask"]["Resize"];
  Flags again = with("--size", "10x12x14").set("--resize", resize);
  again.set("--out", in_folder("again.nii").string());
  EXPECT_EQ(volume(again), bytes);
}

TEST_F(Geometry, AnotherSpacingIsResampledInTheWorld) {
  expect_said(demo("healthy-3mm.nii.gz"),
              {"64x64x64 at 3 mm resampled by world coordinates to 16x16x16 at 6 mm",
               // 16 voxels of 6 mm do not hold 64 of 3 mm.
               "the mask's field is 192 mm along axis 0, the model's grid 96 mm",
               "outside the model's grid, where nothing is painted: ", " brain voxels"});
  EXPECT_EQ(voxels_of(read_text(in_folder("out.nii"))).size(), 64U * 64 * 64);
}

TEST_F(Geometry, OneMillimetreIsResampledInTheWorld) {
  expect_said(demo("tumour-large-1mm.nii.gz"),
              {"at 1 mm resampled by world coordinates to 16x16x16 at 6 mm"});
}

// Its spacing is known without a model.json.
TEST_F(Geometry, BratsIsCutByWholeVoxels) {
  constexpr Dims3 kRaw{10, 12, 14};
  TinyModel(RecipeKind::kBrats).save(in_folder("model.safetensors"));
  write_bytes(in_folder("mask.nii"), brats_mask(kRaw).build());
  expect_said(usual(),
              {"10x12x14 at 1 mm cropped to 8x10x12 by whole voxels, turned from RAS to LPS+",
               "outside the model's grid, where nothing is painted: ", " brain voxels"});
  const std::vector<float> flair = voxels_of(read_text(in_folder("out_flair.nii")));
  ASSERT_EQ(flair.size(), 10U * 12 * 14);
  EXPECT_EQ(flair.front(), -1) << "beyond the model's grid";
}

// A model that comes with no grid paints on the mask's.
TEST_F(Geometry, ModelsWithoutAGridTakeTheMasks) {
  TinyModel model;
  model.add("input_blocks.0.0.weight", {32, 4, 3, 3, 3});  // three labels: no recipe
  model.save(in_folder("model.safetensors"));
  save_mask({{{9, 11, 13}, kRas}, head_labels({9, 11, 13})});
  expect_said(usual().erase("--size"),
              {"generic", "9x11x13 at 2 mm padded to 10x12x14 by whole voxels"});
  EXPECT_EQ(voxels_of(read_text(in_folder("out.nii"))).size(), 9U * 11 * 13);
  save_mask({{{9, 11, 1}, kRas}, std::vector<std::uint8_t>(99, 1)});
  expect_refused(usual().erase("--size").set("--out", in_folder("slice.nii").string()),
                 {"mask.nii: 9x11x1 is a single slice"});
}

TEST_F(Geometry, LabelsThatWouldBeLost) {
  LabelVolume mask{{{16, 16, 16}, kRas}, std::vector<std::uint8_t>(4096, 1)};
  mask.data[0] = 2;
  save_mask(mask);
  expect_refused(with("--size", "8").set("--resize", "pad"),
                 {"mask.nii: label 2 (tumour): none of its 1 voxels is left on the model's grid of "
                  "8x8x8 voxels of 2 mm"});
  EXPECT_EQ(run(with("--size", "8").set("--resize", "reference")).exit_code, 0);
}

// A header in metres with sizes in millimetres.
TEST_F(Geometry, UnitsThatCannotBe) {
  write_bytes(in_folder("mask.nii"), head_mask(kDims).units(1).build());
  Flags flags = usual().erase("--size");
  flags.set("--model", model_with_card(R"({"grid": [8, 8, 8], "spacing_mm": [6, 6, 6]})"));
  expect_refused(flags, {"mask.nii: label 1 (brain): none of its", "check the mask's voxel size"});
}

TEST_F(Geometry, WordsThatAreNoWay) {
  expect_refused(with("--resize", "stretch"),
                 {"resize: `stretch` is not auto, pad, resample or reference"});
}

}  // namespace
}  // namespace mezzotint::testing
