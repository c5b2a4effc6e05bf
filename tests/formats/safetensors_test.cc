#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"
#include "formats/tensor_file.h"

namespace mezzotint::testing {
namespace {

const std::string two_floats = bytes_of<float>({1, 2});

Result<TensorDirectory> parse(const std::string& bytes) {
  const TemporaryFile file(bytes);
  return read_safetensors_directory(file.open());
}

// A header with these entries over 8 bytes of data.
Result<TensorDirectory> parse_header(std::string_view header) {
  return parse(make_safetensors(header, two_floats));
}

// One tensor `a` whose description is `fields`.
Result<TensorDirectory> parse_tensor(std::string_view fields) {
  return parse_header("{\"a\":{" + std::string(fields) + "}}");
}

TEST(Safetensors, ReadsTensorsInFileOrder) {
  const TemporaryFile temporary(make_safetensors(
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("empty":{"dtype":"U8","shape":[3,0],"data_offsets":[8,8]},)"
      R"("a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}   )",
      bytes_of<std::uint16_t>({0x3C00, 0xC000}) + bytes_of<float>({5})));
  auto file = open_tensor_file(temporary.path());
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ((*file)->tensors().size(), 3U);
  EXPECT_EQ((*file)->metadata(), (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_EQ((*file)->groups(), std::vector<std::string>{""});
  const TensorInfo& first = (*file)->tensors()[0];
  EXPECT_EQ(first.name, "a");
  EXPECT_EQ(first.dtype, DType::kF16);
  EXPECT_EQ(first.shape, (std::vector<std::int64_t>{1, 2}));
  std::vector<float> values(2);
  ASSERT_TRUE((*file)->read_float(0, values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, -2}));
  values.resize(1);
  ASSERT_TRUE((*file)->read_float(*(*file)->find("", "b"), values).ok());
  EXPECT_EQ(values, (std::vector<float>{5}));
  EXPECT_EQ((*file)->tensors()[*(*file)->find("", "empty")].elements, 0);
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string whole =
      make_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", two_floats);
  ASSERT_TRUE(parse(whole).ok());
  for (std::size_t size = 8; size < whole.size(); ++size) {
    expect_error(parse(whole.substr(0, size)), "damaged safetensors file");
  }
  expect_error(parse(whole.substr(0, 7)), "the file is truncated");
  expect_error(parse(whole + "x"), "1 bytes follow its last tensor");
}

TEST(Safetensors, RefusesBadLengths) {
  std::string bytes = make_safetensors("{}", "");
  patch<std::uint64_t>(bytes, 0, 3);
  expect_error(parse(bytes), "its header claims 3 bytes; expected at most 2");
  patch<std::uint64_t>(bytes, 0, ~std::uint64_t{0});
  expect_error(parse(bytes), "its header claims 18446744073709551615 bytes");
  patch<std::uint64_t>(bytes, 0, 0);
  expect_error(parse(bytes), "does not begin with `{`");
  EXPECT_TRUE(parse(make_safetensors("{}", "")).ok());
}

TEST(Safetensors, RefusesBadJson) {
  expect_error(parse_header("{\"a\":"), "it is not JSON at byte");
  expect_error(parse_header("{}x"), "it is not JSON at byte");
  expect_error(parse_header("{\"\xFF\":1}"), "it is not JSON at byte");
  expect_error(parse_header("[]"), "does not begin with `{`");
  expect_error(parse_header("{\"a\":" + std::string(100'000, '[')), "an array stands where none");
  expect_error(parse_header("{\"a\":1}"), "a number stands where none");
  expect_error(parse_header("{\"a\":\"x\"}"), "a string stands where none");
  expect_error(parse_header("{\"a\":null}"), "a null stands where none");
  expect_error(parse_header("{\"a\":true}"), "a boolean stands where none");
  expect_error(parse_header("{\"__metadata__\":{\"a\":1}}"), "a number stands where none");
  expect_error(parse_header("{\"__metadata__\":{\"a\":{}}}"), "an object stands where none");
  expect_error(parse_tensor("\"shape\":[[1]]"), "an array stands where none");
  expect_error(parse_tensor("\"shape\":[{}]"), "an object stands where none");
  expect_error(parse_tensor("\"shape\":[-1]"), "a number is negative");
  expect_error(parse_tensor("\"shape\":[1.5]"), "a number is not whole");
  expect_error(parse_tensor("\"other\":[1]"), "an array stands where none");
}

TEST(Safetensors, RefusesWhatIsThereTwice) {
  constexpr std::string_view kEntry = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  expect_error(parse_header("{" + std::string(kEntry) + "," + std::string(kEntry) + "}"),
               "`a` is there twice");
  expect_error(parse_header(R"({"__metadata__":{"k":"1","k":"2"}})"),
               "metadata `k` is there twice");
  expect_error(parse_tensor(R"("dtype":"F32","dtype":"F32")"),
               "`dtype` is there twice in tensor `a`");
  expect_error(parse_tensor(R"("shape":[],"shape":[])"), "`shape` is there twice in tensor `a`");
  expect_error(parse_tensor(R"("data_offsets":[],"data_offsets":[])"),
               "`data_offsets` is there twice in tensor `a`");
}

TEST(Safetensors, RefusesBadTensors) {
  expect_error(parse_tensor(""), "tensor `a` lacks dtype, shape or data_offsets");
  expect_error(parse_tensor(R"("dtype":"F32","shape":[2])"), "lacks dtype, shape or data_offsets");
  expect_error(parse_tensor(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"),
               "tensor `a` has dtype `F8_E4M3`, expected F64, F32");
  expect_error(parse_tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
               "tensor `a` has 8 bytes, which do not fit F32 of shape [3]");
  expect_error(parse_tensor(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8])"),
               "do not fit U8 of shape [18446744073709551615]");
  expect_error(
      parse_tensor(R"("dtype":"U8","shape":[4294967296,4294967296,8],"data_offsets":[0,8])"),
      "do not fit U8 of shape");
  expect_error(
      parse_tensor(
          R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8],"data_offsets":[0,8])"),
      "tensor `a` has too many dimensions");
  expect_error(parse_header("{\"" + std::string(513, 'n') + "\":{}}"),
               "has 513 bytes, more than 512");
}

TEST(Safetensors, RefusesBadOffsets) {
  const auto refused = [](std::string_view offsets, std::string_view part) {
    expect_error(parse_tensor(R"("dtype":"U8","shape":[8],"data_offsets":)" + std::string(offsets)),
                 part);
  };
  refused("[0]", "tensor `a` has data_offsets [0], expected a begin and an end");
  refused("[8,0]", "tensor `a` has data_offsets [8, 0], expected a begin and an end");
  refused("[1,8]", "tensor `a` begins at byte 1 of the data, expected 0");
  refused("[0,9]", "tensor `a` ends at byte 9 of the data, but the file has 8");
  const auto two = [](std::string_view second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
           R"("b":{"dtype":"U8","shape":[4],"data_offsets":)" +
           std::string(second) + "}}";
  };
  EXPECT_TRUE(parse_header(two("[4,8]")).ok());
  expect_error(parse_header(two("[3,7]")), "tensor `b` begins at byte 3 of the data, expected 4");
  expect_error(parse_header(two("[5,9]")), "tensor `b` begins at byte 5 of the data, expected 4");
}

class SafetensorsWriter : public ::testing::Test {
 protected:
  static Status write(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                      const std::map<std::string, std::string>& metadata) {
    auto file = OutputFile::create(path, true, 0);
    EXPECT_TRUE(file.ok());
    Status status = write_safetensors(*file, tensors, metadata);
    return status ? file->commit() : status;
  }

  TemporaryFile temporary_{""};
  std::vector<float> floats_ = {1, 2, 3};
  std::vector<std::int64_t> integers_ = {-1};
};

TEST_F(SafetensorsWriter, WritesWhatIsReadBack) {
  const TensorToWrite tensors[] = {
      {"z \"quoted\"", DType::kF32, {3, 1}, std::as_bytes(std::span(floats_))},
      {"a", DType::kI64, {}, std::as_bytes(std::span(integers_))},
      {"empty", DType::kBF16, {0}, {}}};
  ASSERT_TRUE(write(temporary_.path(), tensors, {{"format", "pt"}}).ok());
  auto file = open_tensor_file(temporary_.path());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
  ASSERT_EQ((*file)->tensors().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*file)->tensors()[i].dtype, tensors[i].dtype);
    EXPECT_EQ((*file)->tensors()[i].shape, tensors[i].shape);
    EXPECT_EQ((*file)->find("", tensors[i].name), i);
  }
  std::vector<float> values(3);
  ASSERT_TRUE((*file)->read_float(0, values).ok());
  EXPECT_EQ(values, floats_);
  std::vector<std::int64_t> integer(1);
  ASSERT_TRUE((*file)->read_bytes(1, std::as_writable_bytes(std::span(integer))).ok());
  EXPECT_EQ(integer, integers_);
}

TEST_F(SafetensorsWriter, WritesTheseBytes) {
  const TensorToWrite tensors[] = {{"a", DType::kF32, {3}, std::as_bytes(std::span(floats_))}};
  ASSERT_TRUE(write(temporary_.path(), tensors, {}).ok());
  const auto bytes = read_file(temporary_.path(), 1000);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()),
            make_safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}} )",
                             bytes_of(floats_)));
}

TEST_F(SafetensorsWriter, RefusesBadNames) {
  const auto bytes = std::as_bytes(std::span(floats_));
  const TensorToWrite twice[] = {{"a", DType::kF32, {3}, bytes}, {"a", DType::kF32, {3}, bytes}};
  expect_error(write(temporary_.path(), twice, {}), "tensor `a` is given twice");
  const TensorToWrite reserved[] = {{"__metadata__", DType::kF32, {3}, bytes}};
  expect_error(write(temporary_.path(), reserved, {}), "or is a reserved name");
  const TensorToWrite not_utf8[] = {{"\xFF", DType::kF32, {3}, bytes}};
  expect_error(write(temporary_.path(), not_utf8, {}), "is not UTF-8");
}

}  // namespace
}  // namespace mezzotint::testing
