// Files and errors, as the tests of the tensor file readers need them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "mezzotint/result.h"

namespace mezzotint::testing {

// A file of the running test, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = fmt::format("mezzotint_{}_{}", test->test_suite_name(), test->name());
    std::replace(name.begin(), name.end(), '/', '_');  // of tests with parameters
    path_ = std::filesystem::path(::testing::TempDir()) / name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] InputFile open() const {
    auto file = InputFile::open(path_);
    EXPECT_TRUE(file.ok());
    return std::move(*file);
  }

 private:
  std::filesystem::path path_;
};

// The result is an error of one line that contains `part`.
template <typename T>
void expect_error(const Result<T>& result, std::string_view part) {
  ASSERT_FALSE(result.ok()) << "expected an error with: " << part;
  const std::string& message = result.error().message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

}  // namespace mezzotint::testing
