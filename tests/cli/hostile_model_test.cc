// Model files that lie about themselves: each ends in one line, leaves nothing behind, and takes no
// more memory than its own size accounts for.
#include <fmt/format.h>

#include <functional>
#include <limits>

#include "cli/generate_test_base.h"
#include "cli/torch_inputs.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

using namespace std::string_literals;
using Tensor = PickleWriter::Tensor;

struct HostileFile {
  const char* name;
  std::function<std::string()> make;
  std::vector<std::string> parts;  // of the line
};

void PrintTo(const HostileFile& file, std::ostream* out) {
  *out << file.name;
}

const std::string six_floats = bytes_of<float>({1, 2, 3, 4, 5, 6});

std::string around(const std::string& pickle) {
  return make_checkpoint(pickle, {six_floats});
}

std::string one_tensor(const Tensor& tensor) {
  return around(pickle_of("a", tensor));
}

// A 64-bit integer.
std::string long1(std::int64_t value) {
  return "\x8A\x08"s + bytes_of<std::int64_t>({value});
}

// {"a": tensor} whose shape and strides are given as pickled tuples.
std::string tensor_of(const std::string& shape, const std::string& strides) {
  return around(PickleWriter()
                    .raw("}")
                    .text("a")
                    .global("torch._utils", "_rebuild_tensor_v2")
                    .raw("(")
                    .storage("FloatStorage", "0", 6)
                    .integer(0)
                    .raw(shape)
                    .raw(strides)
                    .raw("\x89")
                    .global("collections", "OrderedDict")
                    .raw(")RtRs")
                    .finish());
}

std::string repeated(std::string_view unit, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += unit;
  }
  return text;
}

std::string body(std::string_view bytes) {
  return around(PickleWriter().raw(bytes).finish());
}

// A good archive in which the field at `offset` of the nth record with this signature is changed.
template <typename T>
std::string patched(std::string_view signature, std::size_t offset, T value, int nth = 0) {
  std::string zip = one_tensor({});
  patch(zip, find_record(zip, signature, nth) + offset, value);
  return zip;
}

// safetensors with this header and 8 bytes of data.
std::string header(std::string_view text) {
  return make_safetensors(text, std::string(8, '\0'));
}

std::string one_entry(std::string_view fields) {
  return header("{\"a\":{"s.append(fields) + "}}");
}

// ---- Archives ----

std::string with_entry_sizes_of_zip64(std::uint64_t size) {
  constexpr std::size_t kStored = 20;
  constexpr std::size_t kExtraSize = 30;
  constexpr std::size_t kName = 46;
  std::string zip = make_zip({{"any/data.pkl", "N."}}, {.zip64_end = false, .descriptors = false});
  const std::size_t central = find_record(zip, "PK\x01\x02");
  patch<std::uint64_t>(zip, central + kStored, ~std::uint64_t{0});
  patch<std::uint16_t>(zip, central + kExtraSize, 20);
  zip.insert(central + kName + "any/data.pkl"s.size(),
             bytes_of<std::uint16_t>({1, 16}) + bytes_of<std::uint64_t>({size, size}));
  const std::size_t end = find_record(zip, "PK\x05\x06");
  patch<std::uint32_t>(zip, end + 12, static_cast<std::uint32_t>(end - central));
  return zip;
}

std::string with_entries_of_zip64(std::uint64_t count) {
  std::string zip = one_tensor({});
  const std::size_t end64 = find_record(zip, "PK\x06\x06");
  patch(zip, end64 + 24, count);
  patch(zip, end64 + 32, count);
  patch<std::uint32_t>(zip, find_record(zip, "PK\x05\x06") + 8, 0xFFFFFFFF);
  return zip;
}

std::string with_directory_of_zip64(std::uint64_t size) {
  std::string zip = one_tensor({});
  patch(zip, find_record(zip, "PK\x06\x06") + 40, size);
  patch<std::uint32_t>(zip, find_record(zip, "PK\x05\x06") + 12, 0xFFFFFFFF);
  return zip;
}

