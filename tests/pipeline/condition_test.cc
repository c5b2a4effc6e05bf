#include "pipeline/condition.h"

#include <gtest/gtest.h>

#include "formats/ckpt_files.h"

namespace mezzotint::testing {
namespace {

using Size = std::array<std::int64_t, 3>;

Model model_with_levels(std::size_t levels) {
  Model model;
  model.path = "brain.pt";
  model.config.channel_multiplier.assign(levels, 1);
  return model;
}

TEST(ChooseGrid, TakesTheRequestBeforeTheModel) {
  Model model = model_with_levels(5);
  model.grid = Size{128, 128, 96};
  EXPECT_EQ(*choose_grid(model, std::nullopt), (Size{128, 128, 96}));
  EXPECT_EQ(*choose_grid(model, Size{32, 48, 16}), (Size{32, 48, 16}));
}

TEST(ChooseGrid, AsksWhenNobodyKnows) {
  expect_error(choose_grid(model_with_levels(5), std::nullopt),
               "brain.pt: neither the recipe nor model.json gives a grid: pass --size");
}

TEST(ChooseGrid, NamesTheNearestSideThatFits) {
  const Model model = model_with_levels(5);
  expect_error(choose_grid(model, Size{32, 40, 32}),
               "size 32x40x32: each side must be a multiple of 16; the nearest to 40 is 32");
  expect_error(choose_grid(model, Size{32, 32, 41}), "the nearest to 41 is 48");
  expect_error(choose_grid(model, Size{8, 32, 32}), "the nearest to 8 is 16");
  expect_error(choose_grid(model, Size{0, 32, 32}), "the nearest to 0 is 16");
  expect_error(choose_grid(model, Size{-32, 32, 32}), "the nearest to -32 is 16");
  EXPECT_TRUE(choose_grid(model_with_levels(1), Size{7, 1, 3}).ok());
}

TEST(ChooseGrid, RefusesProductsThatOverflow) {
  const Model model = model_with_levels(5);
  EXPECT_TRUE(choose_grid(model, Size{2048, 1024, 1024}).ok());
  expect_error(choose_grid(model, Size{2048, 2048, 1024}), "more than 2147483648 voxels");
  const std::int64_t huge = std::int64_t{1} << 62;
  expect_error(choose_grid(model, Size{huge, huge, huge}),
               "4611686018427387904: more than 2147483648 voxels");
}

}  // namespace
}  // namespace mezzotint::testing
