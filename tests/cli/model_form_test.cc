// The forms that one model comes in: each makes the same volume.
#include "cli/generate_test_base.h"
#include "cli/torch_inputs.h"

namespace mezzotint::testing {
namespace {

class ModelForm : public GenerateTest {
 protected:
  // The volume of a torch checkpoint; `variant` and `weights` as the program's flags.
  std::string volume_of(const std::string& checkpoint, const std::string& weights = "ema",
                        const std::string& variant = "auto") {
    write_text(in_folder("model.pt"), checkpoint);
    const std::string out = "form" + std::to_string(++runs_) + ".nii";
    Flags flags = with("--model", in_folder("model.pt").string());
    flags.set("--out", in_folder(out).string());
    return volume(flags.set("--weights", weights).set("--variant", variant));
  }

  const TinyModel model_;
  const std::string expected_ = volume(usual());

 private:
  int runs_ = 0;
};

TEST_F(ModelForm, AsTheTrainerSavesIt) {
  const std::vector<TorchGroup> groups = {{.name = "model", .zeros = true}, {.name = "ema"}};
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.groups = groups})), expected_);
  EXPECT_NE(volume_of(torch_checkpoint(model_, {.groups = groups}), "model"), expected_);
}

TEST_F(ModelForm, RawStateDict) {
  for (const char* prefix : {"", "denoise_fn.", "module."}) {
    const std::vector<TorchGroup> groups = {{.name = "", .prefix = prefix}};
    EXPECT_EQ(volume_of(torch_checkpoint(model_, {.groups = groups})), expected_) << prefix;
  }
}

TEST_F(ModelForm, PrefixesInEitherOrder) {
  for (const char* prefix : {"module.denoise_fn.", "denoise_fn.module."}) {
    const std::vector<TorchGroup> groups = {{.name = "ema", .prefix = prefix}};
    EXPECT_EQ(volume_of(torch_checkpoint(model_, {.groups = groups})), expected_) << prefix;
  }
}

TEST_F(ModelForm, WithoutEma) {
  const std::string checkpoint = torch_checkpoint(model_, {.groups = {{.name = "model"}}});
  EXPECT_EQ(volume_of(checkpoint, "model"), expected_);
  expect_refused(with("--model", in_folder("model.pt").string()),
                 {"model.pt: holds no `ema` weights; pass --weights model"});
}

TEST_F(ModelForm, ViewsAndSharedStorages) {
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.column_major = true})), expected_);
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.one_storage = true})), expected_);
}

TEST_F(ModelForm, FromTheFirstTorchWithZips) {
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.plain_zip = true})), expected_);
}

TEST_F(ModelForm, WithAStepThatIsATensor) {
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.tensor_step = true})), expected_);
}

// Weights that the type holds exactly; the schedule's buffers are rounded with them.
TEST_F(ModelForm, OtherTypes) {
  EXPECT_EQ(volume_of(torch_checkpoint(model_, {.type = "DoubleStorage"})), expected_);
  for (const char* type : {"HalfStorage", "BFloat16Storage"}) {
    TinyModel rounded = model_;
    round_weights(rounded, type);
    rounded.save(in_folder("rounded.safetensors"));
    Flags flags = with("--model", in_folder("rounded.safetensors").string());
    const std::string expected =
        volume(flags.set("--out", in_folder(type + std::string(".nii")).string()));
    EXPECT_NE(expected, expected_);
    EXPECT_EQ(volume_of(torch_checkpoint(rounded, {.type = type})), expected) << type;
  }
}

TEST_F(ModelForm, PlainKeysUnderAGroup) {
  for (const char* prefix : {"", "module."}) {
    const std::vector<TorchGroup> groups = {{.name = "model", .prefix = prefix}};
    EXPECT_EQ(volume_of(torch_checkpoint(model_, {.groups = groups}), "model", "med-ddpm"),
              expected_);
    Flags flags = with("--model", in_folder("model.pt").string());
    flags.set("--weights", "model");
    expect_refused(flags, {"model.pt: `model` holds UNet keys without the prefix `denoise_fn.`",
                           "fast-sampling network's checkpoints", "pass --variant med-ddpm"});
    expect_refused(flags.set("--variant", "fast-sampling"),
                   {"variant: fast-sampling: this network", "is not supported"});
    expect_refused(flags.set("--variant", "unet"), {"variant: `unet` is not auto or med-ddpm"});
  }
}

TEST_F(ModelForm, BenchTakesVariantsToo) {
  write_text(in_folder("model.pt"),
             torch_checkpoint(model_, {.groups = {{.name = "ema", .prefix = ""}}}));
  std::vector<std::string> words = {"bench",  "--model", in_folder("model.pt").string(),
                                    "--size", "8",       "--explain"};
  EXPECT_EQ(run_program(words).exit_code, 1);
  words.insert(words.end(), {"--variant", "med-ddpm"});
  EXPECT_EQ(run_program(words).exit_code, 0);
}

// Labels alone are asked for: they do not depend on which network it is.
TEST_F(ModelForm, PrepareTakesEitherNetwork) {
  write_text(in_folder("model.pt"),
             torch_checkpoint(model_, {.groups = {{.name = "model", .prefix = ""}}}));
  const CommandResult result =
      run_program({"prepare", "--mask", in_folder("mask.nii").string(), "--model",
                   in_folder("model.pt").string(), "--out", in_folder("prepared.nii").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace mezzotint::testing