const HostileFile archives[] = {
    {"Deflated",
     [] { return patched<std::uint16_t>("PK\x01\x02", 10, 8); },
     {"zip entry `any/data.pkl` is compressed"}},
    {"Encrypted",
     [] { return patched<std::uint16_t>("PK\x01\x02", 8, 0x0809); },
     {"zip entry `any/data.pkl` is encrypted"}},
    {"Overlapping",
     [] { return patched<std::uint32_t>("PK\x01\x02", 42, 0, 1); },
     {"zip entry", "overlaps what follows it"}},
    {"Duplicate",
     [] {
       return make_zip({{"a/data.pkl", "N."}, {"a/data.pkl", "N."}});
     },
     {"zip entry `a/data.pkl` is there twice"}},
    {"LocalHeaderDiffers",
     [] { return patched<std::uint16_t>("PK\x03\x04", 8, 8); },
     {"differs between its local header and the directory"}},
    {"Zip64EntryOfAnExabyte",
     [] { return with_entry_sizes_of_zip64(std::uint64_t{1} << 60); },
     {"`any/data.pkl` overlaps what follows it"}},
    {"Zip64EntryThatWraps",
     [] { return with_entry_sizes_of_zip64(~std::uint64_t{0}); },
     {"`any/data.pkl` overlaps what follows it"}},
    {"Zip64OfManyEntries",
     [] { return with_entries_of_zip64(std::uint64_t{1} << 60); },
     {"damaged zip archive: 1152921504606846976 entries in a directory of"}},
    {"Zip64DirectoryThatWraps",
     [] { return with_directory_of_zip64(~std::uint64_t{0}); },
     {"damaged zip archive: its directory", "does not end at byte"}},
    {"WithoutAPickle",
     [] {
       return make_zip({{"any/data/0", six_floats}});
     },
     {"a zip archive with 0 entries `<folder>/data.pkl`"}},
    {"WithTwoPickles",
     [] {
       return make_zip({{"a/data.pkl", "N."}, {"b/data.pkl", "N."}});
     },
     {"a zip archive with 2 entries `<folder>/data.pkl`"}},
    {"BytesAppended", [] { return one_tensor({}) + "x"; }, {"is truncated or has bytes appended"}},
    {"BigEndian",
     [] { return make_checkpoint(pickle_of("a", {}), {six_floats}, "big"); },
     {"byte order `big`, expected `little`"}},
};

// ---- Pickles ----

std::string with_other_types(std::string_view module, std::string_view name) {
  return around(PickleWriter().raw("}").text("a").global(module, name).raw("s").finish());
}

// Dictionaries of ten entries, each the one before: 10^levels values in a few hundred bytes.
std::string tenfold(int levels) {
  PickleWriter pickle;
  pickle.raw("}").text("list").raw("](").raw({"}q\0", 3});
  for (int level = 0; level < levels; ++level) {
    pickle.raw("}(");
    for (std::int32_t i = 0; i < 10; ++i) {
      pickle.integer(i).raw("h").raw(std::string(1, static_cast<char>(level)));
    }
    pickle.raw("uq").raw(std::string(1, static_cast<char>(level + 1)));
  }
  pickle.raw("es").text("ema").raw("h").raw(std::string(1, static_cast<char>(levels))).raw("s");
  return around(pickle.finish());
}

// One text of 64 KB as the value of a thousand names.
std::string one_text_often() {
  PickleWriter pickle;
  pickle.raw("}").text("0").text(std::string(65536, 'x')).raw({"q\0s", 3});
  for (int i = 1; i <= 1000; ++i) {
    pickle.text(std::to_string(i)).raw({"h\0s", 3});
  }
  return around(pickle.finish());
}

std::string waiting_for_a_negation() {
  return around(PickleWriter()
                    .raw("}")
                    .text("a")
                    .global("torch._utils", "_rebuild_tensor_v2")
                    .raw("(")
                    .storage("FloatStorage", "0", 6)
                    .integer(0)
                    .tuple({6})
                    .tuple({1})
                    .raw("\x89")
                    .global("collections", "OrderedDict")
                    .raw(")R}")
                    .text("neg")
                    .raw("\x88stRs")
                    .finish());
}

