// Parity with the reference's preprocessing. Driven by the manifests in preprocess/: a case is a
// prefix of tensor names, and its kind follows from the tensors that share the prefix.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>

#include "base/sha256.h"
#include "formats/nifti_space.h"
#include "imaging/brats_export.h"
#include "imaging/crop_or_pad.h"
#include "imaging/encode.h"
#include "imaging/labels.h"
#include "imaging/volume.h"
#include "support/fixture.h"
#include "support/preprocess.h"

namespace mezzotint {
namespace {

using testing::FixtureCase;
using testing::FixtureTensor;
using testing::resize_bound;
using testing::reverse_axes;

// How the reference encodes, by the number of condition channels.
struct Recipe {
  std::vector<int> labels;
  float off = 0;
  float on = 1;
  LabelSet names;
};

Recipe recipe_for(std::int64_t channels) {
  Recipe recipe;
  recipe.off = channels == 2 ? -1.0F : 0.0F;
  for (int label = 1; label <= static_cast<int>(channels); ++label) {
    recipe.labels.push_back(label);
    recipe.names.labels.push_back({label, fmt::format("label {}", label)});
  }
  return recipe;
}

std::size_t elements(const std::vector<std::int64_t>& shape) {
  std::size_t product = 1;
  for (const std::int64_t dim : shape) {
    product *= static_cast<std::size_t>(dim);
  }
  return product;
}

LabelVolume label_volume(const FixtureCase& fixture, const FixtureTensor& tensor) {
  LabelVolume volume{{{tensor.shape[0], tensor.shape[1], tensor.shape[2]}, identity_affine()}, {}};
  const auto values = fixture.read(tensor.name);
  EXPECT_TRUE(values.ok()) << values.error().message;
  if (values) {
    volume.data = reverse_axes<std::uint8_t>(*values, volume.dims);
  }
  return volume;
}

// cond [1, C, z, y, x] from labels [x, y, z], at the same size or resized.
void check_condition(const FixtureCase& fixture, const FixtureTensor& labels,
                     const FixtureTensor& cond) {
  const LabelVolume volume = label_volume(fixture, labels);
  const Recipe recipe = recipe_for(cond.shape[1]);
  const Dims3 dims{cond.shape[4], cond.shape[3], cond.shape[2]};
  const auto expected = fixture.read(cond.name);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  std::vector<float> actual(elements(cond.shape));
  if (dims == volume.dims) {
    encode_labels(volume, recipe.labels, recipe.off, recipe.on, actual);
    EXPECT_TRUE(actual == *expected) << cond.name << " differs";
    return;
  }
  encode_labels_resized(volume, recipe.labels, dims, recipe.off, recipe.on, actual);
  const double bound = resize_bound(volume.dims, dims, static_cast<double>(recipe.on) - recipe.off);
  double largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - (*expected)[i]));
  }
  EXPECT_LE(largest, bound) << cond.name;
  ::testing::Test::RecordProperty("largest_error", fmt::format("{:.3g}", largest));
}

// volumes [C][x, y, z] from a sample [1, C, z, y, x]: each channel goes into a NIfTI file as it
// lies in memory, and comes out with the axes reversed.
void check_transposition(const FixtureCase& fixture, const FixtureTensor& sample,
                         const FixtureTensor& volumes) {
  const auto values = fixture.read(sample.name);
  const auto expected = fixture.read(volumes.name);
  ASSERT_TRUE(values.ok() && expected.ok());
  const Dims3 dims{volumes.shape[1], volumes.shape[2], volumes.shape[3]};
  ASSERT_EQ(dims, (Dims3{sample.shape[4], sample.shape[3], sample.shape[2]}));
  const std::vector<float> in_memory_order = reverse_axes<float>(*expected, dims);
  const auto voxels = static_cast<std::size_t>(dims[0] * dims[1] * dims[2]);
  for (std::size_t first = 0; first < values->size(); first += voxels) {
    auto file = encode_nifti(*geometry_from_affine(identity_affine()), dims,
                             std::span(*values).subspan(first, voxels), "");
    ASSERT_TRUE(file.ok()) << file.error().message;
    const auto image = decode_nifti(std::move(*file), "volume.nii");
    ASSERT_TRUE(image.ok()) << image.error().message;
    std::vector<float> read(voxels);
    image->to_float(read);
    EXPECT_TRUE(std::equal(read.begin(), read.end(),
                           in_memory_order.begin() + static_cast<std::ptrdiff_t>(first)))
        << volumes.name << " differs";
  }
}

