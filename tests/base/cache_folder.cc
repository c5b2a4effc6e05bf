#include "base/cache_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <string>

#include "base/file_test_base.h"

namespace mezzotint {
namespace {

// The variables as a test wants them, put back afterwards.
class CacheFolderTest : public FileTest {
 protected:
  void SetUp() override {
    FileTest::SetUp();
    for (const char* name : {"MEZZOTINT_CACHE", "XDG_CACHE_HOME", "HOME"}) {
      const char* value = ::getenv(name);
      previous_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : previous_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
    FileTest::TearDown();
  }
  static void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), /*overwrite=*/1);
  }
  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }

 private:
  std::map<std::string, std::optional<std::string>> previous_;
};

TEST_F(CacheFolderTest, TheMostExplicitNameWins) {
  expect_error(cache_folder(), ErrorCode::kNotFound, "pass --cache");
  set("HOME", "/of/someone");
  EXPECT_EQ(*cache_folder(), "/of/someone/.cache/mezzotint");
  set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(*cache_folder(), "/caches/mezzotint");
  set("MEZZOTINT_CACHE", "own");
  EXPECT_EQ(*cache_folder(), "own");
  EXPECT_EQ(*cache_folder("given"), "given");
}

TEST_F(CacheFolderTest, EmptyVariablesAndARelativeXdgFolderCountAsUnset) {
  set("HOME", "/of/someone");
  set("MEZZOTINT_CACHE", "");
  for (const char* value : {"", "relative"}) {
    set("XDG_CACHE_HOME", value);
    EXPECT_EQ(*cache_folder(), "/of/someone/.cache/mezzotint") << value;
  }
  set("HOME", "");
  expect_error(cache_folder(), ErrorCode::kNotFound, "HOME");
}

TEST_F(CacheFolderTest, IsCreatedForItsOwnerAloneAndFoundAgain) {
  const auto path = in("a/b/mezzotint");
  ASSERT_FALSE(std::filesystem::exists(in("a")));
  for (int time = 0; time < 2; ++time) {
    const auto made = make_cache_folder(path);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(*made, path);
  }
  EXPECT_EQ(mode_of(in("a")), 0700U);
  EXPECT_EQ(mode_of(path), 0700U);
}

TEST_F(CacheFolderTest, AnExistingFolderKeepsItsMode) {
  ASSERT_EQ(::mkdir(in("open").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(in("open").c_str(), 0755), 0);
  ASSERT_TRUE(make_cache_folder(in("open")).ok());
  EXPECT_EQ(mode_of(in("open")), 0755U);
}

TEST_F(CacheFolderTest, AFileInTheWayIsAnError) {
  put(in("file"), "text");
  expect_error(make_cache_folder(in("file")), ErrorCode::kInvalidInput,
               "is not a folder, expected one for the cache; pass another with --cache");
  expect_error(make_cache_folder(in("file") / "below"), ErrorCode::kResource, "Not a directory");
  EXPECT_EQ(get(in("file")), "text");
}

TEST_F(CacheFolderTest, ALinkIsFollowedToAFolderAndNamedWhereItLeadsNowhere) {
  ASSERT_TRUE(make_cache_folder(in("real")).ok());
  std::filesystem::create_symlink(in("real"), in("link"));
  EXPECT_TRUE(make_cache_folder(in("link")).ok());
  std::filesystem::create_symlink(in("nothing"), in("dangling"));
  expect_error(make_cache_folder(in("dangling")), ErrorCode::kResource,
               "a symbolic link to nothing is there; pass another with --cache");
  EXPECT_FALSE(std::filesystem::exists(in("nothing")));
}

TEST_F(CacheFolderTest, AFolderThatCannotBeCreatedIsAnError) {
  // Not even root creates anything there.
  expect_error(make_cache_folder("/proc/self/mezzotint-cache/below"), ErrorCode::kResource,
               "/proc/self/mezzotint-cache/below: cannot create the cache folder: ");
  expect_error(make_cache_folder(std::string(300, 'x')), ErrorCode::kResource, "too long");
}

}  // namespace
}  // namespace mezzotint
