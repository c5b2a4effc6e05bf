// Where results may not go, and what they never replace.
#include <sys/stat.h>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

using OutputFiles = GenerateTest;

TEST_F(OutputFiles, FoldersThatCannotBeWritten) {
  expect_refused(with("--out", in_folder("nowhere/out.nii").string()),
                 {"nowhere/out.nii: cannot create a file here: No such file or directory"});
  expect_refused(with("--out", in_folder("mask.nii/out.nii").string()),
                 {"mask.nii/out.nii: cannot create a file here: Not a directory"});
  expect_refused(with("--out", "/proc/out.nii"), {"/proc/out.nii: cannot create a file here"});
  expect_refused(with("--preview", in_folder("nowhere/out.png").string()),
                 {"nowhere/out.png: cannot create a file here"});
}

TEST_F(OutputFiles, NamesWithAnotherEnding) {
  expect_refused(with("--out", in_folder("out.mgz").string()),
                 {"out.mgz: expected a name that ends in .nii or .nii.gz"});
  expect_refused(with("--out", in_folder("out.gz").string()), {"ends in .nii or .nii.gz"});
  expect_refused(with("--preview", in_folder("out.jpg").string()),
                 {"out.jpg: expected a name that ends in .png"});
  std::filesystem::create_directory(in_folder("folder.nii"));
  expect_refused(with("--out", in_folder("folder.nii").string()),
                 {"folder.nii: is a folder; name a file in it"});
}

TEST_F(OutputFiles, ExistingOnesStayAsTheyAre) {
  Flags flags = with("--preview", in_folder("out.png").string());
  for (const char* name : {"out.nii", "out.json", "out.png"}) {
    write_text(in_folder(name), "precious");
    expect_refused(flags, {std::string(name) + ": exists already", "--overwrite"});
    std::filesystem::remove(in_folder(name));
  }
}

TEST_F(OutputFiles, OverwriteReplacesThem) {
  Flags flags = with("--preview", in_folder("out.png").string());
  for (const char* name : {"out.nii", "out.json", "out.png"}) {
    write_text(in_folder(name), "precious");
  }
  flags.set("--overwrite");
  const std::string bytes = volume(flags);
  EXPECT_EQ(bytes.size(), 352U + 960 * sizeof(float));
  EXPECT_TRUE(read_text(in_folder("out.json")).starts_with("{"));
  EXPECT_TRUE(read_text(in_folder("out.png")).starts_with("\x89PNG"));
  EXPECT_EQ(folder_.content().size(), 5U);
}

// A failed run with --overwrite leaves what was there.
TEST_F(OutputFiles, OverwriteKeepsThemWhenTheRunFails) {
  TinyModel model;
  model.at("out.2.bias")[0] = 3e38F;
  for (float& weight : model.at("out.2.weight")) {
    weight = 3e38F;
  }
  model.save(in_folder("model.safetensors"));
  write_text(in_folder("out.nii"), "precious");
  Flags flags = usual();
  flags.set("--overwrite");
  const auto before = folder_.content();
  EXPECT_EQ(run(flags).exit_code, 1);
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(OutputFiles, InputsAreNeverReplaced) {
  const std::string is_read = "is read and would be overwritten: choose another name";
  Flags flags = usual();
  flags.set("--overwrite");
  for (const std::string name : {"mask.nii", "./mask.nii"}) {
    flags.set("--out", in_folder(name).string());
    expect_refused(flags, {"mask.nii: " + is_read});
  }
  std::filesystem::create_symlink("mask.nii", in_folder("link.nii"));
  flags.set("--mask", in_folder("link.nii").string());
  expect_refused(flags, {"mask.nii: " + is_read});
}

// The sidecar of model.nii is model.json.
TEST_F(OutputFiles, ModelCardsAreNeverReplaced) {
  std::filesystem::create_directory(in_folder("model"));
  std::filesystem::rename(in_folder("model.safetensors"), in_folder("model/model.safetensors"));
  write_text(in_folder("model/model.json"), R"({"recipe": "whole-head"})");
  Flags flags = with("--model", in_folder("model").string());
  flags.set("--out", in_folder("model/model.nii.gz").string());
  flags.set("--overwrite");
  expect_refused(flags, {"model/model.json: is read and would be overwritten"});
}

// The volume is the last of the files to appear. When it cannot, the others go again.
// Named by itself, a checkpoint still has the card beside it.
TEST_F(OutputFiles, NorIsTheCardBesideACheckpoint) {
  write_text(in_folder("model.json"), "{}");
  Flags flags = with("--out", in_folder("model.nii").string());
  flags.set("--overwrite");
  expect_refused(flags, {"model.json: is read and would be overwritten"});
}

// The voxels of a pair are in the file that was not named.
TEST_F(OutputFiles, NorIsTheOtherHalfOfAMask) {
  write_text(in_folder("voxels.nii"), "precious");
  std::filesystem::create_symlink("voxels.nii", in_folder("pair.img"));
  write_text(in_folder("pair.hdr"), "a header");
  Flags flags = with("--mask", in_folder("pair.hdr").string());
  flags.set("--out", in_folder("voxels.nii").string());
  flags.set("--overwrite");
  expect_refused(flags, {"voxels.nii: is read and would be overwritten"});
}

TEST_F(OutputFiles, AllOrNoneWhenANameIsTakenMeanwhile) {
  for (const bool overwrite : {false, true}) {
    Flags flags = with("--preview", in_folder("out.png").string());
    flags.set("--size", "32").set("--steps", "5");
    if (overwrite) {
      flags.set("--overwrite");
      write_text(in_folder("out.json"), "precious");
    }
    const auto before = folder_.content();
    RunningCommand command(flags.words());
    ASSERT_TRUE(command.wait_for_stderr("step 1/5"));
    std::filesystem::create_directory(in_folder("out.nii"));
    const CommandResult result = command.finish();
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(overwrite ? "out.nii: is a folder" : "out.nii: appeared while"),
              std::string::npos)
        << result.err;
    EXPECT_TRUE(std::filesystem::remove(in_folder("out.nii")));
    EXPECT_TRUE(std::filesystem::remove(in_folder("out.part"))) << "what was computed is kept";
    EXPECT_EQ(folder_.content(), before);
  }
}