// out [x, y, z] from in [x, y, z]: intensities to 0..1, then cropped or padded to out's size. The
// manifest states in's affine in words.
void check_export(const FixtureCase& fixture, const FixtureTensor& in, const FixtureTensor& out,
                  const FixtureTensor& affine) {
  const auto values = fixture.read(in.name);
  const auto expected = fixture.read(out.name);
  const auto expected_affine = fixture.read_double(affine.name);
  ASSERT_TRUE(values.ok() && expected.ok() && expected_affine.ok());
  const std::size_t stated = in.what.find("[[");
  ASSERT_NE(stated, std::string::npos) << in.what;
  Volume volume{{{in.shape[0], in.shape[1], in.shape[2]},
                 nlohmann::json::parse(in.what.substr(stated)).get<Affine>()},
                {}};
  volume.data = reverse_axes<float>(*values, volume.dims);
  rescale_to_unit(volume.data);
  const Volume actual = crop_or_pad(volume, {out.shape[0], out.shape[1], out.shape[2]}, 0);
  EXPECT_TRUE(actual.data == reverse_axes<float>(*expected, actual.dims)) << out.name << " differs";
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(actual.affine[i / 4][i % 4], (*expected_affine)[i]) << affine.name;
  }
}

void check_label_exchange(const FixtureCase& fixture, const FixtureTensor& in,
                          const FixtureTensor& out) {
  const auto before = fixture.read(in.name);
  const auto after = fixture.read(out.name);
  ASSERT_TRUE(before.ok() && after.ok());
  std::vector<std::uint8_t> labels(before->begin(), before->end());
  exchange_labels(labels);
  EXPECT_EQ(labels, std::vector<std::uint8_t>(after->begin(), after->end()));
}

struct PreprocessCase {
  std::filesystem::path manifest;
  std::string prefix;  // of the tensors' names
};

void PrintTo(const PreprocessCase& which, std::ostream* out) {
  *out << which.manifest.string() << ", " << which.prefix;
}

std::vector<PreprocessCase> preprocess_cases() {
  std::vector<PreprocessCase> cases;
  for (const auto& manifest : testing::fixture_manifests("preprocess")) {
    std::set<std::string> prefixes;
    if (const auto fixture = FixtureCase::load(manifest)) {
      for (const FixtureTensor& tensor : fixture->tensors()) {
        prefixes.insert(tensor.name.substr(0, tensor.name.rfind('.')));
      }
    } else {
      prefixes.insert("unreadable");
    }
    for (const std::string& prefix : prefixes) {
      cases.push_back({manifest, prefix});
    }
  }
  return cases;
}

