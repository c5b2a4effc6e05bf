// Models that are missing, broken, of another kind, or hostile.
#include <sys/stat.h>

#include <limits>

#include "cli/generate_test_base.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

class ModelFile : public GenerateTest {
 protected:
  void save(const TinyModel& model) const { model.save(in_folder("model.safetensors")); }
  void save(std::string_view bytes) const { write_text(in_folder("model.safetensors"), bytes); }
};

TEST_F(ModelFile, MissingOrNoFile) {
  expect_refused(with("--model", in_folder("nowhere.pt").string()),
                 {"nowhere.pt: cannot open: No such file or directory"});
  ASSERT_EQ(::mkfifo(in_folder("pipe.pt").c_str(), 0600), 0);
  expect_refused(with("--model", in_folder("pipe.pt").string()), {"pipe.pt: not a regular file"});
}

TEST_F(ModelFile, OfAnotherKind) {
  save("");
  expect_refused(usual(), {"model.safetensors", "empty"});
  save("epoch,loss\n1,0.5\n2,0.25\n3,0.125\n");
  expect_refused(
      usual(), {"model.safetensors", "a text file", "expected safetensors or a torch checkpoint"});
  expect_refused(with("--model", in_folder("mask.nii").string()), {"mask.nii", "NIfTI"});
  save("\x80\x02}q.");
  expect_refused(usual(), {"model.safetensors: a pickle without torch's zip around it"});
}

TEST_F(ModelFile, InTorchsLegacyFormat) {
  constexpr std::string_view kMagicNumber = "\x80\x02\x8A\x0Al\xFC\x9C\x46\xF9\x20j\xA8P\x19.";
  save(std::string(kMagicNumber) + "\x80\x02M\xE9\x03.");
  expect_refused(usual(), {"model.safetensors: a torch file in the legacy format",
                           "torch.save(torch.load('OLD', 'cpu', weights_only=True), 'NEW')"});
}

TEST_F(ModelFile, Truncated) {
  const std::string whole = read_text(in_folder("model.safetensors"));
  save(whole.substr(0, whole.size() / 2));
  expect_refused(usual(), {"model.safetensors: damaged safetensors file", "but the file has",
                           "copy or download it again"});
  save(whole.substr(0, 100));
  expect_refused(usual(), {"model.safetensors: ", "copy or download it again"});
  const std::string checkpoint =
      make_checkpoint(pickle_of("a", {}), {bytes_of<float>({1, 2, 3, 4, 5, 6})});
  save(checkpoint.substr(0, checkpoint.size() - 30));
  expect_refused(usual(), {"model.safetensors", "truncated"});
}

TEST_F(ModelFile, KeysMissing) {
  TinyModel model;
  for (const char* key : {"time_embed.0.weight", "time_embed.0.bias", "middle_block.1.qkv.weight",
                          "middle_block.1.qkv.bias"}) {
    model.remove(key);
  }
  save(model);
  expect_refused(usual(), {"model.safetensors: the weights do not fit a Med-DDPM network",
                           "4 missing (`time_embed.0.weight` [128, 32]", "...)"});
}

TEST_F(ModelFile, KeysExtra) {
  TinyModel model;
  model.add("adapter.weight", {3, 2});
  save(model);
  expect_refused(usual(), {"model.safetensors: ", "1 extra (`adapter.weight` [3, 2])"});
}

TEST_F(ModelFile, KeysOfTheWrongShape) {
  TinyModel model;
  model.add("time_embed.0.weight", {64, 32});
  save(model);
  expect_refused(usual(), {"model.safetensors: ", "1 of the wrong shape",
                           "`time_embed.0.weight` is [64, 32], expected [128, 32]"});
}

TEST_F(ModelFile, KeysOfNoSize) {
  TinyModel model;
  model.add("out.2.bias", {0});
  model.add("out.0.bias", {});
  save(model);
  expect_refused(usual(), {"model.safetensors: ", "`out.0.bias` is [], expected [32]",
                           "`out.2.bias` is [0], expected [1]"});
}