TEST_F(OutputFiles, PipesAreNoPlaceForThem) {
  ASSERT_EQ(::mkfifo(in_folder("out.nii").c_str(), 0600), 0);
  Flags flags = usual();
  flags.set("--overwrite");
  expect_refused(flags, {"out.nii: is not a regular file and is not replaced"});
}

// Nobody reads what is printed: the run goes on and its files are whole.
// A stream that came closed would lend its number to the next file that is opened.
TEST_F(OutputFiles, ClosedStreamsEndUpInNoFile) {
  const std::string expected = volume(usual());
  for (const char* closed : {"<&- 2>&-", "<&- >&- 2>&-", "2>&-", ">&- 2>&-"}) {
    Flags flags = usual();
    flags.set("--overwrite");
    run_in_shell(std::string("exec \"$0\" \"$@\" ") + closed, flags.words());
    EXPECT_EQ(read_text(in_folder("out.nii")), expected) << closed;
    EXPECT_TRUE(read_text(in_folder("out.json")).starts_with("{")) << closed;
  }
}

TEST_F(OutputFiles, ALimitOnFileSizesIsAnOrdinaryError) {
  const auto before = folder_.content();
  const CommandResult result = run_in_shell("ulimit -f 1 && exec \"$0\" \"$@\"", usual().words());
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"out.nii", "File too large"});
  EXPECT_EQ(folder_.content(), before);
}

TEST_F(OutputFiles, LostStandardErrorDoesNotStopTheRun) {
  RunningCommand command(usual().words(), "/dev/full");
  EXPECT_EQ(command.finish().exit_code, 0);
  EXPECT_EQ(read_text(in_folder("out.nii")).size(), 352U + 960 * sizeof(float));
  EXPECT_EQ(folder_.content().size(), 4U);
}

TEST_F(OutputFiles, ClosedAndFullStandardOutputIsReported) {
  const std::string mask = in_folder("mask.nii").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"inspect", mask}, {"inspect", mask, "--json"}, {"--help"}, {"--version"}}) {
    for (const char* out : {">&-", ">/dev/full"}) {
      const CommandResult result = run_in_shell(std::string("exec \"$0\" \"$@\" ") + out, words);
      EXPECT_EQ(result.exit_code, 1) << words[0] << out;
      expect_one_line(result.err, {"standard output: not everything could be written"});
    }
  }
}

TEST_F(OutputFiles, LostStandardOutputIsReported) {
  Flags flags = usual();
  flags.set("--json");
  RunningCommand command(flags.words());
  command.close_stdout();
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"standard output: not everything could be written"});
  EXPECT_EQ(folder_.content().size(), 4U);
}

}  // namespace
}  // namespace mezzotint::testing
