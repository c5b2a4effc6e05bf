// mezzotint prepare: usable masks from what people have, or one line that says what is missing.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "formats/nifti.h"

namespace mezzotint::testing {
namespace {

constexpr std::int64_t kVoxels = 960;       // of kDims
constexpr std::int64_t kBrainVoxels = 480;  // all but a shell one voxel thick

class Prepare : public GenerateTest {
 protected:
  using Values = std::vector<double>;

  // A value for each voxel by what it is: shell of air, brain, or one of four places in the brain.
  static Values scene(double air, double brain, const std::array<double, 4>& places) {
    Values values;
    for (std::int64_t z = 0; z < kDims[2]; ++z) {
      for (std::int64_t y = 0; y < kDims[1]; ++y) {
        for (std::int64_t x = 0; x < kDims[0]; ++x) {
          const bool inside =
              x > 0 && y > 0 && z > 0 && x < kDims[0] - 1 && y < kDims[1] - 1 && z < kDims[2] - 1;
          const bool placed = inside && z == 5 && y == 4 && x >= 2 && x < 6;
          values.push_back(placed ? places[static_cast<std::size_t>(x - 2)] : inside ? brain : air);
        }
      }
    }
    return values;
  }
  // Raw labels, or anything else that is 0 outside the four places.
  static Values raw(const std::array<double, 4>& places) { return scene(0, 0, places); }
  static Values t1() { return scene(0, 50, {10, 80, 90, 1}); }

  void save(const std::string& name, const Values& values) const {
    write_bytes(in_folder(name), head_mask(kDims).type(NiftiType::kFloat64).voxels(values).build());
  }

  [[nodiscard]] Flags prepare_flags(const std::string& recipe) const {
    return Flags("prepare")
        .set("--recipe", recipe)
        .set("--mask", in_folder("mask.nii").string())
        .set("--out", in_folder("out.nii").string());
  }
  [[nodiscard]] Flags brats() const { return prepare_flags("brats"); }
  [[nodiscard]] Flags brats_with_t1() const {
    return brats().set("--t1", in_folder("t1.nii").string());
  }
  [[nodiscard]] Flags whole_head() const { return prepare_flags("whole-head"); }