TEST_F(ModelFile, KeysThatAreNotText) {
  TinyModel model;
  model.add(std::string("a\0b\n", 4), {2});
  save(model);
  expect_refused(usual(), {"model.safetensors: ", "1 extra (`a\\x00b\\x0a` [2])"});
}

TEST_F(ModelFile, KeysWithAndWithoutPrefix) {
  for (const char* prefix : {"denoise_fn.", "module.", "module.denoise_fn."}) {
    TinyModel model;
    model.add(prefix + std::string("out.2.bias"), {1});
    save(model);
    expect_refused(usual(), {"model.safetensors: `out.2.bias` is there twice"});
  }
}

// As a quantized model would have them; their scales are elsewhere.
TEST_F(ModelFile, WeightsThatAreIntegers) {
  std::string file = read_text(in_folder("model.safetensors"));
  const std::string_view entry = R"("out.2.bias":{"dtype":"F32")";
  file.replace(file.find(entry), entry.size(), R"("out.2.bias":{"dtype":"I32")");
  save(file);
  expect_refused(usual(), {"model.safetensors: weight `out.2.bias` is int32, expected float64"});
}

TEST_F(ModelFile, OfAnotherNetwork) {
  TinyModel model;
  model.keys = {{"conv1.weight", {2, 2}}};
  model.values["conv1.weight"] = {1, 2, 3, 4};
  save(model);
  expect_refused(usual(),
                 {"model.safetensors: not a Med-DDPM checkpoint", "the first is `conv1.weight`"});
}

TEST_F(ModelFile, TrainedWithAnotherSchedule) {
  TinyModel model;
  model.at("betas").assign(TinyModel::kTimesteps, 0.01F);
  save(model);
  expect_refused(usual(),
                 {"model.safetensors: betas[0] is 0.01", "trained with another noise schedule"});
  model = TinyModel();
  model.add("alphas_cumprod", {TinyModel::kTimesteps});
  save(model);
  expect_refused(usual(), {"model.safetensors: alphas_cumprod[0] is 0, the cosine schedule has"});
  model.add("alphas_cumprod", {TinyModel::kTimesteps - 1});
  save(model);
  expect_refused(usual(), {"model.safetensors: alphas_cumprod has 49 values, betas has 50"});
}

TEST_F(ModelFile, WithAScheduleOfAnotherLength) {
  expect_refused(with("--timesteps", "250"),
                 {"timesteps: 250, but model.safetensors was trained with 50"});
  TinyModel model;
  model.add("betas", {0});
  save(model);
  expect_refused(usual(), {"model.safetensors: schedule of 0 timesteps: expected 2 to"});
  model.add("betas", {TinyModel::kTimesteps, 1});
  save(model);
  expect_refused(usual(), {"model.safetensors: the schedule buffer betas has shape [50, 1]"});
}

TEST_F(ModelFile, FoldersWithoutOneCheckpoint) {
  const auto folder = in_folder("models");
  std::filesystem::create_directory(folder);
  const Flags flags = with("--model", folder.string());
  expect_refused(flags, {"models: holds 0 checkpoints", "expected one"});
  write_text(folder / "model.json", "{}");
  expect_refused(flags, {"models: holds 0 checkpoints", "expected one"});
  std::filesystem::remove(folder / "model.json");
  TinyModel().save(folder / "a.safetensors");
  TinyModel().save(folder / "b.safetensors");
  expect_refused(flags, {"models: holds 2 checkpoints", "\"weights\" in model.json"});
  write_text(folder / "model.json", R"({"weights": "c.safetensors"})");
  expect_refused(flags, {"c.safetensors: cannot open"});
  write_text(folder / "model.json", R"({"weights": "b.safetensors", "timesteps": 250})");
  expect_refused(flags, {"model.json: says 250 timesteps, but b.safetensors was trained with 50"});
}

