#include "pipeline/inspect.h"

#include <gtest/gtest.h>

#include <numeric>

#include "formats/ckpt_files.h"
#include "models/config.h"
#include "pipeline/machine.h"
#include "support/nifti_builder.h"

namespace mezzotint::testing {
namespace {

using Size = std::array<std::int64_t, 3>;

std::vector<LevelCost> costs(const MedDdpmConfig& config, const Size& grid) {
  auto levels = level_costs(config, grid);
  EXPECT_TRUE(levels.ok()) << levels.error().message;
  return *levels;
}

// The published networks' TFLOP in convolutions and attention, counted op by op in the reference
// and rounded to three decimals.
TEST(LevelCosts, AreThePublishedNetworks) {
  const LevelCost whole_head = total_of(costs(whole_head_config(), {128, 128, 128}));
  EXPECT_NEAR(whole_head.conv_flops, 5.498e12, 0.0005e12);
  EXPECT_NEAR(whole_head.conv_flops + whole_head.attention_flops, 5.537e12, 0.0005e12);
  const LevelCost brats = total_of(costs(brats_config(), {192, 192, 144}));
  EXPECT_NEAR(brats.conv_flops + brats.attention_flops, 21.258e12, 0.0005e12);
}

TEST(LevelCosts, HaveTheGridsAndTheChannelsOfTheLevels) {
  const auto levels = costs(whole_head_config(), {32, 48, 64});
  ASSERT_EQ(levels.size(), 6U);
  EXPECT_EQ(levels[0].grid, (Size{32, 48, 64}));
  EXPECT_EQ(levels[4].grid, (Size{2, 3, 4}));
  EXPECT_EQ(levels[0].channels, 64);
  EXPECT_EQ(levels[4].channels, 256);
  EXPECT_EQ(levels[5].grid, (Size{0, 0, 0}));
  EXPECT_EQ(levels[5].conv_flops, 0);
  EXPECT_GT(levels[5].other_flops, 0);
}

// Attention is at downsampling by 8 and in the middle, where the grid is the coarsest: 4 n^2 FLOPs
// a channel for n voxels. Once in the encoder, twice in the decoder, once in the middle.
TEST(LevelCosts, PutAttentionWhereItIs) {
  const auto levels = costs(whole_head_config(), {32, 32, 32});
  const auto attention = [](double channels, double voxels) {
    return 4 * channels * voxels * voxels;
  };
  EXPECT_EQ(levels[0].attention_flops, 0);
  EXPECT_EQ(levels[3].attention_flops, 3 * attention(192, 4 * 4 * 4));
  EXPECT_EQ(levels[4].attention_flops, attention(256, 2 * 2 * 2));
}

// The last decoder blocks join 64 channels with 64 of a skip.
TEST(LevelCosts, NameTheLargestActivation) {
  const auto levels = costs(whole_head_config(), {128, 128, 128});
  EXPECT_EQ(levels[0].largest_bytes, 128U * 128 * 128 * 128 * sizeof(float));
  EXPECT_EQ(total_of(levels).largest_bytes, levels[0].largest_bytes);
  const std::uint64_t sum = std::accumulate(
      levels.begin(), levels.end(), std::uint64_t{0},
      [](std::uint64_t bytes, const LevelCost& cost) { return bytes + cost.activation_bytes; });
  EXPECT_EQ(total_of(levels).activation_bytes, sum);
}

TEST(LevelCosts, RefuseAGridThatTheNetworkCannotHave) {
  expect_error(level_costs(whole_head_config(), {32, 40, 32}),
               "each side must be a multiple of 16");
}

TEST(LargestCube, IsTheOneWhosePlanFitsExactly) {
  const MedDdpmConfig config = whole_head_config(32);
  const auto backend = this_backend();
  auto machine = *this_machine(1);
  machine.memory_bytes = 5'000'000;  // one activation, but no plan: the smallest is what is told
  const auto plan = plan_memory(config, {32, 32, 32}, *backend, machine);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_GE(plan->peak_bytes, plan->arena_bytes + plan->packed_bytes);
  machine.memory_bytes = plan->peak_bytes;
  EXPECT_EQ(*largest_cube(config, *backend, machine, nullptr), 32);
  --machine.memory_bytes;
  EXPECT_EQ(*largest_cube(config, *backend, machine, nullptr), 16);
  machine.memory_bytes = 1;
  EXPECT_EQ(*largest_cube(config, *backend, machine, nullptr), 0);
}

// The last decoder blocks need both parts of a concatenation, a residual and a result: a fifth
// tensor would be a skip that is held. Beside them the condition, x and workspaces.
TEST(PlanMemory, FourTensorsOfTheFinestLevelAreEnough) {
  const MedDdpmConfig config = whole_head_config(64);
  auto machine = *this_machine(2);
  machine.memory_bytes = 0;
  const auto plan = plan_memory(config, {64, 64, 64}, *this_backend(), machine);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const std::uint64_t tensor = std::uint64_t{64} * 64 * 64 * 64 * sizeof(float);
  EXPECT_LT(plan->arena_bytes, tensor * 9 / 2);
}

TEST(LargestCube, StopsOnRequest) {
  auto machine = *this_machine(1);
  machine.memory_bytes = 1'000'000'000;
  CancelToken cancel;
  cancel.request();
  const auto side = largest_cube(whole_head_config(32), *this_backend(), machine, &cancel);
  ASSERT_FALSE(side.ok());
  EXPECT_EQ(side.error().code, ErrorCode::kCancelled);
}

InspectRequest request_for(const std::filesystem::path& path) {
  InspectRequest request;
  request.path = path;
  return request;
}

// Of the image that these bytes are.
ImageSummary image_of(const std::vector<std::byte>& bytes) {
  const TemporaryFile file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto report = inspect(request_for(file.path()));
  EXPECT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->kind, InspectKind::kImage);
  EXPECT_FALSE(report->problem.has_value()) << report->problem->message;
  return std::move(*report->image);
}

template <typename T>
VoxelSummary voxels_of(NiftiType type, const std::vector<T>& values) {
  NiftiBuilder builder;
  builder.dims({static_cast<std::int64_t>(values.size()) / 4, 2, 2}).type(type).voxels(values);
  return *image_of(builder.build()).voxels;
}

TEST(InspectVoxels, CountsNearlyWholeNumbersAsLabels) {
  const VoxelSummary voxels =
      voxels_of<double>(NiftiType::kFloat64, {0, -1, 2.9999999993, 3, 3, 0, 0, 0});
  EXPECT_EQ(voxels.voxels, 8);
  EXPECT_EQ(voxels.least, -1);
  EXPECT_EQ(voxels.most, 3);
  ASSERT_EQ(voxels.labels.size(), 3U);
  EXPECT_EQ(voxels.labels[0].value, -1);
  EXPECT_EQ(voxels.labels[1].voxels, 4);
  EXPECT_EQ(voxels.labels[2].value, 3);
  EXPECT_EQ(voxels.labels[2].voxels, 3);
}

TEST(InspectVoxels, SeesNoLabelsInIntensities) {
  EXPECT_TRUE(voxels_of<float>(NiftiType::kFloat32, {0, 1, 2, 0.5F}).labels.empty());
  std::vector<std::int16_t> many(kMostLabels + 4);
  std::iota(many.begin(), many.end(), std::int16_t{0});
  EXPECT_TRUE(voxels_of(NiftiType::kInt16, many).labels.empty());
  many.resize(kMostLabels);
  EXPECT_EQ(voxels_of(NiftiType::kInt16, many).labels.size(), kMostLabels);
}

TEST(InspectVoxels, CountsWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  VoxelSummary voxels = voxels_of<float>(NiftiType::kFloat32, {2, nan, -infinity, -3});
  EXPECT_EQ(voxels.not_finite, 2);
  EXPECT_EQ(voxels.least, -3);
  EXPECT_EQ(voxels.most, 2);
  EXPECT_TRUE(voxels.labels.empty());
  voxels = voxels_of<float>(NiftiType::kFloat32, {nan, nan, nan, nan});
  EXPECT_EQ(voxels.not_finite, 4);
  EXPECT_EQ(voxels.least, 0);
  EXPECT_EQ(voxels.most, 0);
}

TEST(InspectImage, SaysWhatPlacesTheVoxels) {
  const Affine two = scaling_affine({2, 2, 2});
  EXPECT_EQ(image_of(NiftiBuilder().sform(4, two).qform(1, {}, {}).build()).placed_by,
            "sform (code 4, MNI152); the qform (code 1, scanner) comes second");
  EXPECT_EQ(image_of(NiftiBuilder().sform(2, two).build()).placed_by,
            "sform (code 2, aligned); no usable qform");
  EXPECT_EQ(image_of(NiftiBuilder().qform(1, {}, {}).build()).placed_by,
            "qform (code 1, scanner); no usable sform");
  EXPECT_EQ(image_of(NiftiBuilder().sform(1, Affine{}).qform(1, {}, {}).build()).placed_by,
            "qform (code 1, scanner); no usable sform");
  EXPECT_EQ(image_of(NiftiBuilder().build()).placed_by,
            "voxel sizes alone; no usable sform or qform");
}

TEST(InspectImage, MeasuresTheFieldOfView) {
  Affine affine = scaling_affine({2, 0.5, 3});
  affine[0][0] = -2;
  const ImageSummary image = image_of(NiftiBuilder(2, true).sform(1, affine).build());
  EXPECT_EQ(image.header.version, 2);
  EXPECT_TRUE(image.header.big_endian);
  EXPECT_FALSE(image.compressed);
  EXPECT_EQ(image.orientation, "LAS");
  EXPECT_EQ(image.field_mm, (std::array<double, 3>{8, 1.5, 6}));
}

TEST(InspectImage, JudgesItAsAMaskOfEachRecipe) {
  std::vector<std::uint8_t> labels(24, 4);
  NiftiBuilder builder;
  ImageSummary image = image_of(builder.voxels(labels).build());
  ASSERT_EQ(image.masks.size(), 2U);
  EXPECT_EQ(image.masks[0].target, "whole-head");
  EXPECT_FALSE(image.masks[0].usable);
  EXPECT_NE(image.masks[0].detail.find("24 voxels are 4, expected only 0"), std::string::npos)
      << image.masks[0].detail;
  EXPECT_EQ(image.masks[1].target, "brats");
  EXPECT_TRUE(image.masks[1].usable) << image.masks[1].detail;
  EXPECT_NE(image.masks[1].detail.find("24 brain"), std::string::npos) << image.masks[1].detail;
  // A single slice is no volume, whatever its labels.
  image = image_of(builder.dims({24, 1, 1}).build());
  EXPECT_FALSE(image.masks[1].usable);
  EXPECT_NE(image.masks[1].detail.find("24x1x1 is a single slice"), std::string::npos);
}

TEST(InspectImage, KeepsTheHeaderOfAFileWhoseVoxelsAreMissing) {
  std::vector<std::byte> bytes = NiftiBuilder().build();
  bytes.pop_back();
  const TemporaryFile file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto report = inspect(request_for(file.path()));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->image->header.dims, (std::vector<std::int64_t>{4, 3, 2}));
  EXPECT_FALSE(report->image->voxels.has_value());
  ASSERT_TRUE(report->problem.has_value());
  EXPECT_NE(report->problem->message.find("the file is truncated"), std::string::npos);
}