  // Runs, expects what was written to be `expected` and the screen to say each of `parts`.
  void expect_labels(const Flags& flags, const Values& expected,
                     const std::vector<std::string>& parts) const {
    const CommandResult result = run(flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const std::string& part : parts) {
      EXPECT_NE(result.err.find(part), std::string::npos) << "expected: " << part << "\nfound:\n"
                                                          << result.err;
    }
    EXPECT_EQ(lines_of(result.out).front(), flags.at("--out"));
    const auto image = read_nifti(flags.at("--out"));
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ(image->header.type, NiftiType::kUint8);
    Values values(kVoxels);
    image->read_values(0, values);
    EXPECT_TRUE(values == expected);
    std::filesystem::remove(flags.at("--out"));
  }
};

TEST_F(Prepare, RawBratsLabelsWithAT1) {
  save("t1.nii", t1());
  save("mask.nii", raw({1, 2, 4, 0}));
  expect_labels(
      brats_with_t1(), scene(0, 4, {1, 2, 3, 4}),
      {"before   957 voxels are 0, 1 is 1, 1 is 2, 1 is 4",
       "done     raw label 4 became 3 (enhancing tumour)",
       "done     background became 4 (brain) where the T1 is above 0, its air (100.0 % of "
       "its outer faces): 477 voxels",
       "after    1 necrotic core, 1 oedema, 1 enhancing tumour, 477 brain, 480 background"});
  save("mask.nii", raw({1, 2, 3, 2.9999999993}));
  expect_labels(brats_with_t1(), scene(0, 4, {1, 2, 3, 3}), {"476 brain"});
}

TEST_F(Prepare, T1sOfManyKinds) {
  save("mask.nii", raw({1, 2, 4, 0}));
  const Values expected = scene(0, 4, {1, 2, 3, 4});
  save("t1.nii", scene(-1, 0.5, {-0.99, 0, 1, -0.5}));
  expect_labels(brats_with_t1(), expected, {"the T1 is above -1, its air"});
  save("t1.nii", scene(0, 0.5, {-3, -0.1, 1, 2}));
  expect_labels(brats_with_t1(), expected, {"the T1 is above or below 0, its air"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  save("t1.nii", scene(nan, 7, {1, 2, 3, 4}));
  expect_labels(brats_with_t1(), expected, {"the T1 is a number (its air is NaN)"});
}

TEST_F(Prepare, BackgroundOfMinusOne) {
  save("t1.nii", t1());
  Values mask = raw({1, 2, 3, 0});
  mask[0] = -1;
  save("mask.nii", mask);
  expect_labels(brats_with_t1(), scene(0, 4, {1, 2, 3, 4}),
                {"note     1 voxels are -1: taken as background"});
}

// By whatever name: a picture's is another of the checkpoint here.
TEST_F(Prepare, TheModelIsNotWrittenOver) {
  std::filesystem::create_hard_link(in_folder("model.safetensors"), in_folder("weights.png"));
  Flags flags = whole_head();
  flags.erase("--recipe").set("--model", in_folder("model.safetensors").string());
  flags.set("--preview", in_folder("weights.png").string()).set("--overwrite");
  expect_refused(flags, {"weights.png: is read and would be overwritten"});
}

TEST_F(Prepare, BratsWithoutAT1) {
  save("mask.nii", raw({1, 2, 4, 0}));
  expect_refused(brats(), {"mask.nii: lacks label 4 (brain)", "--t1"});
}

TEST_F(Prepare, T1sThatShowNoBrain) {
  save("mask.nii", raw({1, 2, 4, 0}));
  save("t1.nii", Values(kVoxels, 3));
  expect_refused(brats_with_t1(), {"t1.nii: is 3 everywhere, expected a T1-weighted image"});
  Values noise(kVoxels);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<double>(i % 97);
  }
  save("t1.nii", noise);
  expect_refused(brats_with_t1(),
                 {"t1.nii: has no air around the brain", "give a skull-stripped T1"});
  Values infinite = t1();
  infinite[500] = std::numeric_limits<double>::infinity();
  save("t1.nii", infinite);
  expect_refused(brats_with_t1(), {"t1.nii: 1 voxels are infinite"});
  write_text(in_folder("t1.nii"), "not an image");
  expect_refused(brats_with_t1(), {"t1.nii", "NIfTI"});
  expect_refused(brats().set("--t1", in_folder("nowhere.nii").string()),
                 {"nowhere.nii: cannot open"});
}

TEST_F(Prepare, T1sOfAnotherHead) {
  save("t1.nii", scene(0, 50, {0, 0, 0, 9}));
  save("mask.nii", raw({1, 2, 3, 1}));
  expect_refused(brats_with_t1(), {"t1.nii: is air at 3 of the 4 voxels that", "turned"});
  save("t1.nii", scene(0, 50, {0, 1, 1, 9}));
  const CommandResult result = run(brats_with_t1());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("note     the T1 is air at 1 of the 4 voxels"), std::string::npos);
}

TEST_F(Prepare, OtherImagesOnAnotherGrid) {
  save("mask.nii", raw({1, 2, 4, 0}));
  write_bytes(in_folder("t1.nii"), head_mask({10, 10, 12}).build());
  expect_refused(brats_with_t1(), {"t1.nii: has 10x10x12 voxels of 2x2x2 mm, RAS",
                                   "mask.nii has 8x10x12 voxels", "resample"});
  NiftiBuilder turned = head_mask(kDims);
  turned.sform(1, Affine{{{-2, 0, 0, 7}, {0, -2, 0, 8}, {0, 0, 2, -9}, {0, 0, 0, 1}}});
  write_bytes(in_folder("t1.nii"), turned.type(NiftiType::kFloat64).voxels(t1()).build());
  expect_refused(brats_with_t1(), {"t1.nii: has", "LPS", "mask.nii has", "RAS"});
  write_bytes(in_folder("tumour.nii"), turned.build());
  save("mask.nii", scene(0, 1, {1, 1, 1, 1}));
  expect_refused(whole_head().set("--tumour", in_folder("tumour.nii").string()),
                 {"tumour.nii: has", "mask.nii has"});
}

TEST_F(Prepare, UsableMasksAreCopied) {
  for (const auto& [recipe, labels] : {std::pair("brats", scene(0, 4, {1, 2, 3, 4})),
                                       std::pair("brats", scene(0, 4, {4, 4, 4, 4})),
                                       std::pair("whole-head", scene(0, 1, {2, 2, 1, 1})),
                                       std::pair("whole-head", scene(0, 1, {1, 1, 1, 1}))}) {
    save("mask.nii", labels);
    expect_labels(prepare_flags(recipe), labels,
                  {"done     nothing: the mask is usable as it is, its labels were copied"});
  }
}

// Enhancing tumour alone cannot be told from brain alone, but for its size.
TEST_F(Prepare, ALoneLabelTooSmallForBrain) {
  save("t1.nii", t1());
  save("mask.nii", raw({4, 4, 0, 0}));
  expect_refused(brats_with_t1(),
                 {"mask.nii: its labels cover 0.4 % of the head", "too little for label 4 (brain)",
                  "--label-map \"4=enhancing tumour\" or \"4=brain\""});
  expect_labels(brats_with_t1().set("--label-map", "4=enhancing tumour"), scene(0, 4, {3, 3, 4, 4}),
                {"2 enhancing tumour, 478 brain"});
}

// What prepare makes of a tumour that does not enhance, generate would take for raw labels.
TEST_F(Prepare, SaysHowToUseLabelsThatStillLookRaw) {
  save("t1.nii", t1());
  save("mask.nii", raw({1, 2, 0, 0}));
  expect_labels(brats_with_t1(), scene(0, 4, {1, 2, 4, 4}),
                {"note     without a label 3, these labels look raw: give generate --label-map "
                 "\"1=1,2=2,4=4\" with them"});
}

TEST_F(Prepare, BrainMasks) {
  const Values expected = scene(0, 1, {1, 1, 1, 1});
  save("mask.nii", scene(0, 255, {255, 255, 255, 255}));
  expect_labels(whole_head(), expected, {"done     255, the only value beside 0, became brain"});
  save("mask.nii", scene(0.1, 0.9, {0.5, 0.6, 0.7, 1}));
  expect_labels(
      whole_head(), expected,
      {"done     every value from 0.5 on, of values from 0 to 1 became brain: 480 voxels"});
}

TEST_F(Prepare, ABrainMaskAndATumourMask) {
  save("mask.nii", scene(0, 1, {1, 1, 1, 1}));
  const Flags flags = whole_head().set("--tumour", in_folder("tumour.nii").string());
  save("tumour.nii", raw({0, 1, 2, 4}));
  expect_labels(flags, scene(0, 1, {1, 2, 2, 2}),
                {"every value above 0 of tumour.nii became 2 (tumour): 3 voxels",
                 "after    477 brain, 3 tumour, 480 background"});
  Values outside = raw({1, 1, 0, 0});
  outside[0] = 1;
  save("tumour.nii", outside);
  Values expected = scene(0, 1, {2, 2, 1, 1});
  expected[0] = 2;
  expect_labels(flags, expected, {"note     1 voxels of the tumour lie outside the brain"});
}

TEST_F(Prepare, TumourMasksThatCannotBe) {
  save("mask.nii", scene(0, 1, {1, 1, 1, 1}));
  const Flags flags = whole_head().set("--tumour", in_folder("tumour.nii").string());
  save("tumour.nii", Values(kVoxels));
  expect_refused(flags, {"tumour.nii: covers nothing: 960 voxels are 0"});
  save("tumour.nii", raw({-1, 1.5, 0, 0}));
  expect_refused(flags, {"tumour.nii: ", "1 is -1, 1 is 1.5", "expected a mask of one structure"});
  Values outside(kVoxels);
  outside[0] = 1;
  save("tumour.nii", outside);
  expect_refused(flags, {"tumour.nii: lies wholly outside"});
  save("tumour.nii", Values(kVoxels, 1));
  expect_refused(flags, {"tumour.nii: covers all of ", "no brain is left: are the two exchanged?"});
  save("mask.nii", scene(0, 4, {1, 2, 3, 4}));
  expect_refused(
      brats().set("--tumour", in_folder("tumour.nii").string()),
      {"tumour: brats models have no single label for all tumour", "3 (enhancing tumour)"});
}

TEST_F(Prepare, AT1ShowsTheBrainOfAWholeHeadMaskToo) {
  save("t1.nii", t1());
  save("mask.nii", raw({7, 7, 0, 0}));
  expect_labels(
      whole_head().set("--t1", in_folder("t1.nii").string()).set("--label-map", "7=tumour"),
      scene(0, 1, {2, 2, 1, 1}), {"background became 1 (brain) where the T1 is above 0"});
  save("mask.nii", raw({2, 2, 0, 0}));
  expect_labels(whole_head(), raw({2, 2, 0, 0}),
                {"note     there is no label 1 (brain): the model has seen no such mask"});
}

TEST_F(Prepare, ManyLabelsNeedALabelMap) {
  const Values aseg = scene(0, 41, {2, 1035, 17, 17});
  save("mask.nii", aseg);
  expect_refused(whole_head(),
                 {"mask.nii: 476 voxels are 41", "expected only 0 (background), 1 (brain), 2",
                  "if all but 0 is brain: --label-map \"*=brain\""});
  expect_labels(whole_head().set("--label-map", "*=brain"), scene(0, 1, {1, 1, 1, 1}),
                {"done     labels as the map says: *=brain"});
  expect_labels(whole_head().set("--label-map", "17=Tumour,*=1"), scene(0, 1, {1, 1, 2, 2}), {});
}

TEST_F(Prepare, LabelMapsThatLeaveValuesOut) {
  save("mask.nii", scene(0, 1, {1, 5, 5, 9}));
  expect_refused(whole_head().set("--label-map", "1=brain"),
                 {"mask.nii: 2 voxels are 5, 1 is 9",
                  "expected only the values of the label map (0, 1)", "\"*=background\""});
}

TEST_F(Prepare, LabelMapsThatMakeNoSense) {
  for (const auto& [map, part] :
       {std::pair(",", "`` is not VALUE=LABEL"), std::pair("1", "`1` is not VALUE=LABEL"),
        std::pair("brain=1", "`brain` in `brain=1` is neither a whole number"),
        std::pair("1=brian", "`brian` in `1=brian` is no label of this model, expected one of 0"),
        std::pair("1=3", "`3` in `1=3` is no label"),
        std::pair("1=brain,1=tumour", "`1` is listed twice")}) {
    expect_refused(whole_head().set("--label-map", map), {"label-map: ", part});
  }
}

TEST_F(Prepare, ValuesThatAreNoLabels) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string recipe : {"whole-head", "brats"}) {
    save("mask.nii", scene(0, 1, {7, 1.5, nan, infinity}));
    expect_refused(prepare_flags(recipe), {"mask.nii: ", "1 is nan", "1.5", "inf"});
    save("mask.nii", Values(kVoxels));
    expect_refused(prepare_flags(recipe), {"mask.nii: all 960 voxels are 0"});
  }
  save("mask.nii", scene(0, 1, {-1, 1, 1, 1}));
  expect_refused(whole_head(), {"mask.nii: 1 voxel is -1"});
  save("mask.nii", raw({1, 2, 7, 7}));
  expect_refused(brats(), {"mask.nii: 2 voxels are 7", "--label-map \"VALUE=LABEL,...\""});
}