TEST_F(ModelFile, CardsThatContradictTheWeights) {
  const auto folder = in_folder("models");
  std::filesystem::create_directory(folder);
  std::filesystem::rename(in_folder("model.safetensors"), folder / "a.safetensors");
  const auto expect_refused_card = [&](std::string_view card, const std::string& part) {
    write_text(folder / "model.json", card);
    expect_refused(with("--model", folder.string()), {"model.json: ", part});
  };
  expect_refused_card("recipe: whole-head", "not JSON at byte 1");
  expect_refused_card(R"({"recipe": "brats"})",
                      "says recipe `brats`, but a.safetensors has the channels of whole-head");
  expect_refused_card(R"({"labels": {"3": "oedema"}})",
                      "names label 3, but the model has labels 1 to 2");
  expect_refused_card(R"({"frame": "RAX+"})", "frame \"RAX+\": expected one letter each of R/L");
}

// Loading a pickle the way Python does would run this.
TEST_F(ModelFile, PicklesThatWouldRunSomething) {
  const auto marker = in_folder("executed");
  const std::string command = "touch '" + marker.string() + "'";
  const auto call = [&](const char* module, const char* name) {
    return PickleWriter().global(module, name).text(command).raw("\x85R");
  };
  const std::vector<std::string> pickles = {call("os", "system").finish(),
                                            call("posix", "system").finish(),
                                            PickleWriter()
                                                .raw("}")
                                                .text("model")
                                                .global("os", "system")
                                                .text(command)
                                                .raw("\x85Rs")
                                                .finish()};
  for (const std::string& pickle : pickles) {
    for (const std::string& file : {make_checkpoint(pickle, {}), pickle}) {
      save(file);
      expect_refused(usual(), {"model.safetensors"});
      EXPECT_FALSE(std::filesystem::exists(marker));
    }
    save(make_checkpoint(pickle, {}));
    expect_refused(usual(), {"system`"});
  }
}

TEST_F(ModelFile, WeightsThatAreNotFinite) {
  TinyModel model;
  model.at("middle_block.0.in_layers.2.weight")[5] = std::numeric_limits<float>::quiet_NaN();
  save(model);
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  EXPECT_EQ(result.exit_code, 1);
  const std::string last = lines_of(result.err).back();
  EXPECT_NE(last.find("weight middle_block.0.in_layers.2.weight holds nan at element 5"),
            std::string::npos)
      << last;
  EXPECT_NE(last.find("the file is damaged or its training diverged"), std::string::npos);
  EXPECT_EQ(folder_.content(), before);
}

// Finite weights whose products are not: found at run time, with the step, the op and the cause.
TEST_F(ModelFile, ActivationsThatOverflow) {
  TinyModel model;
  for (float& weight : model.at("input_blocks.0.0.weight")) {
    weight = 3e38F;
  }
  save(model);
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  EXPECT_EQ(result.exit_code, 1);
  const std::string last = lines_of(result.err).back();
  for (const char* part :
       {"mezzotint: step 1 of 2 (t = 49)", "op input_blocks.0.0",
        "is the first to make a non-finite value", "a float32 overflowed",
        "the weights of model.safetensors are damaged or its training diverged"}) {
    EXPECT_NE(last.find(part), std::string::npos) << "expected: " << part << "\nfound: " << last;
  }
  EXPECT_EQ(folder_.content(), before);
}

// The time vectors of all steps are made before the first; the op is named all the same.
TEST_F(ModelFile, TimeVectorsThatOverflow) {
  TinyModel model;
  for (float& weight : model.at("time_embed.0.weight")) {
    weight = 3e38F;
  }
  save(model);
  const auto before = folder_.content();
  const CommandResult result = run(usual());
  EXPECT_EQ(result.exit_code, 1);
  const std::string last = lines_of(result.err).back();
  for (const char* part : {"mezzotint: step 1 of 2 (t = 49)", "op time_embed.0",
                           "is the first to make a non-finite value"}) {
    EXPECT_NE(last.find(part), std::string::npos) << "expected: " << part << "\nfound: " << last;
  }
  EXPECT_EQ(folder_.content(), before);
}

}  // namespace
}  // namespace mezzotint::testing
