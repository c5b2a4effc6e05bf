// Models that paint several volumes at once: four files and the mask from one run.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sha256.h"
#include "cli/generate_test_base.h"
#include "formats/nifti.h"
#include "imaging/volume.h"

namespace mezzotint::testing {
namespace {

class Brats : public GenerateTest {
 protected:
  Brats() {
    save(TinyModel(RecipeKind::kBrats));
    write_bytes(in_folder("mask.nii"), brats_mask(kDims).build());
  }

  void save(const TinyModel& model) const { model.save(in_folder("model.safetensors")); }

  [[nodiscard]] NiftiImage image(const std::string& name) const {
    auto read = read_nifti(in_folder(name));
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read ? std::move(*read) : NiftiImage{};
  }

  static std::vector<double> values(const NiftiImage& image) {
    std::vector<double> values(static_cast<std::size_t>(image.voxels()));
    image.read_values(0, values);
    return values;
  }
};

constexpr const char* kModalities[] = {"t1", "t1ce", "t2", "flair"};

TEST_F(Brats, WritesAVolumePerModalityAndTheMask) {
  Flags flags = with("--out", in_folder("out.nii.gz").string());
  flags.set("--preview", in_folder("out.png").string());
  const CommandResult result = run(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("t1, t1ce, t2, flair"), std::string::npos) << result.err;
  std::string expected;
  for (const char* name : kModalities) {
    expected += in_folder(std::string("out_") + name + ".nii.gz").string() + "\n";
  }
  for (const char* name : {"out_seg.nii.gz", "out.json", "out.png"}) {
    expected += in_folder(name).string() + "\n";
  }
  EXPECT_EQ(result.out, expected);

  const auto sidecar = nlohmann::json::parse(read_text(in_folder("out.json")));
  ASSERT_EQ(sidecar["Volumes"].size(), 4U);
  std::set<std::string> different;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string file = std::string("out_") + kModalities[i] + ".nii.gz";
    const auto& entry = sidecar["Volumes"][i];
    EXPECT_EQ(entry["File"], file);
    EXPECT_EQ(entry["Modality"], kModalities[i]);
    const std::string content = read_text(in_folder(file));
    EXPECT_EQ(entry["Sha256"], sha256_hex(std::as_bytes(std::span(content))));
    different.insert(entry["VoxelsSha256"]);
    EXPECT_EQ(image(file).header.dims, (std::vector<std::int64_t>{kDims[0], kDims[1], kDims[2]}));
  }
  EXPECT_EQ(different.size(), 4U);