TEST_F(Prepare, ImagesThatAreNoVolume) {
  write_bytes(in_folder("mask.nii"), head_mask({8, 10, 1}).build());
  expect_refused(whole_head(), {"mask.nii: 8x10x1 is a single slice"});
  write_bytes(in_folder("mask.nii"), head_mask(kDims).dims({8, 10, 6, 2}).build());
  expect_refused(whole_head(), {"mask.nii: holds 8 x 10 x 6 x 2 voxels, expected one 3D volume"});
  write_text(in_folder("mask.nii"), "");
  expect_refused(whole_head(), {"mask.nii", "NIfTI"});
  expect_refused(whole_head().set("--mask", in_folder("nowhere.nii").string()),
                 {"nowhere.nii: cannot open"});
}

TEST_F(Prepare, GeometryStaysAndTextGoes) {
  NiftiBuilder mask = head_mask(kDims);
  mask.units(2 | 8).pixdim(0, -1).pixdim(1, 2.1).pixdim(4, 1.75);
  mask.qform(1, {0.01, 0.02, 0.03}, {-7.3, -8.1, 9.7}).scaling(2, 0);
  for (const std::size_t offset : {4, 14, 148, 228, 328}) {
    mask.text(offset, "DOE^JANE");
  }
  std::vector<std::uint8_t> halves(kVoxels);
  halves[500] = 1;  // 2 after scaling
  halves[501] = 1;
  write_bytes(in_folder("mask.nii"), mask.voxels(halves).build());
  ASSERT_EQ(run(whole_head().set("--label-map", "2=brain")).exit_code, 0);
  const std::string in = read_text(in_folder("mask.nii"));
  const std::string out = read_text(in_folder("out.nii"));
  EXPECT_EQ(out.size(), 352U + kVoxels);
  const auto expect_same = [&](std::size_t first, std::size_t end) {
    EXPECT_EQ(out.substr(first, end - first), in.substr(first, end - first)) << first;
  };
  expect_same(nifti1::kPixdim, nifti1::kPixdim + 32);
  expect_same(nifti1::kXyztUnits, nifti1::kXyztUnits + 1);
  expect_same(nifti1::kQformCode, nifti1::kSrow + 48);
  EXPECT_EQ(out.find("DOE"), std::string::npos);
  EXPECT_EQ(out[nifti1::kDescrip], '\0');
  EXPECT_EQ(out[352 + 500], 1);
}