std::string test_name(const ::testing::TestParamInfo<PreprocessCase>& info) {
  std::string name = info.param.manifest.stem().string() + "_" + info.param.prefix;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class PreprocessTest : public ::testing::TestWithParam<PreprocessCase> {};

TEST_P(PreprocessTest, Agrees) {
  const auto fixture = FixtureCase::load(GetParam().manifest);
  ASSERT_TRUE(fixture.ok()) << fixture.error().message;
  const std::string& prefix = GetParam().prefix;
  const auto* labels = fixture->find(prefix + ".labels");
  const auto* cond = fixture->find(prefix + ".cond");
  const auto* sample = fixture->find(prefix + ".sample");
  const auto* volumes = fixture->find(prefix + ".volumes");
  const bool has_condition = labels != nullptr && cond != nullptr;
  const bool has_output = sample != nullptr && volumes != nullptr;
  if (has_condition) {
    check_condition(*fixture, *labels, *cond);
  }
  if (has_output) {
    check_transposition(*fixture, *sample, *volumes);
  }
  const auto* in = fixture->find(prefix + ".in");
  const auto* out = fixture->find(prefix + ".out");
  const auto* affine = fixture->find(prefix + ".affine");
  const auto* labels_in = fixture->find(prefix + ".labels_in");
  const auto* labels_out = fixture->find(prefix + ".labels_out");
  const bool has_export = in != nullptr && out != nullptr && affine != nullptr;
  const bool has_exchange = labels_in != nullptr && labels_out != nullptr;
  if (has_export) {
    check_export(*fixture, *in, *out, *affine);
  }
  if (has_exchange) {
    check_label_exchange(*fixture, *labels_in, *labels_out);
  }
  if (!has_condition && !has_output && !has_export && !has_exchange) {
    GTEST_SKIP() << "kind \"" << prefix.substr(0, prefix.find('.')) << "\" has no feature yet";
  }
}

INSTANTIATE_TEST_SUITE_P(fixture, PreprocessTest, ::testing::ValuesIn(preprocess_cases()),
                         test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PreprocessTest);

TEST(PreprocessFolder, fixture_is_present) {
  if (preprocess_cases().empty()) {
    GTEST_SKIP() << "no preprocess fixtures; set MEZZOTINT_FIXTURES";
  }
}

void check_real_file(const std::filesystem::path& path, const nlohmann::json& facts) {
  const auto image = read_nifti(path);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ(image->sha256, facts.at("file_sha256").get<std::string>());
  EXPECT_EQ(name_of(image->header.type), facts.at("file_dtype").get<std::string>());
  EXPECT_EQ(image->header.geometry.qform_code, facts.at("qform_code").get<int>());
  EXPECT_EQ(image->header.geometry.sform_code, facts.at("sform_code").get<int>());
  EXPECT_EQ(image->header.affine, facts.at("affine").get<Affine>());
  EXPECT_EQ(image->header.spacing, facts.at("zooms").get<Vec3>());

  const auto cond_shape = facts.at("cond_shape").get<std::vector<std::int64_t>>();
  const Recipe recipe = recipe_for(cond_shape.at(1));
  const auto labels = labels_from_nifti(*image, recipe.names, path.string());
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.dims, facts.at("shape_xyz").get<Dims3>());
  const LabelCounts counts = count_labels(labels->volume);
  for (const auto& [label, count] : facts.at("label_counts").items()) {
    EXPECT_EQ(counts.at(static_cast<std::size_t>(std::stod(label))), count.get<std::int64_t>());
  }
  std::vector<float> cond(elements(cond_shape));
  encode_labels(labels->volume, recipe.labels, recipe.off, recipe.on, cond);
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(cond))),
            facts.at("cond_sha256_of_little_endian_float32_bytes").get<std::string>());
}

std::optional<std::filesystem::path> find_below(const std::filesystem::path& folder,
                                                const std::string& name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == name) {
      return entry.path();
    }
  }
  return std::nullopt;
}

TEST(PreprocessFolder, fixture_real_files) {
  const auto fixtures = testing::fixture_folder();
  const auto data = fixtures ? *fixtures / ".." / "data" / "med-ddpm" : std::filesystem::path();
  if (!fixtures || !std::filesystem::is_directory(data)) {
    GTEST_SKIP() << "no real label files beside the fixtures";
  }
  std::string absent;
  for (const auto& manifest : testing::fixture_manifests("preprocess")) {
    const auto fixture = FixtureCase::load(manifest);
    ASSERT_TRUE(fixture.ok()) << fixture.error().message;
    if (!fixture->facts().contains("real_files")) {
      continue;
    }
    for (const auto& [name, facts] : fixture->facts().at("real_files").items()) {
      SCOPED_TRACE(name);
      if (const auto path = find_below(data, name)) {
        check_real_file(*path, facts);
      } else {
        absent += " " + name;
      }
    }
  }
  if (!absent.empty() && !HasFailure()) {
    GTEST_SKIP() << "not present:" << absent;
  }
}

}  // namespace
}  // namespace mezzotint