  const NiftiImage mask = image("mask.nii");
  const NiftiImage copy = image("out_seg.nii.gz");
  EXPECT_EQ(copy.header.type, NiftiType::kUint8);
  EXPECT_EQ(copy.header.affine, mask.header.affine);
  EXPECT_EQ(values(copy), values(mask));
}

// A network whose prediction is a constant of each channel: one that is far below 0 makes the clean
// image 1 everywhere, one that is far above makes it -1.
TEST_F(Brats, ChannelsGoToTheirOwnFiles) {
  TinyModel model(RecipeKind::kBrats);
  std::ranges::fill(model.at("out.2.weight"), 0.0F);
  model.at("out.2.bias") = {-1e4F, 1e4F, 1e4F, -1e4F};
  save(model);
  ASSERT_EQ(run(usual()).exit_code, 0);
  const double expected[] = {1, -1, -1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto painted = values(image(std::string("out_") + kModalities[i] + ".nii"));
    EXPECT_TRUE(std::ranges::all_of(painted, [&](double v) { return v == expected[i]; })) << i;
  }
}

TEST_F(Brats, MasksOfTheReferencesPreparationHaveMinusOneAsBackground) {
  std::vector<std::int16_t> labels;
  for (const std::uint8_t label : brats_labels(kDims)) {
    labels.push_back(label == 0 ? std::int16_t{-1} : std::int16_t{label});
  }
  ASSERT_EQ(run(usual()).exit_code, 0);
  const std::string with_zero = read_text(in_folder("out_flair.nii"));
  write_bytes(in_folder("mask.nii"),
              brats_mask(kDims).type(NiftiType::kInt16).voxels(labels).build());
  Flags flags = usual();
  flags.set("--overwrite");
  ASSERT_EQ(run(flags).exit_code, 0);
  EXPECT_EQ(read_text(in_folder("out_flair.nii")), with_zero);
  EXPECT_EQ(values(image("out_seg.nii")).front(), 0);
}

TEST_F(Brats, InspectKnowsAllFilesOfARun) {
  ASSERT_EQ(run(usual()).exit_code, 0);
  for (const auto& [file, modality] :
       {std::pair("out_t2.nii", "t2"), {"out_seg.nii", "segmentation"}}) {
    const CommandResult result = run_program({"inspect", in_folder(file).string(), "--json"});
    const auto json = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    const auto& origin = json.at("image").at("origin");
    ASSERT_TRUE(origin.is_object()) << file;
    EXPECT_EQ(origin.at("modality"), modality);
    EXPECT_EQ(origin.at("unchanged"), true);
    EXPECT_EQ(origin.at("model"), "model.safetensors");
  }
}

TEST_F(Brats, MasksWithoutBrainNeedPrepare) {
  for (const std::vector<std::uint8_t>& labels :
       {std::vector<std::uint8_t>{1, 2, 3}, {1, 2}, {3}}) {
    std::vector<std::uint8_t> mask(960);
    std::ranges::copy(labels, mask.begin() + 500);
    write_bytes(in_folder("mask.nii"), head_mask(kDims).voxels(mask).build());
    expect_refused(usual(),
                   {"mask.nii: lacks label 4 (brain)", "`mezzotint prepare --recipe brats --mask",
                    "mask.nii --t1 T1 --out NEW.nii.gz` adds it"});
  }
}

// Raw labels, where 4 is the enhancing tumour, would give a tiny brain.
TEST_F(Brats, RawLabelsNeedPrepareOrAWord) {
  std::vector<std::uint8_t> labels = brats_labels(kDims);
  std::ranges::replace(labels, std::uint8_t{3}, std::uint8_t{2});
  write_bytes(in_folder("mask.nii"), brats_mask(kDims).voxels(labels).build());
  expect_refused(usual(), {"mask.nii: holds labels 1, 2 and 4 but no 3", "most likely raw labels",
                           "`mezzotint prepare --recipe brats", "--label-map \"1=1,2=2,4=4\""});
  EXPECT_EQ(run(with("--label-map", "1=1,2=2,4=4")).exit_code, 0);
}

TEST_F(Brats, BrainWithoutTumourIsFine) {
  std::vector<std::uint8_t> labels = brats_labels(kDims);
  std::ranges::for_each(labels, [](std::uint8_t& label) { label = label == 0 ? 0 : 4; });
  write_bytes(in_folder("mask.nii"), brats_mask(kDims).voxels(labels).build());
  EXPECT_EQ(run(usual()).exit_code, 0);
}

// The mask here is RAS+ and smaller than the challenge's files.
TEST_F(Brats, ExportsTheFormOfTheChallenge) {
  const CommandResult result = run(with("--export", "brats"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const NiftiImage mask = image("mask.nii");
  for (const char* name : kModalities) {
    const NiftiImage exported = image(std::string("out_") + name + ".nii");
    EXPECT_EQ(exported.header.dims, (std::vector<std::int64_t>{240, 240, 155}));
    EXPECT_EQ(orientation_codes(exported.header.affine), "LPS");
    EXPECT_EQ(exported.header.spacing, mask.header.spacing);
    const auto painted = values(exported);
    EXPECT_EQ(*std::ranges::min_element(painted), 0);
    EXPECT_EQ(*std::ranges::max_element(painted), 1);
  }
  // The challenge's labels at the same places in the world.
  const NiftiImage labels = image("out_seg.nii");
  const auto before = values(mask);
  const auto after = values(labels);
  const auto to_exported = inverse(labels.header.affine);
  ASSERT_TRUE(to_exported.has_value());
  const double exchanged[] = {0, 2, 1, 3, 0};
  std::size_t index = 0;
  for (std::int64_t z = 0; z < kDims[2]; ++z) {
    for (std::int64_t y = 0; y < kDims[1]; ++y) {
      for (std::int64_t x = 0; x < kDims[0]; ++x, ++index) {
        const Vec3 there = transform(
            *to_exported,
            transform(mask.header.affine,
                      {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}));
        const auto at = [&](std::size_t axis) {
          return static_cast<std::size_t>(std::lround(there[axis]));
        };
        EXPECT_EQ(after[(at(2) * 240 + at(1)) * 240 + at(0)],
                  exchanged[static_cast<std::size_t>(before[index])]);
      }
    }
  }
}

TEST_F(Brats, ExportIsForBratsModelsAndHasAName) {
  expect_refused(with("--export", "nifti"), {"export: `nifti` is not mask or brats"});
  save(TinyModel());
  write_bytes(in_folder("mask.nii"), head_mask(kDims).build());
  expect_refused(with("--export", "brats"),
                 {"export: brats is for models of that recipe; model.safetensors is whole-head"});
}

// Padded by 114 planes of 100 mm, the exported grid begins beyond what a header may say.
TEST_F(Brats, ExportThatNoHeaderCanPlace) {
  constexpr Affine kFar{{{-100, 0, 0, 9'990'000}, {0, -100, 0, 0}, {0, 0, 100, 0}, {0, 0, 0, 1}}};
  write_bytes(in_folder("mask.nii"), brats_mask(kDims).sform(1, kFar).build());
  Flags flags = with("--export", "brats");
  flags.set("--resize", "pad");
  expect_refused(flags, {"mask.nii: export: on BraTS's grid it would have voxels of 100 x 100 x",
                         "the first at (10001600, ", "a place within 1e7 mm"});
  flags.set("--export", "mask");
  EXPECT_EQ(run(flags).exit_code, 0);
}

TEST_F(Brats, OneNameThatIsTakenRefusesAll) {
  write_text(in_folder("out_t2.nii"), "precious");
  expect_refused(usual(), {"out_t2.nii: exists already"});
}

}  // namespace
}  // namespace mezzotint::testing