const HostileFile pickles[] = {
    {"OffsetBeyondTheStorage",
     [] { return one_tensor({.offset = 1}); },
     {"tensor `a` of shape [2, 3], strides [3, 1], offset 1 leaves its storage of 6 elements"}},
    {"StridesBeyondTheStorage",
     [] {
       return one_tensor({.strides = {4, 1}});
     },
     {"leaves its storage of 6 elements"}},
    {"StridesThatWrap",
     [] { return tensor_of("(K\x03K\x03t", "("s + long1(std::int64_t{1} << 62) + "K\x01t"); },
     {"leaves its storage of 6 elements"}},
    {"ShapeThatWraps",
     [] {
       const std::string side = long1(std::int64_t{1} << 32);
       return tensor_of("("s + side + side + "t", {"(K\0K\0t", 6});
     },
     {"leaves its storage of 6 elements"}},
    {"ShapeOfAnExabyte",
     [] {
       return tensor_of("("s + long1(std::int64_t{1} << 60) + "t", {"(K\0t", 4});
     },
     {"repeats its storage's 6 elements to 1152921504606846976"}},
    {"NegativeStrides",
     [] {
       return one_tensor({.strides = {-3, 1}});
     },
     {"a tensor is built from other values than torch.save writes"}},
    {"NegativeOffset",
     [] { return one_tensor({.offset = -1}); },
     {"a tensor begins at element -1"}},
    {"HugeStorage",
     [] { return one_tensor({.storage_elements = 2147483647}); },
     {"`any/data/0` has 24 bytes, expected 2147483647 float32 elements"}},
    {"StorageMissing",
     [] { return one_tensor({.key = "7"}); },
     {"names the zip entry `any/data/7`, which is missing"}},
    {"StorageKeyWithAPath",
     [] { return one_tensor({.key = "../../etc/passwd"}); },
     {"names the zip entry `any/data/../../etc/passwd`, which is missing"}},
    {"StacksOfMarks",
     [] { return body(repeated("(", 2'000'000)); },
     {"more than 1048576 pickle opcodes"}},
    {"StacksOfValues",
     [] { return body(repeated("N", 2'000'000)); },
     {"more than 1048576 pickle opcodes"}},
    {"StacksOfDictionaries",
     [] { return body(repeated("}", 2'000'000)); },
     {"more than 1048576 pickle opcodes"}},
    {"TuplesInTuples",
     [] { return body(")"s + repeated("\x85", 1'000'000)); },
     {"holds a single value"}},
    {"MemoFarAhead",
     [] {
       return body({"}r\xFF\xFF\xFF\x7F", 6});
     },
     {"a value is remembered out of order"}},
    {"MemoThatFills",
     [] {
       return body("}"s + repeated({"q\0", 2}, 2'000'000));
     },
     {"more than 1048576 pickle opcodes"}},
    {"LongIntegers",
     [] { return body("\x8A\xFF"s + std::string(255, '\x01')); },
     {"an integer of 255 bytes, expected at most 8"}},
    {"IntegersOfGigabytes",
     [] {
       return body({"\x8B\xFF\xFF\xFF\x7F\x01", 6});
     },
     {"pickle opcode 0x8b", "nothing in the file was executed"}},
    {"TextOfGigabytes",
     [] { return body("X\xFF\xFF\xFF\xFFx"); },
     {"a string of 4294967295 bytes, expected at most 65536"}},
    {"DictionariesThatMultiply",
     [] { return tenfold(10); },
     {"more than 1000000 values in its dictionaries"}},
    {"DictionaryInItself",
     [] {
       return body({"}q\0X\3\0\0\0emah\0s", 14});
     },
     {"dictionaries nested deeper than 16 in `ema`"}},
    {"OneTextOften", one_text_often, {"holds no tensors"}},
    {"Complex",
     [] { return one_tensor({.type = "ComplexFloatStorage"}); },
     {"names `torch.ComplexFloatStorage`, a kind of tensor that is not read"}},
    {"Quantized",
     [] { return one_tensor({.type = "QInt8Storage"}); },
     {"names `torch.QInt8Storage`, a kind of tensor that is not read"}},
    {"Float8",
     [] { return with_other_types("torch._utils", "_rebuild_tensor_v3"); },
     {"names `torch._utils._rebuild_tensor_v3`, a kind of tensor that is not read", "float8"}},
    {"Sparse",
     [] { return with_other_types("torch._utils", "_rebuild_sparse_tensor"); },
     {"names `torch._utils._rebuild_sparse_tensor`, a kind of tensor that is not read"}},
    {"WaitingForANegation",
     waiting_for_a_negation,
     {"a tensor waits for an operation", "save its clone()"}},
    {"WholeModules",
     [] { return with_other_types("diffusion_model.unet", "UNet"); },
     {"names `diffusion_model.unet.UNet`, which is not a tensor", "a state_dict"}},
};

