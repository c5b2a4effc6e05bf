#include <gtest/gtest.h>

#include <algorithm>

#include "models/config.h"
#include "models/med_ddpm.h"

namespace mezzotint {
namespace {

std::vector<NamedShape> keys_of(const MedDdpmConfig& config) {
  auto keys = med_ddpm_keys(config);
  EXPECT_TRUE(keys.ok());
  return std::move(keys.value());
}

std::string message_for(const std::vector<NamedShape>& keys) {
  const auto config = detect_med_ddpm(keys);
  return config.ok() ? "detected" : config.error().message;
}

void erase_keys(std::vector<NamedShape>& keys, std::string_view part) {
  std::erase_if(keys,
                [&](const NamedShape& key) { return key.name.find(part) != std::string::npos; });
}

NamedShape& key_of(std::vector<NamedShape>& keys, std::string_view name) {
  return *std::find_if(keys.begin(), keys.end(),
                       [&](const NamedShape& key) { return key.name == name; });
}

TEST(MedDdpmDetect, FindsEveryConfiguration) {
  MedDdpmConfig deep = whole_head_config(32);
  deep.channel_multiplier = {1, 2, 4, 8};
  deep.res_blocks = 3;
  deep.attention_levels = {1, 3};
  MedDdpmConfig flat = brats_config(96);
  flat.channel_multiplier = {2};
  flat.attention_levels = {0};
  MedDdpmConfig other = whole_head_config();
  other.recipe = RecipeKind::kGeneric;
  other.condition_channels = 7;
  other.in_channels = 8;
  for (const MedDdpmConfig& config :
       {whole_head_config(), brats_config(), whole_head_config(32), deep, flat, other}) {
    std::vector<NamedShape> keys = keys_of(config);
    std::reverse(keys.begin(), keys.end());
    const auto detected = detect_med_ddpm(keys);
    ASSERT_TRUE(detected.ok()) << detected.error().message;
    EXPECT_EQ(*detected, config);
  }
}

TEST(MedDdpmDetect, AttentionKeysHaveTheCheckpointsRank) {
  std::vector<NamedShape> keys = keys_of(whole_head_config());
  EXPECT_EQ(key_of(keys, "middle_block.1.qkv.weight").shape,
            (std::vector<std::int64_t>{768, 256, 1}));
  EXPECT_EQ(key_of(keys, "middle_block.1.proj_out.weight").shape,
            (std::vector<std::int64_t>{256, 256, 1}));
  EXPECT_EQ(key_of(keys, "input_blocks.5.0.skip_connection.weight").shape,
            (std::vector<std::int64_t>{128, 64, 1, 1, 1}));
}

TEST(MedDdpmDetect, ReportsMissingKeys) {
  std::vector<NamedShape> keys = keys_of(whole_head_config());
  const std::string total = std::to_string(keys.size());
  erase_keys(keys, "input_blocks.5.0.in_layers.2.weight");
  EXPECT_EQ(message_for(keys), "the weights do not fit a Med-DDPM network, of " + total +
                                   " keys: 1 missing (`input_blocks.5.0.in_layers.2.weight`"
                                   " [128, 64, 3, 3, 3])");
  erase_keys(keys, "middle_block.1");
  EXPECT_EQ(message_for(keys),
            "the weights do not fit a Med-DDPM network, of " + total +
                " keys: 7 missing (`input_blocks.5.0.in_layers.2.weight` [128, 64, 3, 3, 3],"
                " `middle_block.1.norm.weight` [256], `middle_block.1.norm.bias` [256], ...)");
}

TEST(MedDdpmDetect, ReportsExtraAndMisshapenKeys) {
  std::vector<NamedShape> keys = keys_of(brats_config());
  const std::string total = std::to_string(keys.size());
  keys.push_back({"label_emb.weight", {10, 256}});
  key_of(keys, "time_embed.0.weight").shape = {256, 65};
  key_of(keys, "out.0.bias").shape = {};
  EXPECT_EQ(message_for(keys),
            "the weights do not fit a Med-DDPM network, of " + total +
                " keys: 1 extra (`label_emb.weight` [10, 256]); 2 of the wrong shape"
                " (`time_embed.0.weight` is [256, 65], expected [256, 64], `out.0.bias` is [],"
                " expected [64])");
}

TEST(MedDdpmDetect, ReportsAnotherDimension) {
  std::vector<NamedShape> keys = keys_of(whole_head_config(32));
  for (NamedShape& key : keys) {
    if (key.shape.size() == 5) {
      key.shape.pop_back();
    }
  }
  EXPECT_EQ(message_for(keys),
            "`input_blocks.0.0.weight` is [32, 3, 3, 3], expected [out, in, 3, 3, 3]");
}

TEST(MedDdpmDetect, NeedsTheKeysThatTellTheChannels) {
  for (const std::string_view name : {"input_blocks.0.0.weight", "out.2.weight"}) {
    std::vector<NamedShape> keys = keys_of(whole_head_config(32));
    erase_keys(keys, name);
    EXPECT_EQ(message_for(keys), "Med-DDPM weights without `" + std::string(name) +
                                     "`, from which the channels are read");
  }
  std::vector<NamedShape> keys = keys_of(whole_head_config(32));
  for (int block = 1; block < 10; ++block) {
    erase_keys(keys, "input_blocks." + std::to_string(block));
  }
  EXPECT_EQ(message_for(keys),
            "Med-DDPM weights without a residual block: no key begins with"
            " `input_blocks.1.0.in_layers`");
}

TEST(MedDdpmDetect, RefusesOtherCheckpoints) {
  EXPECT_EQ(message_for({}),
            "not a Med-DDPM checkpoint: none of its 0 keys begin with `input_blocks.` and"
            " `output_blocks.`");
  EXPECT_EQ(message_for({{"conv1.weight", {64, 3, 7, 7}}, {"fc.bias", {1000}}}),
            "not a Med-DDPM checkpoint: none of its 2 keys begin with `input_blocks.` and"
            " `output_blocks.`; the first is `conv1.weight`");
  EXPECT_EQ(message_for({{"a", {1}}, {"a", {1}}}), "a key is given twice among the 2 weights");
}

TEST(MedDdpmDetect, RefusesAnUnconditionalNetwork) {
  std::vector<NamedShape> keys = keys_of(whole_head_config(32));
  key_of(keys, "input_blocks.0.0.weight").shape[1] = 1;
  EXPECT_EQ(message_for(keys),
            "the network takes 1 channels and predicts 1: none are left for a mask, so it is no"
            " Med-DDPM model");
}

// Sizes from a file may be anything.
TEST(MedDdpmDetect, SurvivesAbsurdShapes) {
  const std::int64_t huge = std::int64_t{1} << 62;
  std::vector<NamedShape> keys = keys_of(whole_head_config(32));
  key_of(keys, "input_blocks.0.0.weight").shape = {huge, 3, 3, 3, 3};
  EXPECT_NE(message_for(keys).find("beyond this program"), std::string::npos) << message_for(keys);
  key_of(keys, "input_blocks.0.0.weight").shape = {48, 3, 3, 3, 3};
  EXPECT_EQ(message_for(keys), "48 base channels; GroupNorm needs a multiple of 32");
  keys = keys_of(whole_head_config(32));
  key_of(keys, "input_blocks.5.0.in_layers.2.weight").shape = {huge};
  EXPECT_NE(message_for(keys).find("beyond this program"), std::string::npos) << message_for(keys);
  for (int block = 10; block < 200; ++block) {
    keys.push_back({"input_blocks." + std::to_string(block) + ".0.op.weight", {}});
    keys.push_back({"input_blocks." + std::to_string(++block) + ".0.x", {}});
  }
  EXPECT_NE(message_for(keys).find("beyond this program"), std::string::npos) << message_for(keys);
}

}  // namespace
}  // namespace mezzotint
