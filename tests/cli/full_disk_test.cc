// A disk that is too small, and one that fills while the work goes on.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class FullDisk : public GenerateTest {
 protected:
  void SetUp() override {
    // A namespace of its own: nobody else sees the disk, and it goes with this process.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      GTEST_SKIP() << "a small disk needs the right to mount: " << std::strerror(errno);
    }
  }
  void TearDown() override { ::umount2(disk().c_str(), MNT_DETACH); }

  [[nodiscard]] std::filesystem::path disk() const { return in_folder("disk"); }
  void make_disk(const std::string& size) const {
    std::filesystem::create_directory(disk());
    ASSERT_EQ(::mount("tmpfs", disk().c_str(), "tmpfs", 0, ("size=" + size).c_str()), 0)
        << std::strerror(errno);
  }
  [[nodiscard]] Flags on_disk() const { return with("--out", (disk() / "out.nii").string()); }
};

TEST_F(FullDisk, IsKnownBeforeTheWork) {
  make_disk("16k");
  expect_refused(on_disk(), {"out.json: cannot reserve 65536 bytes: No space left on device",
                             "free some space or choose another folder"});
}

TEST_F(FullDisk, AlsoWhereOnlyTheStateDoesNotFit) {
  make_disk("80k");
  expect_refused(on_disk(), {"out.part: cannot reserve ", "No space left on device"});
  EXPECT_EQ(run(on_disk().set("--checkpoint-every", "0")).exit_code, 0);
}

// All space was reserved.
TEST_F(FullDisk, DoesNotHarmARunThatHasBegun) {
  const Flags plain =
      with("--size", "24").set("--steps", "4").set("--checkpoint-every", "0.000001");
  const std::string expected = volume(plain);
  make_disk("600k");
  Flags flags = plain;
  flags.set("--out", (disk() / "out.nii").string());
  RunningCommand command(flags.words());
  ASSERT_TRUE(command.wait_for_stderr("step 1/4"));
  const Descriptor filler(
      ::open((disk() / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  std::array<char, 4096> block{};
  while (::write(filler.number(), block.data(), block.size()) > 0) {
  }
  EXPECT_EQ(errno, ENOSPC);
  const CommandResult result = command.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(read_text(disk() / "out.nii") == expected);
}

}  // namespace
}  // namespace mezzotint::testing
