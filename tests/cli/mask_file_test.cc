// Masks that are missing, no mask file at all, compressed or not, in two files, or under odd names.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/generate_test_base.h"
#include "support/gzip.h"

namespace mezzotint::testing {
namespace {

class MaskFile : public GenerateTest {
 protected:
  void save(const NiftiBuilder& mask) const { write_bytes(in_folder("mask.nii"), mask.build()); }

  static std::vector<std::byte> packed(std::span<const std::byte> content) {
    return gzipped(content);
  }
  static std::vector<std::byte> packed_mask() { return packed(head_mask(kDims).build()); }

  // `mask` gives the very volume that the plain mask gives.
  void expect_taken(const std::filesystem::path& mask) const {
    const std::string expected =
        volume(with("--out", in_folder("plain.nii").string()).set("--overwrite"));
    const CommandResult result = run(with("--mask", mask.string()).set("--overwrite"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err.find("  note "), std::string::npos) << result.err;
    EXPECT_TRUE(read_text(in_folder("out.nii")) == expected) << mask;
  }
};

TEST_F(MaskFile, MissingOrNoFile) {
  expect_refused(with("--mask", in_folder("nowhere.nii").string()),
                 {"nowhere.nii: cannot open: No such file or directory"});
  expect_refused(with("--mask", folder_.path().string()),
                 {"out.nii: a folder of masks or several samples make several volumes"});
  ASSERT_EQ(::mkfifo(in_folder("pipe.nii").c_str(), 0600), 0);
  expect_refused(with("--mask", in_folder("pipe.nii").string()), {"pipe.nii: not a regular file"});
  expect_refused(with("--mask", "/dev/zero"), {"/dev/zero: not a regular file"});
}

TEST_F(MaskFile, ALinkIsFollowed) {
  std::filesystem::create_symlink("mask.nii", in_folder("link.nii"));
  expect_taken(in_folder("link.nii"));
  std::filesystem::create_symlink("nowhere.nii", in_folder("dangling.nii"));
  expect_refused(with("--mask", in_folder("dangling.nii").string()),
                 {"dangling.nii: cannot open: No such file or directory"});
  const TemporaryFolder apart;  // expect_refused() would follow it
  std::filesystem::create_symlink("loop.nii", apart.path() / "loop.nii");
  expect_refused(with("--mask", (apart.path() / "loop.nii").string()),
                 {"loop.nii: cannot open: Too many levels of symbolic links"});
}

// A line stays a line, and a terminal hears nothing but the text.
TEST_F(MaskFile, OddNames) {
  const std::string odd = "ma\nsk \x1b[2J'$(x)\t.nii";
  expect_refused(with("--mask", in_folder(odd).string()),
                 {"ma\\x0ask \\x1b[2J'$(x)\\x09.nii: cannot open"});
  save(head_mask(kDims));
  for (const std::string& name : {odd, std::string("Schädel.nii"), std::string("no\xffutf8.nii")}) {
    std::filesystem::copy(in_folder("mask.nii"), in_folder(name));
    expect_taken(in_folder(name));
  }
}

TEST_F(MaskFile, Unreadable) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads everything";
  }
  ASSERT_EQ(::chmod(in_folder("mask.nii").c_str(), 0), 0);
  const CommandResult result = run(usual());
  ::chmod(in_folder("mask.nii").c_str(), 0600);
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"mask.nii: cannot open: Permission denied"});
}

TEST_F(MaskFile, OfAnotherKind) {
  expect_refused(with("--mask", in_folder("model.safetensors").string()),
                 {"model.safetensors", "NIfTI"});
  write_text(in_folder("mask.nii"), "");
  expect_refused(usual(), {"mask.nii: is empty, expected a NIfTI image"});
  write_bytes(in_folder("mask.nii"), packed({}));
  expect_refused(usual(), {"mask.nii: is empty, expected a NIfTI image"});
  write_text(in_folder("mask.nii"), "label,volume\n1,20\n");
  expect_refused(usual(), {"mask.nii: is a text file, expected a NIfTI image"});
  write_text(in_folder("mask.nii"), std::string(128, '\0') + "DICM" + std::string(300, '\0'));
  expect_refused(usual(), {"mask.nii: is a DICOM file, expected NIfTI; convert it first"});
}

TEST_F(MaskFile, CompressedByContentWhateverTheName) {
  write_bytes(in_folder("packed.nii"), packed_mask());
  expect_taken(in_folder("packed.nii"));
  write_bytes(in_folder("packed.txt"), packed_mask());
  expect_taken(in_folder("packed.txt"));
  write_bytes(in_folder("plain.nii.gz"), head_mask(kDims).build());
  expect_taken(in_folder("plain.nii.gz"));
}