// A file may have as many groups as tensors: 24,000 of them would be as many lines.
TEST(InspectTensors, ListsTheFirstGroups) {
  const TemporaryFile file("tensors");
  TensorDirectory directory;
  directory.storages.push_back({});
  for (int i = 0; i < 1000; ++i) {
    directory.tensors.push_back(
        {fmt::format("group {}", i % 500), fmt::format("{}", i), DType::kF32, {0}, 0});
    directory.views.push_back({0, 0, {1}});
  }
  const TensorsSummary summary = summarize(TensorFile(file.open(), std::move(directory)), "torch");
  EXPECT_EQ(summary.tensors, 1000);
  EXPECT_EQ(summary.group_count, 500);
  EXPECT_EQ(summary.file_bytes, 7U);
  ASSERT_EQ(summary.groups.size(), kListedGroups);
  EXPECT_EQ(summary.groups[15].name, "group 15");
  EXPECT_EQ(summary.groups[15].tensors, 2);
  EXPECT_EQ(summary.first.size(), kListedTensors);
}

TEST(InspectImage, StopsOnRequest) {
  const std::vector<std::byte> bytes = NiftiBuilder().build();
  const TemporaryFile file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  CancelToken cancel;
  cancel.request();
  const auto report = inspect(request_for(file.path()), &cancel);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace mezzotint::testing
