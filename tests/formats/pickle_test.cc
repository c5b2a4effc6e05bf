#include "formats/pickle.h"

#include <gtest/gtest.h>

#include <limits>

#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

Result<Pickle> parse(const std::string& pickle) {
  return read_pickle(std::as_bytes(std::span(pickle)), "file.pt");
}

Result<Pickle> parse_body(std::string_view body) {
  return parse(PickleWriter().raw(body).finish());
}

template <typename T>
T root_of(const std::string& pickle) {
  const auto result = parse(pickle);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::get<T>(result->nodes[result->root]) : T{};
}

std::string body(std::string_view bytes) {
  return PickleWriter().raw(bytes).finish();
}

TEST(Pickle, ReadsScalars) {
  EXPECT_EQ(root_of<std::int64_t>(body("J\xFE\xFF\xFF\xFF")), -2);
  EXPECT_EQ(root_of<std::int64_t>(body("K\xFE")), 254);
  EXPECT_EQ(root_of<std::int64_t>(body("M\xFE\xFF")), 65534);
  EXPECT_EQ(root_of<std::int64_t>(body("\x8A\x00"sv)), 0);
  EXPECT_EQ(root_of<std::int64_t>(body("\x8A\x01\x80")), -128);
  EXPECT_EQ(root_of<std::int64_t>(body("\x8A\x05\x00\x00\x00\x00\x01"sv)), std::int64_t{1} << 32);
  EXPECT_EQ(root_of<std::int64_t>(body("\x8A\x08\x00\x00\x00\x00\x00\x00\x00\x80"sv)),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(root_of<double>(body("G\x3F\xF8\x00\x00\x00\x00\x00\x00"sv)), 1.5);
  EXPECT_EQ(root_of<std::string>(PickleWriter().text("name").finish()), "name");
  EXPECT_TRUE(root_of<bool>(body("\x88")));
  EXPECT_FALSE(root_of<bool>(body("\x89")));
}

TEST(Pickle, ReadsContainersAndMemo) {
  // [(), (1,), (1, 2), (1, 2, 3)] by every tuple opcode, the 1 remembered and recalled.
  const auto pickle = parse_body(
      "](K\x01q\x00)h\x00\x85h\x00K\x02\x86h\x00K\x02K\x03\x87"sv
      "(j\x00\x00\x00\x00te"sv);
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  const auto& list = std::get<PickleSequence>(pickle->nodes[pickle->root]);
  EXPECT_FALSE(list.is_tuple);
  ASSERT_EQ(list.items.size(), 6U);
  const std::size_t sizes[] = {0, 1, 2, 3, 1};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& tuple = std::get<PickleSequence>(pickle->nodes[list.items[i + 1]]);
    EXPECT_TRUE(tuple.is_tuple);
    EXPECT_EQ(tuple.items.size(), sizes[i]);
  }
}

TEST(Pickle, SkipsAttributesOfOrderedDict) {
  PickleWriter writer;
  writer.global("collections", "OrderedDict").raw(")R").text("a").integer(1).raw("s");
  writer.raw("}").text("_metadata").raw("}sb");
  const auto dict = root_of<PickleDict>(writer.finish());
  EXPECT_EQ(dict.items.size(), 1U);
}

TEST(Pickle, ReadsTensorsAndParameters) {
  const auto tensor = root_of<PickleTensor>(PickleWriter()
                                                .tensor({.type = "HalfStorage",
                                                         .key = "7",
                                                         .storage_elements = 9,
                                                         .offset = 2,
                                                         .shape = {2, 3},
                                                         .strides = {1, 2}})
                                                .finish());
  EXPECT_EQ(tensor.offset, 2);
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.strides, (std::vector<std::int64_t>{1, 2}));

  PickleWriter parameter;
  parameter.global("torch._utils", "_rebuild_parameter").raw("(").tensor().raw("\x88");
  parameter.global("collections", "OrderedDict").raw(")RtR");
  EXPECT_EQ(root_of<PickleTensor>(parameter.finish()).offset, 0);

  PickleWriter size;
  size.global("torch", "Size").raw("(").tuple({4, 5}).raw("tR");
  EXPECT_EQ(root_of<PickleSequence>(size.finish()).items.size(), 2U);
}

TEST(Pickle, RefusesEveryOtherName) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"os", "system"},
      {"posix", "system"},
      {"builtins", "eval"},
      {"__builtin__", "getattr"},
      {"torch.storage", "_load_from_bytes"},
      {"torch.storage", "UntypedStorage"},
      {"torch", "load"},
      {"collections", "defaultdict"},
      {"torch.nn.modules.linear", "Linear"},
  };
  for (const auto& [module, name] : names) {
    const auto result =
        parse(PickleWriter().global(module, name).raw("(").text("touch x").raw("tR").finish());
    expect_error(result, "file.pt: names `" + std::string(module) + "." + std::string(name) +
                             "`, which is not a tensor or a plain container; nothing in the file "
                             "was executed");
  }
}