// ---- Safetensors ----

std::string many_tensors() {
  std::string text = "{";
  for (int i = 0; i < 1'000'000; ++i) {
    text += fmt::format("{}\"{}", i == 0 ? "" : ",", i);
    text += R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  return header(text + "}");
}

const HostileFile safetensors[] = {
    {"HeaderOfAnExabyte",
     [] {
       std::string file = header("{}");
       patch<std::uint64_t>(file, 0, std::uint64_t{1} << 60);
       return file;
     },
     {"its header claims 1152921504606846976 bytes"}},
    {"HeaderThatWraps",
     [] {
       std::string file = header("{}");
       patch<std::uint64_t>(file, 0, std::numeric_limits<std::int64_t>::max());
       return file;
     },
     {"its header claims 9223372036854775807 bytes"}},
    {"OverlappingOffsets",
     [] {
       return header(R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
                     R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})");
     },
     {"tensor `b` begins at byte 4 of the data, expected 5"}},
    {"GapBetweenTensors",
     [] { return one_entry(R"("dtype":"U8","shape":[4],"data_offsets":[4,8])"); },
     {"tensor `a` begins at byte 4 of the data, expected 0"}},
    {"OffsetsBeyondTheFile",
     [] { return one_entry(R"("dtype":"U8","shape":[9],"data_offsets":[0,9])"); },
     {"tensor `a` ends at byte 9 of the data, but the file has 8"}},
    {"DuplicateKeys",
     [] {
       return header(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                     R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})");
     },
     {"`a` is there twice"}},
    {"WrongLength",
     [] { return one_entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"); },
     {"tensor `a` has 8 bytes, which do not fit F32 of shape [3]"}},
    {"ShapeThatWraps",
     [] {
       return one_entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])");
     },
     {"do not fit F32 of shape [4294967296, 4294967296]"}},
    {"Nested",
     [] { return header("{\"a\":"s + std::string(1'000'000, '[')); },
     {"an array stands where none belongs"}},
    {"ManyTensors", many_tensors, {"more than 100000 tensors"}},
    {"Float8",
     [] { return one_entry(R"("dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8])"); },
     {"tensor `a` has dtype `F8_E5M2`, expected F64, F32"}},
    {"Complex",
     [] { return one_entry(R"("dtype":"C64","shape":[1],"data_offsets":[0,8])"); },
     {"tensor `a` has dtype `C64`, expected F64, F32"}},
};

class HostileModel : public GenerateTest, public ::testing::WithParamInterface<HostileFile> {};

std::string name_of_case(const ::testing::TestParamInfo<HostileFile>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Archives, HostileModel, ::testing::ValuesIn(archives), name_of_case);
INSTANTIATE_TEST_SUITE_P(Pickles, HostileModel, ::testing::ValuesIn(pickles), name_of_case);
INSTANTIATE_TEST_SUITE_P(Safetensors, HostileModel, ::testing::ValuesIn(safetensors), name_of_case);

// A value of a pickle takes 72 bytes and a vector of them twice that while it grows, whence 216
// bytes for each of the million opcodes that are allowed. Everything else stays within a few copies
// of the file.
TEST_P(HostileModel, EndsInOneLine) {
  const Flags flags = with("--model", in_folder("hostile.pt").string());
  const std::uint64_t without = run(flags).peak_bytes;
  write_text(in_folder("hostile.pt"), GetParam().make());
  const std::uint64_t size = std::filesystem::file_size(in_folder("hostile.pt"));
  std::vector<std::string> parts = GetParam().parts;
  parts.emplace_back("hostile.pt: ");
  const CommandResult result = expect_refused(flags, parts);
  EXPECT_LT(result.peak_bytes, without + 216 * std::min<std::uint64_t>(size, 1 << 20) + 4 * size +
                                   (std::uint64_t{8} << 20));
}

}  // namespace
}  // namespace mezzotint::testing
