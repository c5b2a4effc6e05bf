// BraTS as published: 57.6 M parameters, 192 x 192 x 144 voxels, four volumes; random weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/cli_inputs.h"
#include "cli/cli_runner.h"
#include "formats/nifti.h"
#include "models/config.h"

namespace mezzotint::testing {
namespace {

constexpr Dims3 kPublished{192, 192, 144};
constexpr Dims3 kRaw{240, 240, 155};  // of the challenge's own files

class FullBrats : public ::testing::Test {
 protected:
  FullBrats() { RandomModel(brats_config(), 250).save(in_folder("model.safetensors")); }

  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const {
    return folder_.path() / name;
  }

  // LPS+, 1 mm.
  void write_mask(const Dims3& dims) const {
    NiftiBuilder mask;
    mask.dims({dims[0], dims[1], dims[2]}).units(2).voxels(brats_labels(dims));
    mask.sform(1, Affine{{{-1, 0, 0, 0}, {0, -1, 0, 239}, {0, 0, 1, 0}, {0, 0, 0, 1}}});
    write_bytes(in_folder("mask.nii"), mask.build());
  }

  // x_t1.nii.gz, x_t1ce.nii.gz, ... after two steps on a machine of 24 GB.
  void generate(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"generate",
                                   "--model",
                                   in_folder("model.safetensors"),
                                   "--mask",
                                   in_folder("mask.nii"),
                                   "--out",
                                   in_folder("x.nii.gz"),
                                   "--steps",
                                   "2",
                                   "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = run_program(words, std::chrono::hours(1));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto done = nlohmann::json::parse(lines_of(result.out).back());
    const double predicted = done["predicted_peak_bytes"];
    const auto measured = static_cast<double>(result.peak_bytes);
    RecordProperty("predicted_peak_bytes", done["predicted_peak_bytes"].dump());
    RecordProperty("peak_bytes", std::to_string(result.peak_bytes));
    RecordProperty("sample_seconds", done["sample_seconds"].dump());
    EXPECT_NEAR(predicted, measured, std::max(0.05 * measured, 100e6));
    EXPECT_LT(measured, 24e9);
    EXPECT_TRUE(std::filesystem::exists(in_folder("x.json")));
  }

  // The values of a volume that lies on the mask's grid.
  [[nodiscard]] std::vector<float> volume(const std::string& name, const Dims3& dims) const {
    const auto image = read_nifti(in_folder(name));
    EXPECT_TRUE(image.ok()) << image.error().message;
    if (!image) {
      return {};
    }
    EXPECT_EQ(image->header.dims, std::vector<std::int64_t>(dims.begin(), dims.end())) << name;
    EXPECT_EQ(image->header.affine[1][3], 239) << name;
    std::vector<float> values(static_cast<std::size_t>(image->voxels()));
    image->to_float(values);
    return values;
  }

  TemporaryFolder folder_;
};

constexpr std::array kModalities{"t1", "t1ce", "t2", "flair"};

TEST_F(FullBrats, OnItsOwnGrid) {
  write_mask(kPublished);
  generate();
  for (const char* const name : kModalities) {
    const std::vector<float> values = volume(std::string("x_") + name + ".nii.gz", kPublished);
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*lowest, -1);
    EXPECT_LE(*highest, 1);
    EXPECT_LT(*lowest, *highest) << name;
  }
  const std::vector<std::uint8_t> labels = brats_labels(kPublished);
  EXPECT_TRUE(volume("x_seg.nii.gz", kPublished) ==
              std::vector<float>(labels.begin(), labels.end()));
}

TEST_F(FullBrats, FromAMaskOfRawSizeInTheReferencesForm) {
  write_mask(kRaw);
  generate({"--export", "brats"});
  for (const char* const name : kModalities) {
    const std::vector<float> values = volume(std::string("x_") + name + ".nii.gz", kRaw);
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    EXPECT_EQ(*lowest, 0) << name;
    EXPECT_EQ(*highest, 1) << name;
  }
  std::vector<float> exchanged;
  for (const std::uint8_t label : brats_labels(kRaw)) {
    exchanged.push_back((std::array<float, 5>{0, 2, 1, 3, 0})[label]);
  }
  EXPECT_TRUE(volume("x_seg.nii.gz", kRaw) == exchanged);
}

}  // namespace
}  // namespace mezzotint::testing