TEST_F(Prepare, HeaderNotesAreShown) {
  NiftiBuilder mask = head_mask(kDims);
  mask.sform(0, identity_affine());
  write_bytes(in_folder("mask.nii"), mask.build());
  const auto image = read_nifti(in_folder("mask.nii"));
  ASSERT_TRUE(image.ok());
  ASSERT_FALSE(image->header.notes.empty());
  const CommandResult result = run(whole_head());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("note     " + image->header.notes[0]), std::string::npos) << result.err;
}

TEST_F(Prepare, PreviewsWithAndWithoutT1) {
  save("t1.nii", t1());
  save("mask.nii", scene(0, 4, {1, 2, 3, 4}));
  Flags flags = brats().set("--preview", in_folder("out.png").string()).set("--overwrite");
  const CommandResult alone = run(flags);
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(lines_of(alone.out).back(), in_folder("out.png").string());
  const std::string labels = read_text(in_folder("out.png"));
  EXPECT_TRUE(labels.starts_with("\x89PNG"));
  flags.set("--t1", in_folder("t1.nii").string());
  EXPECT_EQ(run(flags).exit_code, 0);
  EXPECT_NE(read_text(in_folder("out.png")), labels);
}

TEST_F(Prepare, Json) {
  save("t1.nii", t1());
  save("mask.nii", raw({1, 2, 4, 0}));
  const CommandResult result = run(brats_with_t1().set("--json"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("recipe"), "brats");
  EXPECT_EQ(json.at("out"), in_folder("out.nii").string());
  EXPECT_EQ(json.at("before").at(3), (nlohmann::json{{"value", 4.0}, {"voxels", 1}}));
  EXPECT_EQ(json.at("after").at(4),
            (nlohmann::json{{"label", 4}, {"name", "brain"}, {"voxels", kBrainVoxels - 3}}));
  EXPECT_EQ(json.at("done").size(), 2U);
  EXPECT_TRUE(json.at("notes").empty());
}

TEST_F(Prepare, LabelsOfAModel) {
  std::filesystem::create_directory(in_folder("model"));
  std::filesystem::rename(in_folder("model.safetensors"), in_folder("model/model.safetensors"));
  write_text(in_folder("model/model.json"), R"({"labels": {"2": "lesion"}})");
  save("mask.nii", scene(0, 10, {20, 20, 10, 10}));
  Flags flags = whole_head().erase("--recipe").set("--model", in_folder("model").string());
  expect_labels(Flags(flags).set("--label-map", "10=brain,20=lesion"), scene(0, 1, {2, 2, 1, 1}),
                {"recipe   whole-head", "after    478 brain, 2 lesion, 480 background"});
  expect_refused(Flags(flags).set("--label-map", "10=brain,20=tumour"), {"1 (brain), 2 (lesion)"});
  expect_refused(flags.set("--model", in_folder("mask.nii").string()), {"mask.nii"});
}

TEST_F(Prepare, Usage) {
  expect_refused(whole_head().erase("--recipe"),
                 {"pass either --recipe or --model", "mezzotint prepare --help"}, 2);
  expect_refused(whole_head().set("--model", in_folder("model.safetensors").string()),
                 {"pass either --recipe or --model"}, 2);
  expect_refused(whole_head().erase("--mask"), {"--mask is required"}, 2);
  expect_refused(whole_head().erase("--out"), {"--out is required"}, 2);
  expect_refused(prepare_flags("wholehead"), {"recipe: `wholehead` is not whole-head or brats"});
  expect_refused(prepare_flags("generic"), {"for another model pass --model"});
  expect_refused(whole_head().set("--tumor", "x"), {"did you mean --tumour?"}, 2);
  const CommandResult help = run_program({"prepare", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("mezzotint prepare --recipe brats --mask"), std::string::npos);
}

TEST_F(Prepare, OutputNames) {
  expect_refused(whole_head().set("--out", in_folder("out.mgz").string()),
                 {"out.mgz: expected a name that ends in .nii or .nii.gz"});
  expect_refused(whole_head().set("--preview", in_folder("out.jpg").string()),
                 {"out.jpg: expected a name that ends in .png"});
  expect_refused(whole_head().set("--out", in_folder("nowhere/out.nii").string()),
                 {"nowhere/out.nii: cannot create a file here"});
  write_text(in_folder("out.nii"), "precious");
  expect_refused(whole_head(), {"out.nii: exists already", "--overwrite"});
  std::filesystem::remove(in_folder("out.nii"));
  write_text(in_folder("out.png"), "precious");
  expect_refused(whole_head().set("--preview", in_folder("out.png").string()),
                 {"out.png: exists already"});
}

TEST_F(Prepare, InputsAreNeverReplaced) {
  save("t1.nii", t1());
  save("tumour.nii", raw({1, 0, 0, 0}));
  Flags flags = whole_head().set("--t1", in_folder("t1.nii").string()).set("--overwrite");
  flags.set("--tumour", in_folder("tumour.nii").string());
  for (const char* name : {"mask.nii", "t1.nii", "tumour.nii", "./mask.nii"}) {
    expect_refused(flags.set("--out", in_folder(name).string()),
                   {"is read and would be overwritten: choose another name"});
  }
  std::filesystem::create_symlink("model.safetensors", in_folder("linked.nii"));
  Flags model = whole_head().erase("--recipe").set("--overwrite");
  model.set("--model", in_folder("model.safetensors").string());
  expect_refused(model.set("--out", in_folder("linked.nii").string()),
                 {"linked.nii: is read and would be overwritten"});
}

// What prepare writes, generate takes.
TEST_F(Prepare, ItsResultIsUsable) {
  save("mask.nii", scene(0, 255, {255, 255, 255, 255}));
  const std::string made = in_folder("made.nii.gz").string();
  ASSERT_EQ(run(whole_head().set("--out", made)).exit_code, 0);
  EXPECT_TRUE(read_text(made).starts_with("\x1f\x8b"));
  EXPECT_EQ(volume(with("--mask", made)).size(), 352U + kVoxels * sizeof(float));
}

}  // namespace
}  // namespace mezzotint::testing
