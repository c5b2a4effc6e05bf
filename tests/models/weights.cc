#include <gtest/gtest.h>

#include "models/config.h"
#include "models/med_ddpm.h"

namespace mezzotint {
namespace {

// A file of which only the directory is read.
TensorFile make_file(const std::vector<std::pair<std::string, std::string>>& tensors,
                     std::map<std::string, std::string> metadata = {}, DType dtype = DType::kF32) {
  auto file = InputFile::open(MEZZOTINT_SOURCE_DIR "/CMakeLists.txt");
  TensorDirectory directory;
  for (const auto& [group, name] : tensors) {
    directory.tensors.push_back({group, name, dtype, {1000}, 1000});
  }
  directory.views.resize(tensors.size());
  directory.metadata = std::move(metadata);
  return {std::move(file.value()), std::move(directory)};
}

std::string message_for(const TensorFile& file, std::string_view group) {
  const auto weights = select_weights(file, group);
  return weights.ok() ? "selected" : weights.error().message;
}

TEST(SelectWeights, SeparatesGroupsPrefixAndBuffers) {
  const TensorFile file = make_file({{"model", "betas"},
                                     {"model", "denoise_fn.out.2.bias"},
                                     {"ema", "betas"},
                                     {"ema", "posterior_mean_coef3"},
                                     {"ema", "denoise_fn.out.2.bias"},
                                     {"ema", "denoise_fn.out.0.bias"},
                                     {"ema", "stray"}},
                                    {{"step", "30000"}});
  const auto weights = select_weights(file, "ema");
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  EXPECT_EQ(weights->timesteps, 1000);
  EXPECT_EQ(weights->step, 30000);
  EXPECT_EQ(weights->tensors, (std::map<std::string, std::size_t, std::less<>>{
                                  {"out.2.bias", 4}, {"out.0.bias", 5}, {"stray", 6}}));
  ASSERT_EQ(weights->keys.size(), 3u);
  EXPECT_EQ(weights->keys[0], (NamedShape{"out.2.bias", {1000}}));
  EXPECT_EQ(select_weights(file, "model").value().tensors.at("out.2.bias"), 1u);
}

TEST(SelectWeights, PlainKeysWithoutGroupsServeEither) {
  const TensorFile file = make_file({{"", "input_blocks.0.0.weight"}});
  for (const std::string_view group : {"ema", "model"}) {
    const auto weights = select_weights(file, group);
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    EXPECT_EQ(weights->tensors.at("input_blocks.0.0.weight"), 0u);
    EXPECT_EQ(weights->timesteps, std::nullopt);
    EXPECT_EQ(weights->step, std::nullopt);
  }
}

TEST(SelectWeights, TellsWhichGroupToAskFor) {
  const std::string path = MEZZOTINT_SOURCE_DIR "/CMakeLists.txt";
  EXPECT_EQ(message_for(make_file({{"model", "denoise_fn.out.2.bias"}}), "ema"),
            path + ": holds no `ema` weights; pass --weights model");
  EXPECT_EQ(message_for(make_file({{"ema", "denoise_fn.out.2.bias"}}), "model"),
            path + ": holds no `model` weights; pass --weights ema");
  EXPECT_EQ(message_for(make_file({{"state_dict", "conv.bias"}}), "ema"),
            path +
                ": not a Med-DDPM checkpoint: expected weights under `ema` or `model`, or plain"
                " UNet keys, found `state_dict`");
  EXPECT_EQ(message_for(make_file({}), "ema"),
            path +
                ": not a Med-DDPM checkpoint: expected weights under `ema` or `model`, or plain"
                " UNet keys, found no tensor");
  EXPECT_EQ(select_weights(make_file({}), "ema").error().code, ErrorCode::kNotFound);
}

TEST(SelectWeights, RefusesTheFastSamplingNetwork) {
  const TensorFile file = make_file({{"model", "input_blocks.0.0.weight"}});
  EXPECT_EQ(message_for(file, "model"), MEZZOTINT_SOURCE_DIR
            "/CMakeLists.txt: `model` holds UNet keys without the prefix `denoise_fn.`, as the"
            " fast-sampling network's checkpoints do, which has other strides and is not supported;"
            " if it is a Med-DDPM network, pass --variant med-ddpm");
  EXPECT_EQ(select_weights(file, "model").error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(select_weights(file, "model", NetworkVariant::kMedDdpm).ok());
}

TEST(SelectWeights, KnowsVariantsByName) {
  EXPECT_EQ(variant_from_name("auto").value(), NetworkVariant::kAuto);
  EXPECT_EQ(variant_from_name("med-ddpm").value(), NetworkVariant::kMedDdpm);
  EXPECT_EQ(variant_from_name("fast-sampling").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(variant_from_name("").error().message, "variant: `` is not auto or med-ddpm");
}

TEST(SelectWeights, TakesPrefixesOffInEitherOrder) {
  for (const std::string prefix :
       {"denoise_fn.", "module.", "module.denoise_fn.", "denoise_fn.module."}) {
    const TensorFile file = make_file({{"", prefix + "out.2.bias"}, {"", "module.betas"}});
    const auto weights = select_weights(file, "ema");
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    EXPECT_TRUE(weights->tensors.contains("out.2.bias")) << prefix;
    EXPECT_EQ(weights->buffers.at("betas"), 1U);
    EXPECT_EQ(weights->timesteps, 1000);
  }
  const TensorFile twice = make_file({{"", "module.module.out.2.bias"}});
  EXPECT_TRUE(select_weights(twice, "ema")->tensors.contains("module.out.2.bias"));
}

TEST(SelectWeights, RefusesWeightsThatAreIntegers) {
  TensorFile file = make_file({{"", "out.2.bias"}}, {}, DType::kI8);
  EXPECT_EQ(message_for(file, "ema"), MEZZOTINT_SOURCE_DIR
            "/CMakeLists.txt: weight `out.2.bias` is int8, expected float64,"
            " float32, float16 or bfloat16");
  EXPECT_TRUE(select_weights(make_file({{"", "betas"}}, {}, DType::kI8), "ema").ok());
}

TEST(SelectWeights, RefusesAKeyWithAndWithoutPrefix) {
  const TensorFile file = make_file({{"ema", "out.2.bias"}, {"ema", "denoise_fn.out.2.bias"}});
  EXPECT_EQ(message_for(file, "ema"), MEZZOTINT_SOURCE_DIR
            "/CMakeLists.txt: `out.2.bias` is there twice, with different prefixes (`denoise_fn.`,"
            " `module.` or none)");
}

}  // namespace
}  // namespace mezzotint