TEST_F(MaskFile, CompressedInSeveralMembers) {
  const auto whole = head_mask(kDims).build();
  std::vector<std::byte> members;
  for (std::size_t first = 0; first < whole.size(); first += 300) {
    const auto member =
        packed(std::span(whole).subspan(first, std::min<std::size_t>(300, whole.size() - first)));
    members.insert(members.end(), member.begin(), member.end());
  }
  write_bytes(in_folder("members.nii.gz"), members);
  expect_taken(in_folder("members.nii.gz"));
  members.resize(members.size() + 512);  // as tape drives pad
  write_bytes(in_folder("padded.nii.gz"), members);
  expect_taken(in_folder("padded.nii.gz"));
}

TEST_F(MaskFile, DamagedCompression) {
  const auto good = packed_mask();
  const auto expect = [&](std::vector<std::byte> bytes, const std::string& part) {
    write_bytes(in_folder("mask.nii"), bytes);
    expect_refused(usual(), {"mask.nii: ", part});
  };
  auto bad = good;
  bad[bad.size() - 6] ^= std::byte{1};
  expect(bad, "(incorrect data check); copy or compress it again");
  bad = good;
  bad[bad.size() - 2] ^= std::byte{1};
  expect(bad, "(incorrect length check); copy or compress it again");
  bad = good;
  bad.resize(bad.size() + 10, std::byte{'x'});
  expect(bad, "10 bytes follow the gzip data");
  expect(packed(good), "is compressed twice; decompress it once with gunzip");
  for (const std::size_t kept : {std::size_t{5}, std::size_t{60}, good.size() - 1}) {
    expect({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(kept)},
           "the file is truncated; copy it again");
  }
  // More content than its header accounts for.
  auto longer = head_mask(kDims).build();
  longer.resize(longer.size() + (std::size_t{1} << 20) + 1);
  expect(packed(longer), "decompresses to more than the 1049888 bytes expected");
}

TEST_F(MaskFile, TwoFiles) {
  NiftiBuilder pair = head_mask(kDims);
  pair.text(nifti1::kMagic, "ni1").vox_offset(0);
  write_bytes(in_folder("pair.hdr"), pair.build());
  expect_refused(with("--mask", in_folder("pair.hdr").string()),
                 {"pair.img: cannot open: No such file or directory (the voxels of ", "pair.hdr)"});
  write_bytes(in_folder("pair.img"), pair.voxel_bytes());
  expect_taken(in_folder("pair.hdr"));
  expect_taken(in_folder("pair.img"));
  write_bytes(in_folder("pair.img"), packed(pair.voxel_bytes()));
  expect_taken(in_folder("pair.hdr"));

  write_bytes(in_folder("pair.img"), std::span(pair.voxel_bytes()).first(959));
  expect_refused(with("--mask", in_folder("pair.img").string()),
                 {"pair.img: has 959 bytes, but 8 x 10 x 12 voxels of uint8 from byte 0 need 960"});
  write_bytes(in_folder("pair.nii"), pair.build());
  expect_refused(
      with("--mask", in_folder("pair.nii").string()),
      {"pair.nii: is the header of a .hdr/.img pair, expected a name that ends in .hdr"});
  std::filesystem::remove(in_folder("pair.hdr"));
  expect_refused(with("--mask", in_folder("pair.img").string()),
                 {"pair.hdr: cannot open: No such file or directory (the header of ", "pair.img)"});
}

// A file of a gigabyte is refused from its first bytes.
TEST_F(MaskFile, HugeFilesAreNotRead) {
  constexpr std::uintmax_t kHuge = std::uintmax_t{1} << 30;
  const TemporaryFolder apart;  // expect_refused() would read them
  const auto expect = [&](const char* name, std::span<const std::byte> start,
                          const std::string& part) {
    const std::filesystem::path path = apart.path() / name;
    write_bytes(path, start);
    std::filesystem::resize_file(path, kHuge);
    const CommandResult result = run(with("--mask", path.string()));
    EXPECT_EQ(result.exit_code, 1);
    expect_one_line(result.err, {part});
    EXPECT_LT(result.peak_bytes, kHuge / 2);
  };
  expect("zeros.nii", {}, "zeros.nii: is not NIfTI");
  expect("tail.nii", head_mask(kDims).build(),
         "tail.nii: has 1073741824 bytes, but 8 x 10 x 12 voxels of uint8 from byte 352 need only "
         "1312: more follows than padding");
  expect("zip.nii.gz", std::array{std::byte{0x1f}, std::byte{0x8b}}, "zip.nii.gz: damaged gzip");
}

TEST_F(MaskFile, Truncated) {
  const std::string whole = read_text(in_folder("mask.nii"));
  write_text(in_folder("mask.nii"), whole.substr(0, whole.size() - 100));
  expect_refused(usual(), {"mask.nii", "truncated"});
  const auto packed = gzipped(std::as_bytes(std::span(whole)));
  write_bytes(in_folder("mask.nii"), std::span(packed).first(packed.size() / 2));
  expect_refused(usual(), {"mask.nii", "truncated"});
}

}  // namespace
}  // namespace mezzotint::testing