TEST(Pickle, NamesKindsOfTensorsThatAreNotRead) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"torch", "ComplexFloatStorage"},           {"torch", "QInt8Storage"},
      {"torch._utils", "_rebuild_tensor_v3"},     {"torch._utils", "_rebuild_qtensor"},
      {"torch._utils", "_rebuild_sparse_tensor"},
  };
  for (const auto& [module, name] : names) {
    const auto result = parse(PickleWriter().global(module, name).raw(")R").finish());
    expect_error(result, "file.pt: names `" + std::string(module) + "." + std::string(name) +
                             "`, a kind of tensor that is not read");
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  }
}

TEST(Pickle, RefusesEveryOtherOpcode) {
  const std::string known = "(N\x88\x89JKM\x8AGX)t\x85\x86\x87]ae}suqrhjcRbQ.";
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (known.find(static_cast<char>(opcode)) == std::string::npos) {
      expect_error(parse_body(std::string(1, static_cast<char>(opcode))),
                   "is none that torch.save writes");
    }
  }
}

TEST(Pickle, RefusesOtherProtocols) {
  expect_error(parse("\x80\x04N."), "uses pickle protocol 4, expected 2");
  expect_error(parse("N."), "does not begin as a pickle does");
  expect_error(parse(""), "does not begin as a pickle does");
}

TEST(Pickle, RefusesEveryTruncation) {
  const std::string whole = pickle_of("a", {});
  ASSERT_TRUE(parse(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_error(parse(whole.substr(0, size)), "file.pt: damaged pickle at byte");
  }
}

TEST(Pickle, RefusesStackAbuse) {
  for (const std::string_view bytes :
       {"t"sv, "\x85"sv, "N\x86"sv, "(N\x86"sv, "a"sv, "Na"sv, "e"sv, "(e"sv, "s"sv, "}Ns"sv,
        "](Na"sv, "u"sv, "R"sv, "b"sv, "Q"sv}) {
    expect_error(parse_body(bytes), "too few values");
  }
  expect_error(parse_body("NN"), "does not stop with exactly one value");
  expect_error(parse_body("(N"), "does not stop with exactly one value");
  expect_error(parse_body("N.N"), "does not stop with exactly one value");
  expect_error(parse_body("q\x00"sv), "remembered out of order");
  expect_error(parse_body("Nq\x01"sv), "remembered out of order");
  expect_error(parse_body("Nr\xFF\xFF\xFF\xFF"sv), "remembered out of order");
  expect_error(parse_body("h\x00"sv), "recalled that was never remembered");
}

TEST(Pickle, RefusesWrongTypes) {
  expect_error(parse_body("NNa"), "something else than a list");
  expect_error(parse_body(")Na"), "something else than a list");
  expect_error(parse_body("]NNs"), "something else than a dictionary");
  expect_error(parse_body("}(Nu"), "something else than a dictionary");
  expect_error(parse_body("})Ns"), "neither a string nor an integer");
  expect_error(parse_body("]}b"), "attributes are set on something else");
  expect_error(parse_body("N)R"), "calls something that is not a tensor");
  expect_error(parse_body("NQ"), "a storage is built from other values");
  expect_error(parse(PickleWriter().global("torch", "FloatStorage").raw(")R").finish()),
               "a storage or a dtype is built from other values");
  expect_error(parse(PickleWriter().global("torch", "Size").raw(")R").finish()),
               "a torch.Size is built from other values");
  expect_error(
      parse(PickleWriter().global("collections", "OrderedDict").tuple({1}).raw("R").finish()),
      "an OrderedDict is built from other values");
  expect_error(
      parse(
          PickleWriter().global("torch._utils", "_rebuild_parameter").tuple({1}).raw("R").finish()),
      "a parameter is built from other values");
}

TEST(Pickle, RefusesBadTensors) {
  const auto refused = [](const PickleWriter::Tensor& tensor, std::string_view part) {
    expect_error(parse(pickle_of("a", tensor)), part);
  };
  refused({.storage_elements = -1}, "a storage is built from other values");
  refused({.key = std::string(65, '1')}, "a storage is built from other values");
  refused({.offset = -1}, "begins at element -1");
  refused({.shape = {-2, 3}}, "a tensor is built from other values");
  refused({.strides = {-3, 1}}, "a tensor is built from other values");
  refused({.strides = {1}}, "a tensor is built from other values");
  refused({.shape = std::vector<std::int32_t>(17, 1), .strides = std::vector<std::int32_t>(17, 1)},
          "a tensor is built from other values");
  refused({.type = "Size"}, "a storage is built from other values");
}

TEST(Pickle, BoundsEverySize) {
  expect_error(parse_body("\x8A\x09" + std::string(9, '\x01')), "an integer of 9 bytes");
  expect_error(parse_body("\x8A\xFF\x01"), "an integer is cut");
  expect_error(parse_body("X\xFF\xFF\xFF\xFF"),
               "a string of 4294967295 bytes, expected at most 65536");
  expect_error(parse_body("c" + std::string(1000, 'a') + "\nb\n"), "a name is cut or too long");
  expect_error(parse_body("]" + std::string(2U << 20, '(')), "more than 1048576 pickle opcodes");
  ASSERT_TRUE(parse_body(")" + std::string(100'000, '\x85')).ok());
}

}  // namespace
}  // namespace mezzotint::testing
