// mezzotint inspect as a user runs it: what it tells of each kind of file, and how it refuses.
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/generate_test_base.h"
#include "cli/torch_inputs.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Inspect : public GenerateTest {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return in_folder(name).string(); }

  static CommandResult inspect(Words words) {
    words.insert(words.begin(), "inspect");
    return run_program(words);
  }

  // The object that --json prints, whatever the exit code.
  static Json object(Words words, int exit_code = 0) {
    words.emplace_back("--json");
    const CommandResult result = inspect(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }

  // The exit code, one line, nothing changed in the folder; what stdout holds is returned.
  std::string expect_problem(const Words& words, const std::vector<std::string>& parts,
                             int exit_code = 1) const {
    const auto before = folder_.content();
    const CommandResult result = inspect(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    expect_one_line(result.err, parts);
    EXPECT_EQ(folder_.content(), before);
    return result.out;
  }
  // The same where nothing could be told.
  void expect_silent(const Words& words, const std::vector<std::string>& parts,
                     int exit_code = 1) const {
    EXPECT_EQ(expect_problem(words, parts, exit_code), "");
  }
};

TEST_F(Inspect, TellsOfAModelFolder) {
  const Json json = object({demo_model().string()});
  EXPECT_EQ(json.at("kind"), "model");
  EXPECT_EQ(json.at("problem"), nullptr);
  const Json& tensors = json.at("tensors");
  EXPECT_EQ(tensors.at("format"), "torch checkpoint");
  EXPECT_EQ(tensors.at("bytes"), std::filesystem::file_size(demo_model() / "model.pt"));
  const Json& model = json.at("model");
  EXPECT_EQ(model.at("weights"), "ema");
  EXPECT_EQ(model.at("weights_default"), true);
  EXPECT_EQ(model.at("recipe"), "whole-head");
  EXPECT_EQ(model.at("modalities"), Json({"t1"}));
  EXPECT_EQ(model.at("grid"), Json({32, 32, 32}));
  EXPECT_EQ(model.at("finite"), true);
  EXPECT_EQ(model.at("schedule_checked"), true);
  EXPECT_EQ(model.at("sha256").get<std::string>().size(), 64U);
  EXPECT_EQ(model.at("network").at("heads"), 1);
  EXPECT_EQ(model.at("labels"), Json({{"1", "brain"}, {"2", "tumour"}}));
  const Json& evaluation = model.at("evaluation");
  EXPECT_EQ(evaluation.at("grid"), Json({32, 32, 32}));
  EXPECT_EQ(evaluation.at("levels").size(),
            model.at("network").at("channel_multiplier").size() + 1);
  EXPECT_GT(evaluation.at("memory").at("peak_bytes"), evaluation.at("memory").at("arena_bytes"));
  EXPECT_GE(model.at("largest_cube"), 32);
}

TEST_F(Inspect, TellsCostsOfTheGridAskedFor) {
  const Json json = object({path("model.safetensors"), "--size", "8x10x12", "--no-check"});
  const Json& model = json.at("model");
  EXPECT_EQ(model.at("finite"), false);
  EXPECT_EQ(model.at("grid"), Json({128, 128, 128}));
  EXPECT_EQ(model.at("evaluation").at("grid"), Json({8, 10, 12}));
  EXPECT_EQ(model.at("evaluation").at("levels").at(1).at("grid"), Json({4, 5, 6}));
  EXPECT_EQ(json.at("tensors").at("format"), "safetensors");
  EXPECT_EQ(json.at("tensors").at("groups").at(0).at("name"), "");
}

TEST_F(Inspect, IsForPeopleWithin100Columns) {
  for (const std::string& file : {demo_model().string(), path("mask.nii"),
                                  (demo_model() / "masks" / "healthy.nii.gz").string()}) {
    const CommandResult result = inspect({file});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    const auto lines = lines_of(result.out);
    EXPECT_GT(lines.size(), 8U);
    for (std::size_t i = 1; i < lines.size(); ++i) {  // the first one is the path
      EXPECT_LE(lines[i].size(), 100U) << lines[i];
    }
  }
}

TEST_F(Inspect, SaysWhatDoesNotFit) {
  const Json model =
      object({path("model.safetensors"), "--size", "1024", "--no-check"}).at("model");
  const Json& side = model.at("largest_cube");
  EXPECT_LT(side, 1024);
  const std::string note = model.at("notes").at(0);
  EXPECT_NE(note.find("one evaluation at 1024x1024x1024 needs 137.44 GB"), std::string::npos)
      << note;
  EXPECT_NE(note.find("the largest cube that fits is " + side.dump()), std::string::npos) << note;
  EXPECT_EQ(model.at("evaluation").at("memory"), nullptr);
}

TEST_F(Inspect, RefusesAGridThatCannotBe) {
  expect_problem({path("model.safetensors"), "--size", "9"},
                 {"size 9x9x9: each side must be a multiple of 2"});
  expect_silent({path("model.safetensors"), "--size", "9x9"}, {"--size: `9x9`"}, 2);
}

TEST_F(Inspect, FindsAWeightThatIsNotFinite) {
  TinyModel model;
  model.at("middle_block.0.in_layers.2.weight")[17] = std::numeric_limits<float>::quiet_NaN();
  model.save(in_folder("model.safetensors"));
  const std::string out =
      expect_problem({path("model.safetensors"), "--size", "8"},
                     {"model.safetensors: weight middle_block.0.in_layers.2.weight holds nan at "
                      "element 17"});
  EXPECT_NE(out.find("whole-head"), std::string::npos) << out;
  EXPECT_EQ(inspect({path("model.safetensors"), "--size", "8", "--no-check"}).exit_code, 0);
}

TEST_F(Inspect, ShowsWhatACheckpointHoldsThatIsRefused) {
  TinyModel model;
  model.remove("time_embed.0.bias");
  model.add("adapter.weight", {3, 2});
  model.save(in_folder("model.safetensors"));
  const std::string out =
      expect_problem({path("model.safetensors")},
                     {"the weights do not fit a Med-DDPM network", "1 missing (`time_embed.0.bias`",
                      "1 extra (`adapter.weight` [3, 2]"});
  EXPECT_NE(out.find("float32"), std::string::npos) << out;
  EXPECT_NE(out.find("`time_embed.0.weight` [128, 32] float32"), std::string::npos) << out;
  const Json json = object({path("model.safetensors")}, 1);
  EXPECT_EQ(json.at("kind"), "tensors");
  EXPECT_NE(json.at("problem").get<std::string>().find("1 missing"), std::string::npos);
  EXPECT_EQ(json.at("tensors").at("first").size(), 10U);
}

TEST_F(Inspect, ShowsTensorsOfAnotherKind) {
  write_text(in_folder("other.pt"),
             make_checkpoint(pickle_of("weight", {}), {bytes_of<float>({1, 2, 3, 4, 5, 6})}));
  const std::string out =
      expect_problem({path("other.pt")}, {"other.pt: not a Med-DDPM checkpoint"});
  EXPECT_NE(out.find("`weight` [2, 3] float32"), std::string::npos) << out;
}

TEST_F(Inspect, KnowsNoiseAndActivations) {
  save_seed_noise(in_folder("noise.safetensors"), 1, kDims, 2);
  Json json = object({path("noise.safetensors")});
  EXPECT_EQ(json.at("kind"), "noise");
  EXPECT_EQ(json.at("tensors").at("first").at(0).at("name"), "x_T");
  ASSERT_EQ(run_program({"bench", "--arch", "whole-head:32", "--size", "16", "--dump", "eps",
                         "--out", path("dump.safetensors")})
                .exit_code,
            0);
  json = object({path("dump.safetensors")});
  EXPECT_EQ(json.at("kind"), "activations");
}

TEST_F(Inspect, TellsOfAMask) {
  const Json json = object({path("mask.nii")});
  EXPECT_EQ(json.at("kind"), "image");
  const Json& image = json.at("image");
  EXPECT_EQ(image.at("dims"), Json({8, 10, 12}));
  EXPECT_EQ(image.at("dtype"), "uint8");
  EXPECT_EQ(image.at("spacing_mm"), Json({2.0, 2.0, 2.0}));
  EXPECT_EQ(image.at("field_mm"), Json({16.0, 20.0, 24.0}));
  EXPECT_EQ(image.at("orientation"), "RAS");
  EXPECT_EQ(image.at("affine_source"), "sform");
  EXPECT_EQ(image.at("origin"), nullptr);
  const auto labels = head_labels(kDims);
  EXPECT_EQ(image.at("voxels").at("labels").at("2"), std::ranges::count(labels, 2));
  EXPECT_EQ(image.at("masks").at(0).at("for"), "whole-head");
  EXPECT_EQ(image.at("masks").at(0).at("usable"), true);
  EXPECT_EQ(image.at("masks").at(1).at("for"), "brats");
}

TEST_F(Inspect, JudgesAMaskForAModel) {
  const Words words{path("mask.nii"), "--model", path("model.safetensors"), "--size", "8x10x12"};
  const Json verdict = object(words).at("image").at("masks").at(2);
  EXPECT_EQ(verdict.at("for"), path("model.safetensors"));
  EXPECT_EQ(verdict.at("usable"), true);
  EXPECT_NE(verdict.at("detail").get<std::string>().find("8x10x12 at 2 mm, the model's grid"),
            std::string::npos)
      << verdict;
  expect_problem({path("mask.nii"), "--model", path("absent.pt")}, {"absent.pt: cannot open"});
  expect_silent({path("mask.nii"), "--size", "8"},
                {"mask.nii: is an image; --size, --weights and --variant"});
  expect_silent({path("model.safetensors"), "--model", path("model.safetensors")},
                {"model.safetensors: is no image; --model"});
}

TEST_F(Inspect, TellsWhatMadeAVolume) {
  ASSERT_EQ(run(usual().set("--seed", "18446744073709551615")).exit_code, 0);
  const auto origin = [&] { return object({path("out.nii")}).at("image").at("origin"); };
  const Json made = origin();
  EXPECT_EQ(made.at("modality"), "t1");
  EXPECT_EQ(made.at("model"), "model.safetensors");
  EXPECT_EQ(made.at("mask"), "mask.nii");
  EXPECT_EQ(made.at("sampler"), "dpmpp-2m");
  EXPECT_EQ(made.at("steps"), 2);
  EXPECT_EQ(made.at("seed"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(made.at("unchanged"), true);
  // One of several volumes has the sidecar of all, if it is listed there.
  std::filesystem::copy_file(in_folder("out.nii"), in_folder("scan_t1.nii"));
  std::string sidecar = read_text(in_folder("out.json"));
  write_text(in_folder("scan.json"), sidecar);
  EXPECT_EQ(object({path("scan_t1.nii")}).at("image").at("origin"), nullptr);
  sidecar.replace(sidecar.find("\"out.nii\""), 9, "\"scan_t1.nii\"");
  write_text(in_folder("scan.json"), sidecar);
  EXPECT_EQ(object({path("scan_t1.nii")}).at("image").at("origin").at("unchanged"), true);
  std::string bytes = read_text(in_folder("out.nii"));
  bytes.back() ^= 1;
  write_text(in_folder("out.nii"), bytes);
  EXPECT_EQ(origin().at("unchanged"), false);
  for (const char* other : {"{\"GeneratedBy\": [{\"Name\": \"dcm2niix\"}]}", "[1, 2", "[]", "",
                            "{\"GeneratedBy\": [{\"Name\": \"Mezzotint\"}], \"Volumes\": 3}"}) {
    write_text(in_folder("out.json"), other);
    EXPECT_EQ(origin(), nullptr) << other;
  }
}

TEST_F(Inspect, SaysWhatPrepareWouldMakeOfAMask) {
  std::vector<std::uint8_t> labels = head_labels(kDims);
  std::ranges::for_each(labels, [](std::uint8_t& label) { label = label == 0 ? 0 : 255; });
  const std::filesystem::path mask = in_folder("brain mask.nii");
  write_bytes(mask, head_mask(kDims).voxels(labels).build());
  const Json verdict = object({mask.string()}).at("image").at("masks").at(0);
  EXPECT_EQ(verdict.at("usable"), false);
  const std::string detail = verdict.at("detail");
  const std::string command = "`mezzotint prepare --recipe whole-head --mask '" + mask.string() +
                              "' --out NEW.nii.gz` makes it usable: 255, the only value beside 0, "
                              "became brain";
  EXPECT_NE(detail.find(command), std::string::npos) << detail;
  labels = brats_labels(kDims);
  std::ranges::replace(labels, std::uint8_t{3}, std::uint8_t{2});
  write_bytes(mask, brats_mask(kDims).voxels(labels).build());
  const std::string raw = object({mask.string()}).at("image").at("masks").at(1).at("detail");
  EXPECT_NE(raw.find("`mezzotint prepare --recipe brats --mask '" + mask.string() +
                     "' --t1 T1 --out NEW.nii.gz` makes them usable"),
            std::string::npos)
      << raw;
}

// Keys without the trainer's prefix under a group.
TEST_F(Inspect, TakesTheVariantThatItAsksFor) {
  write_text(in_folder("model.pt"),
             torch_checkpoint(TinyModel(), {.groups = {{.name = "ema", .prefix = ""}}}));
  expect_problem({path("model.pt")}, {"pass --variant med-ddpm"});
  const Words words{path("model.pt"), "--size", "8", "--variant", "med-ddpm"};
  EXPECT_EQ(object(words).at("kind"), "model");
  expect_problem({path("model.pt"), "--variant", "unet"}, {"`unet` is not auto or med-ddpm"});
  expect_silent({path("mask.nii"), "--variant", "med-ddpm"}, {"mask.nii: is an image"});
  Words mask{path("mask.nii"), "--model", path("model.pt"), "--size", "8x10x12"};
  expect_problem(mask, {"pass --variant med-ddpm"});
  mask.insert(mask.end(), {"--variant", "med-ddpm"});
  EXPECT_EQ(object(mask).at("image").at("masks").at(2).at("usable"), true);
}

// Of a file without `ema`, generate wants to be told; what is to be known does not depend on it.
TEST_F(Inspect, TakesTheWeightsThatAreThere) {
  TinyModel model;
  const std::vector<TorchGroup> groups{{.name = "model"}};
  write_text(in_folder("model.pt"), torch_checkpoint(model, {.groups = groups}));
  const Json told = object({path("model.pt"), "--size", "8"}).at("model");
  EXPECT_EQ(told.at("weights"), "model");
  EXPECT_EQ(told.at("weights_default"), false);
  const Json verdict = object({path("mask.nii"), "--model", path("model.pt"), "--size", "8x10x12"})
                           .at("image")
                           .at("masks")
                           .at(2);
  EXPECT_EQ(verdict.at("usable"), true);
  EXPECT_EQ(verdict.at("notes").back(), "generate needs --weights model");
  expect_problem({path("model.pt"), "--weights", "ema"}, {"holds no `ema` weights"});
  // What is wrong with them is not that they are not `ema`.
  model.remove("time_embed.0.bias");
  write_text(in_folder("model.pt"), torch_checkpoint(model, {.groups = groups}));
  expect_problem({path("model.pt")}, {"1 missing (`time_embed.0.bias`"});
}

TEST_F(Inspect, KnowsWhatRunsLeave) {
  ASSERT_EQ(run(usual().set("--seed", "7")).exit_code, 0);
  Json json = object({path("out.json")});
  EXPECT_EQ(json.at("kind"), "sidecar");
  EXPECT_EQ(json.at("sidecar").at("seed"), 7);
  EXPECT_EQ(json.at("sidecar").at("files").at(0).at("name"), "out.nii");
  const CommandResult result = inspect({path("out.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("`out.nii`, `t1`"), std::string::npos) << result.out;
  expect_silent({path("out.json"), "--size", "8"}, {"out.json: is a sidecar"});

  RunningCommand slow(with("--size", "24")
                          .set("--steps", "8")
                          .set("--checkpoint-every", "0.000001")
                          .set("--out", path("slow.nii"))
                          .words());
  ASSERT_TRUE(slow.wait_for_stderr("step 2/8"));
  slow.send(SIGKILL);
  ASSERT_EQ(slow.finish().exit_code, -SIGKILL) << "it was over before it was killed";
  json = object({path("slow.part")});
  EXPECT_EQ(json.at("kind"), "run state");
  EXPECT_GE(json.at("run_state").at("step"), 1);
  EXPECT_EQ(json.at("run_state").at("steps"), 8);
  EXPECT_EQ(json.at("run_state").at("values"), 24 * 24 * 24);
  const CommandResult state = inspect({path("slow.part")});
  EXPECT_EQ(state.exit_code, 0) << state.err;
  EXPECT_NE(state.out.find(" of 8 done"), std::string::npos) << state.out;
  std::string bytes = read_text(in_folder("slow.part"));
  write_text(in_folder("slow.part"), bytes.substr(0, 100));
  expect_silent({path("slow.part")}, {"slow.part: this state of an interrupted run is damaged"});
}

TEST_F(Inspect, TellsTheHeaderOfATruncatedImage) {
  const std::string whole = read_text(in_folder("mask.nii"));
  write_text(in_folder("mask.nii"), whole.substr(0, whole.size() - 1));
  const std::string out = expect_problem({path("mask.nii")}, {"mask.nii", "the file is truncated"});
  EXPECT_NE(out.find("8x10x12 of uint8"), std::string::npos) << out;
  const Json json = object({path("mask.nii")}, 1);
  EXPECT_EQ(json.at("image").at("voxels"), nullptr);
}

TEST_F(Inspect, FindsTheKindByContent) {
  std::filesystem::rename(in_folder("mask.nii"), in_folder("mask.pt"));
  EXPECT_EQ(object({path("mask.pt")}).at("kind"), "image");
  std::filesystem::rename(in_folder("model.safetensors"), in_folder("model.nii.gz"));
  EXPECT_EQ(object({path("model.nii.gz"), "--size", "8"}).at("kind"), "model");
  // A word that is a verb's is a file here.
  std::filesystem::rename(in_folder("mask.pt"), in_folder("bench"));
  const CommandResult result =
      run_in_shell("cd " + folder_.path().string() + " && \"$0\" \"$@\"", {"inspect", "./bench"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Inspect, RefusesWhatIsNoneOfThese) {
  const std::string expected = "expected a NIfTI image, safetensors or a torch checkpoint";
  write_text(in_folder("notes.txt"), "label,name\n1,brain\n2,tumour\n3,other\n");
  expect_silent({path("notes.txt")}, {"notes.txt: a text file", expected});
  write_text(in_folder("empty"), "");
  expect_silent({path("empty")}, {"empty: an empty file", expected});
  write_text(in_folder("picture.nii"), "\x89PNG\r\n\x1A\n and the rest of the picture");
  expect_silent({path("picture.nii")}, {"picture.nii: a PNG picture", expected});
  expect_silent({path("absent.nii")}, {"absent.nii: cannot open: No such file or directory"});
  ASSERT_EQ(::mkfifo(in_folder("pipe").c_str(), 0600), 0);
  expect_silent({path("pipe")}, {"pipe: not a regular file"});
  expect_silent({"/dev/null"}, {"/dev/null: not a regular file"});
  std::filesystem::create_directory(in_folder("masks"));
  std::filesystem::rename(in_folder("mask.nii"), in_folder("masks/mask.nii"));
  expect_silent({path("masks")}, {"masks: holds 0 checkpoints"});
}

TEST_F(Inspect, RefusesWordsThatMakeNoSense) {
  expect_silent({}, {"file is required", "mezzotint inspect --help"}, 2);
  expect_silent({path("mask.nii"), path("model.safetensors")}, {"unknown argument"}, 2);
  expect_problem({path("model.safetensors"), "--weights", "best"}, {"`best` is not ema or model"});
}

}  // namespace
}  // namespace mezzotint::testing
