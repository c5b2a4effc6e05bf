#include "formats/torch_checkpoint.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"
#include "formats/tensor_file.h"

namespace mezzotint::testing {
namespace {

using Tensor = PickleWriter::Tensor;

const std::string six_floats = bytes_of<float>({1, 2, 3, 4, 5, 6});

Result<std::unique_ptr<TensorFile>> open(const std::string& bytes) {
  const TemporaryFile file(bytes);
  return open_tensor_file(file.path());
}

Result<std::unique_ptr<TensorFile>> open_pickle(const std::string& pickle) {
  return open(make_checkpoint(pickle, {six_floats}));
}

std::vector<float> read(TensorFile& file, std::size_t index) {
  std::vector<float> values(static_cast<std::size_t>(file.tensors()[index].elements));
  const Status status = file.read_float(index, values);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return values;
}

std::vector<float> read_one(const Tensor& tensor, const std::string& storage) {
  auto file = open(make_checkpoint(pickle_of("a", tensor), {storage}));
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? read(**file, 0) : std::vector<float>{};
}

TEST(TorchCheckpoint, GroupsTensorsAndKeepsScalars) {
  PickleWriter writer;
  writer.raw("}(").text("step").integer(30000).text("name").text("x").text("on").raw("\x88");
  writer.text("rate")
      .raw({"G\x3F\xE0\0\0\0\0\0\0", 9})
      .text("nothing")
      .raw("N")
      .text("list")
      .raw("]");
  writer.text("loose").tensor();
  writer.text("model").raw("}(").text("a.weight").tensor().text("count").integer(3).raw("u");
  writer.text("deep").raw("}(").text("state").raw("}(").integer(0).tensor().raw("uuu");
  auto result = open_pickle(writer.finish());
  ASSERT_TRUE(result.ok()) << result.error().message;
  const TensorFile& file = **result;
  EXPECT_EQ(file.groups(), (std::vector<std::string>{"", "model", "deep"}));
  EXPECT_EQ(file.metadata(),
            (std::map<std::string, std::string>{
                {"step", "30000"}, {"name", "x"}, {"on", "true"}, {"rate", "0.5"}}));
  EXPECT_EQ(file.find("", "loose"), 0U);
  EXPECT_EQ(file.find("model", "a.weight"), 1U);
  EXPECT_EQ(file.find("deep", "state.0"), 2U);
  EXPECT_EQ(file.find("", "a.weight"), std::nullopt);
}

TEST(TorchCheckpoint, ReadsEveryType) {
  const std::vector<float> expected = {1, 0, 1};
  const auto expect_type = [&](const std::string& type, DType dtype, const std::string& storage) {
    const Tensor tensor = {.type = type, .storage_elements = 3, .shape = {3}, .strides = {1}};
    auto file = open(make_checkpoint(pickle_of("a", tensor), {storage}));
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ((*file)->tensors()[0].dtype, dtype) << type;
    EXPECT_EQ(read(**file, 0), expected) << type;
  };
  expect_type("DoubleStorage", DType::kF64, bytes_of<double>({1, 0, 1}));
  expect_type("FloatStorage", DType::kF32, bytes_of<float>({1, 0, 1}));
  expect_type("HalfStorage", DType::kF16, bytes_of<std::uint16_t>({0x3C00, 0, 0x3C00}));
  expect_type("BFloat16Storage", DType::kBF16, bytes_of<std::uint16_t>({0x3F80, 0, 0x3F80}));
  expect_type("LongStorage", DType::kI64, bytes_of<std::int64_t>({1, 0, 1}));
  expect_type("IntStorage", DType::kI32, bytes_of<std::int32_t>({1, 0, 1}));
  expect_type("ShortStorage", DType::kI16, bytes_of<std::int16_t>({1, 0, 1}));
  expect_type("CharStorage", DType::kI8, bytes_of<std::int8_t>({1, 0, 1}));
  expect_type("ByteStorage", DType::kU8, bytes_of<std::uint8_t>({1, 0, 1}));
  expect_type("BoolStorage", DType::kBool, bytes_of<std::uint8_t>({1, 0, 1}));
}

TEST(TorchCheckpoint, GathersViews) {
  EXPECT_EQ(read_one({}, six_floats), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_one({.shape = {3, 2}, .strides = {1, 3}}, six_floats),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(read_one({.offset = 1, .shape = {2, 2}, .strides = {3, 1}}, six_floats),
            (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(read_one({.offset = 2, .shape = {3}, .strides = {1}}, six_floats),
            (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(read_one({.shape = {3, 1}, .strides = {2, 2147483647}}, six_floats),
            (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(read_one({.offset = 5, .shape = {}, .strides = {}}, six_floats),
            (std::vector<float>{6}));
  EXPECT_TRUE(read_one({.shape = {0, 3}}, six_floats).empty());
  EXPECT_TRUE(read_one({.storage_elements = 0, .shape = {0, 3}}, "").empty());
}

// Larger than one piece, so that pieces must join without a seam.
TEST(TorchCheckpoint, ReadsInPieces) {
  constexpr std::int32_t kRows = 701;
  constexpr std::int32_t kColumns = 499;
  std::vector<float> values(std::size_t{kRows} * kColumns);
  std::iota(values.begin(), values.end(), 0.0F);
  const std::string storage = bytes_of(values);
  Tensor tensor = {
      .storage_elements = kRows * kColumns, .shape = {kRows, kColumns}, .strides = {kColumns, 1}};
  EXPECT_EQ(read_one(tensor, storage), values);
  tensor.shape = {kColumns, kRows};
  tensor.strides = {1, kColumns};
  const std::vector<float> transposed = read_one(tensor, storage);
  ASSERT_EQ(transposed.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(transposed[i], values[i % kRows * kColumns + i / kRows]) << i;
  }
}

TEST(TorchCheckpoint, ReadsIntegersAndBytes) {
  const std::vector<std::int64_t> expected = {std::numeric_limits<std::int64_t>::min(), -1, 7};
  const std::string storage = bytes_of(expected);
  const Tensor tensor = {
      .type = "LongStorage", .storage_elements = 3, .shape = {3}, .strides = {1}};
  auto file = open(make_checkpoint(pickle_of("a", tensor), {storage}));
  ASSERT_TRUE(file.ok()) << file.error().message;
  std::string bytes(storage.size(), '\0');
  ASSERT_TRUE((*file)->read_bytes(0, std::as_writable_bytes(std::span(bytes))).ok());
  EXPECT_EQ(bytes, storage);
  std::vector<float> rounded(3);
  ASSERT_TRUE((*file)->read_float(0, rounded).ok());
  EXPECT_EQ(rounded, (std::vector<float>{-0x1p63F, -1, 7}));
}

TEST(TorchCheckpoint, ChecksStoragesWhenRead) {
  std::string bytes = make_checkpoint(pickle_of("a", {.shape = {2}, .strides = {1}}), {six_floats});
  bytes[bytes.find(six_floats) + six_floats.size() - 1] ^= 1;  // beyond the tensor, in its storage
  const TemporaryFile temporary(bytes);
  auto file = open_tensor_file(temporary.path());
  ASSERT_TRUE(file.ok()) << file.error().message;
  std::vector<float> values(2);
  expect_error((*file)->read_float(0, values), "the file is damaged; copy or download it again");
}

TEST(TorchCheckpoint, RefusesTensorsOutsideTheirStorage) {
  const auto refused = [](const Tensor& tensor) {
    expect_error(open_pickle(pickle_of("a", tensor)), "leaves its storage of 6 elements");
  };
  refused({.offset = 1});
  refused({.shape = {2, 4}});
  refused({.strides = {4, 1}});
  refused({.strides = {2147483647, 2147483647}});
  refused({.shape = {2147483647, 2147483647, 2147483647}, .strides = {0, 0, 0}});
  refused({.offset = 6, .shape = {}, .strides = {}});
  expect_error(open_pickle(pickle_of("a", {.shape = {2147483647}, .strides = {0}})),
               "tensor `a` repeats its storage's 6 elements to 2147483647");
}

TEST(TorchCheckpoint, RefusesStoragesThatDisagree) {
  expect_error(open_pickle(pickle_of("a", {.key = "9"})),
               "its pickle names the zip entry `any/data/9`, which is missing");
  expect_error(open_pickle(pickle_of("a", {.storage_elements = 7})),
               "`any/data/0` has 24 bytes, expected 7 float32 elements");
  expect_error(open_pickle(pickle_of("a", {.type = "DoubleStorage"})),
               "`any/data/0` has 24 bytes, expected 6 float64 elements");
}

// A flag that torch keeps beside the stored values, such as `neg` of an imaginary part's view.
TEST(TorchCheckpoint, RefusesTensorsThatWaitForAnOperation) {
  const auto with_metadata = [](std::string_view metadata) {
    PickleWriter pickle;
    pickle.raw("}").text("a").global("torch._utils", "_rebuild_tensor_v2").raw("(");
    pickle.storage("FloatStorage", "0", 6).integer(0).tuple({6}).tuple({1}).raw("\x89");
    pickle.global("collections", "OrderedDict").raw(")R").raw(metadata).raw("tRs");
    return open_pickle(pickle.finish());
  };
  EXPECT_TRUE(with_metadata("}").ok());
  expect_error(with_metadata({"}X\3\0\0\0neg\x88s", 11}), "a tensor waits for an operation");
  expect_error(with_metadata("N"), "a tensor waits for an operation");
}

TEST(TorchCheckpoint, SkipsLongTexts) {
  PickleWriter pickle;
  pickle.raw("}(").text("short").text(std::string(1000, 'x'));
  pickle.text("long").text(std::string(1001, 'x')).text("a").tensor().raw("u");
  const auto file = open_pickle(pickle.finish());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ((*file)->metadata().size(), 1U);
  EXPECT_TRUE((*file)->metadata().contains("short"));
}

TEST(TorchCheckpoint, RefusesOtherContent) {
  expect_error(open_pickle(PickleWriter().tensor().finish()), "holds a single value, expected");
  expect_error(open_pickle(PickleWriter().raw("}").finish()), "holds no tensors");
  expect_error(
      open_pickle(PickleWriter().raw("}(").text("a").tensor().text("a").tensor().raw("u").finish()),
      "tensor `a` is there twice");
  expect_error(
      open_pickle(
          PickleWriter().raw("}(").text("a").integer(1).text("a").integer(2).raw("u").finish()),
      "`a` is there twice");
  expect_error(open_pickle(pickle_of(std::string(513, 'a'), {})),
               "has 513 bytes, expected at most 512");
  expect_error(
      open_pickle(PickleWriter().global("os", "system").text("touch x").raw("\x85R").finish()),
      "names `os.system`");
}

TEST(TorchCheckpoint, EndsWalksThatWouldNot) {
  // {"g": d} where d = {"g": d}.
  PickleWriter cycle;
  cycle.raw({"}q\0", 3}).text("g").raw({"h\0s", 3});
  expect_error(open_pickle(cycle.finish()), "dictionaries nested deeper than 16");
  // Each of 10 dictionaries holds the one before 10 times; a list nobody reads holds them all.
  PickleWriter tenfold;
  tenfold.raw("}").text("list").raw("](").raw({"}q\0", 3});
  for (char level = 0; level < 10; ++level) {
    tenfold.raw("}(");
    for (std::int32_t i = 0; i < 10; ++i) {
      tenfold.integer(i).raw("h").raw({&level, 1});
    }
    const char next = static_cast<char>(level + 1);
    tenfold.raw("uq").raw({&next, 1});
  }
  tenfold.raw("es").text("g").raw("h\x0As");
  expect_error(open_pickle(tenfold.finish()), "more than 1000000 values in its dictionaries");
}

TEST(TorchCheckpoint, RefusesOtherArchives) {
  expect_error(open(make_zip({{"a.npy", "x"}})), "a NumPy archive (.npz)");
  expect_error(open(make_zip({{"word/document.xml", "x"}})),
               "a zip archive with 0 entries `<folder>/data.pkl`, expected one");
  expect_error(open(make_zip({{"a/data.pkl", "x"}, {"b/data.pkl", "x"}})), "with 2 entries");
  expect_error(open(make_checkpoint(pickle_of("a", {}), {six_floats}, "big")),
               "byte order `big`, expected `little`");
}

TEST(TorchCheckpoint, ReadsOneWithoutByteOrder) {
  const auto file =
      open(make_zip({{"old/data.pkl", pickle_of("a", {})}, {"old/data/0", six_floats}}));
  EXPECT_TRUE(file.ok()) << file.error().message;
}

}  // namespace
}  // namespace mezzotint::testing
