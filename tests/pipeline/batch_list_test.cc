#include "pipeline/batch_list.h"

#include <gtest/gtest.h>

#include <fstream>

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

class BatchList : public ::testing::Test {
 protected:
  BatchList()
      : folder_(fs::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "masks");
    request_.settings.mask = folder_ / "masks";
    request_.settings.out = folder_ / "out";
  }
  ~BatchList() override { fs::remove_all(folder_); }

  void add(const std::string& name) const { std::ofstream(folder_ / "masks" / name) << "x"; }

  [[nodiscard]] std::vector<std::string> names() const {
    const auto volumes = list_batch(request_);
    EXPECT_TRUE(volumes.ok()) << volumes.error().message;
    std::vector<std::string> names;
    if (volumes) {
      for (const BatchVolume& volume : *volumes) {
        EXPECT_EQ(volume.index, static_cast<int>(names.size()));
        EXPECT_EQ(volume.count, static_cast<int>(volumes->size()));
        EXPECT_EQ(volume.out.parent_path(), folder_ / "out");
        names.push_back(volume.mask.filename().string() + " " + volume.out.filename().string());
      }
    }
    return names;
  }

  void expect_refused(const std::string& part) const {
    const auto volumes = list_batch(request_);
    ASSERT_FALSE(volumes.ok());
    EXPECT_NE(volumes.error().message.find(part), std::string::npos) << volumes.error().message;
  }

  fs::path folder_;
  BatchRequest request_;
};

TEST_F(BatchList, TakesMasksByNameInOrder) {
  for (const char* name :
       {"b.nii.gz", "a.v2.nii", "c.hdr", "c.img", "notes.txt", ".hidden.nii", ".nii", "b.json"}) {
    add(name);
  }
  fs::create_directory(folder_ / "masks" / "folder.nii");
  EXPECT_EQ(names(), (std::vector<std::string>{"a.v2.nii a.v2.nii.gz", "b.nii.gz b.nii.gz",
                                               "c.hdr c.nii.gz"}));
}

TEST_F(BatchList, NumbersSamplesWhereThereAreSome) {
  add("a.nii");
  add("b.nii");
  request_.samples = 2;
  request_.settings.sample = 7;
  EXPECT_EQ(names(),
            (std::vector<std::string>{"a.nii a_sample7.nii.gz", "a.nii a_sample8.nii.gz",
                                      "b.nii b_sample7.nii.gz", "b.nii b_sample8.nii.gz"}));
  request_.samples = 1;
  EXPECT_EQ(names(),
            (std::vector<std::string>{"a.nii a_sample7.nii.gz", "b.nii b_sample7.nii.gz"}));
}

TEST_F(BatchList, OneMaskMayHaveAnyName) {
  add("labels");
  request_.settings.mask = folder_ / "masks" / "labels";
  request_.samples = 2;
  EXPECT_EQ(names(), (std::vector<std::string>{"labels labels_sample0.nii.gz",
                                               "labels labels_sample1.nii.gz"}));
}

TEST_F(BatchList, RefusesWhatCannotBeABatch) {
  expect_refused("masks: holds no mask, expected files that end in .nii, .nii.gz or .hdr");
  add("a.nii");
  add("a.nii.gz");
  expect_refused("a.nii.gz: would both make a.nii.gz; rename one of them");
  fs::remove(folder_ / "masks" / "a.nii.gz");
  request_.settings.out = folder_ / "masks" / "." / "";
  expect_refused("is the folder of the masks");
  request_.settings.out = folder_ / "out";
  for (const int samples : {0, -1, 1'000'001}) {
    request_.samples = samples;
    expect_refused("expected 1 to 1000000");
  }
  request_.samples = 2;
  request_.settings.sample = 0xFFFFFFFF;
  expect_refused("beyond the largest number of a sample");
  request_.settings.sample = 0;
  request_.settings.noise = "noise.safetensors";
  expect_refused("holds the noise of one volume; 2 samples would be the same");
}

}  // namespace
}  // namespace mezzotint
