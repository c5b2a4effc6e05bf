#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadataKey = "__metadata__";

struct DTypeName {
  DType dtype;
  std::string_view name;
};

constexpr DTypeName kDTypeNames[] = {
    {DType::kF64, "F64"}, {DType::kF32, "F32"},   {DType::kF16, "F16"}, {DType::kBF16, "BF16"},
    {DType::kI64, "I64"}, {DType::kI32, "I32"},   {DType::kI16, "I16"}, {DType::kI8, "I8"},
    {DType::kU8, "U8"},   {DType::kBool, "BOOL"},
};

struct HeaderEntry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;  // from the end of the header
};

// Receives the header's JSON piece by piece. Anything but the format's own structure ends the
// parse, so neither depth nor width of hostile JSON costs memory.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::vector<HeaderEntry>& entries() const { return entries_; }
  [[nodiscard]] std::map<std::string, std::string>& metadata() { return metadata_; }

  bool start_object(std::size_t /*elements*/) override {
    switch (level_) {
      case Level::kStart: level_ = Level::kTop; return true;
      case Level::kTop: level_ = is_metadata_ ? Level::kMetadata : Level::kTensor; return true;
      case Level::kMetadata:
      case Level::kTensor:
      case Level::kNumbers: break;
    }
    return fail("an object stands where none belongs");
  }

  bool end_object() override {
    if (level_ == Level::kTensor) {
      const HeaderEntry& entry = entries_.back();
      if (!entry.dtype || !entry.shape || !entry.offsets) {
        return fail("tensor " + in_quotes(entry.name) + " lacks dtype, shape or data_offsets");
      }
    }
    level_ = Level::kTop;
    return true;
  }

  bool key(std::string& text) override {
    if (level_ == Level::kTop) {
      return start_entry(text);
    }
    key_ = text;
    if (level_ == Level::kMetadata) {
      return !metadata_.contains(text) || fail("metadata " + in_quotes(text) + " is there twice");
    }
    const HeaderEntry& entry = entries_.back();
    const bool twice = (text == "dtype" && entry.dtype) || (text == "shape" && entry.shape) ||
                       (text == "data_offsets" && entry.offsets);
    return !twice || fail(in_quotes(text) + " is there twice in tensor " + in_quotes(entry.name));
  }

  bool string(std::string& text) override {
    if (level_ == Level::kMetadata) {
      metadata_.emplace(key_, text);
      return true;
    }
    if (level_ == Level::kTensor && key_ == "dtype") {
      entries_.back().dtype = text;
      return true;
    }
    return fail("a string stands where none belongs");
  }

  bool start_array(std::size_t /*elements*/) override {
    if (level_ == Level::kTensor && key_ == "shape") {
      numbers_ = &entries_.back().shape.emplace();
    } else if (level_ == Level::kTensor && key_ == "data_offsets") {
      numbers_ = &entries_.back().offsets.emplace();
    } else {
      return fail("an array stands where none belongs");
    }
    level_ = Level::kNumbers;
    return true;
  }

  bool end_array() override {
    level_ = Level::kTensor;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (level_ != Level::kNumbers) {
      return fail("a number stands where none belongs");
    }
    if (numbers_->size() == kMostDimensions) {
      return fail("tensor " + in_quotes(entries_.back().name) + " has too many dimensions");
    }
    numbers_->push_back(value);
    return true;
  }

  bool number_integer(std::int64_t /*value*/) override { return fail("a number is negative"); }
  bool number_float(double /*value*/, const std::string& /*text*/) override {
    return fail("a number is not whole");
  }
  bool null() override { return fail("a null stands where none belongs"); }
  bool boolean(bool /*value*/) override { return fail("a boolean stands where none belongs"); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return fail("it is not JSON"); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return fail(fmt::format("it is not JSON at byte {}", kLengthBytes + position));
  }

 private:
  enum class Level { kStart, kTop, kMetadata, kTensor, kNumbers };

  bool start_entry(const std::string& name) {
    if (!names_.insert(name).second) {
      return fail(in_quotes(name) + " is there twice");
    }
    is_metadata_ = name == kMetadataKey;
    if (is_metadata_) {
      return true;
    }
    if (entries_.size() == kMostTensors) {
      return fail(fmt::format("it has more than {} tensors", kMostTensors));
    }
    if (name.size() > kLongestTensorName) {
      return fail(fmt::format("the name {} has {} bytes, more than {}", in_quotes(name),
                              name.size(), kLongestTensorName));
    }
    entries_.push_back({name, {}, {}, {}});
    return true;
  }

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Level level_ = Level::kStart;
  bool is_metadata_ = false;
  std::string key_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
  std::set<std::string> names_;
  std::vector<HeaderEntry> entries_;
  std::map<std::string, std::string> metadata_;
  std::string problem_;
};

class DirectoryReader {
 public:
  explicit DirectoryReader(const InputFile& file) : file_(file) {}

  Result<TensorDirectory> read() {
    std::array<std::byte, kLengthBytes> length_bytes{};
    if (Status status = file_.read_at(0, length_bytes); !status) {
      return status.error();
    }
    std::uint64_t length = 0;
    std::memcpy(&length, length_bytes.data(), sizeof(length));
    if (length > kLargestHeader || length > file_.size() - kLengthBytes) {
      return damaged(
          fmt::format("its header claims {} bytes; expected at most {}, the rest of the "
                      "file, and at most {}",
                      length, file_.size() - kLengthBytes, kLargestHeader));
    }
    std::vector<char> header(length);
    if (Status status = file_.read_at(kLengthBytes, std::as_writable_bytes(std::span(header)));
        !status) {
      return status.error();
    }
    HeaderHandler handler;
    if (header.empty() || header.front() != '{') {
      return damaged("its header does not begin with `{`");
    }
    if (!nlohmann::json::sax_parse(header.begin(), header.end(), &handler)) {
      return damaged("in its header, " + handler.problem());
    }
    return place(handler, kLengthBytes + length);
  }

 private:
  [[nodiscard]] Error damaged(const std::string& what) const {
    return invalid_input("{}: damaged safetensors file: {}; copy or download it again",
                         file_.path().string(), what);
  }

  // The tensors must follow one another without gap or overlap, from the header to the file's end.
  Result<TensorDirectory> place(HeaderHandler& handler, std::uint64_t data_begin) {
    const std::vector<HeaderEntry>& entries = handler.entries();
    for (const HeaderEntry& entry : entries) {
      if (entry.offsets->size() != 2 || (*entry.offsets)[0] > (*entry.offsets)[1]) {
        return damaged(fmt::format("tensor {} has data_offsets [{}], expected a begin and an end",
                                   in_quotes(entry.name), fmt::join(*entry.offsets, ", ")));
      }
    }
    std::vector<const HeaderEntry*> in_order;
    for (const HeaderEntry& entry : entries) {
      in_order.push_back(&entry);
    }
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const auto* a, const auto* b) { return *a->offsets < *b->offsets; });
    TensorDirectory directory;
    directory.metadata = std::move(handler.metadata());
    const std::uint64_t data_bytes = file_.size() - data_begin;
    std::uint64_t end = 0;
    for (const HeaderEntry* next : in_order) {
      const HeaderEntry& entry = *next;
      const std::uint64_t begin = (*entry.offsets)[0];
      if (begin != end) {
        return damaged(fmt::format("tensor {} begins at byte {} of the data, expected {}",
                                   in_quotes(entry.name), begin, end));
      }
      end = (*entry.offsets)[1];
      if (end > data_bytes) {
        return damaged(fmt::format("tensor {} ends at byte {} of the data, but the file has {}",
                                   in_quotes(entry.name), end, data_bytes));
      }
      if (Status status = add(directory, entry, data_begin); !status) {
        return status.error();
      }
    }
    if (end != data_bytes) {
      return damaged(fmt::format("{} bytes follow its last tensor", data_bytes - end));
    }
    return directory;
  }

  Status add(TensorDirectory& directory, const HeaderEntry& entry, std::uint64_t data_begin) const {
    const auto* known =
        std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                     [&](const DTypeName& row) { return row.name == *entry.dtype; });
    if (known == std::end(kDTypeNames)) {
      return unsupported(
          "{}: tensor {} has dtype {}, expected F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL",
          file_.path().string(), in_quotes(entry.name), in_quotes(*entry.dtype));
    }
    constexpr std::uint64_t kLargestDimension = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> shape;
    for (const std::uint64_t dimension : *entry.shape) {
      // A dimension beyond int64 becomes negative, which checked_elements() refuses.
      shape.push_back(dimension > kLargestDimension ? -1 : static_cast<std::int64_t>(dimension));
    }
    const std::uint64_t bytes = (*entry.offsets)[1] - (*entry.offsets)[0];
    const auto elements = checked_elements(shape);
    if (!elements ||
        checked_multiply(static_cast<std::uint64_t>(*elements), size_of(known->dtype)) != bytes) {
      return damaged(fmt::format("tensor {} has {} bytes, which do not fit {} of shape [{}]",
                                 in_quotes(entry.name), bytes, *entry.dtype,
                                 fmt::join(*entry.shape, ", ")));
    }
    std::vector<std::int64_t> strides(shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0 && *elements > 0;) {
      strides[i] = shape[i] == 1 ? 0 : stride;
      stride *= shape[i];
    }
    directory.views.push_back({directory.storages.size(), 0, std::move(strides)});
    directory.storages.push_back({0, data_begin + (*entry.offsets)[0], bytes, std::nullopt});
    directory.tensors.push_back({"", entry.name, known->dtype, std::move(shape), *elements});
    return {};
  }

  const InputFile& file_;
};

}  // namespace

Result<TensorDirectory> read_safetensors_directory(const InputFile& file) {
  return DirectoryReader(file).read();
}

Status write_safetensors(OutputFile& file, std::span<const TensorToWrite> tensors,
                         const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    header[std::string(kMetadataKey)] = metadata;
  }
  std::set<std::string_view> names = {kMetadataKey};
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const auto elements = checked_elements(tensor.shape);
    check(elements &&
              static_cast<std::uint64_t>(*elements) * size_of(tensor.dtype) == tensor.bytes.size(),
          "write_safetensors: bytes disagree with dtype and shape");
    if (!names.insert(tensor.name).second) {
      return invalid_input("{}: tensor {} is given twice or is a reserved name",
                           file.path().string(), in_quotes(tensor.name));
    }
    const auto* dtype =
        std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames),
                     [&](const DTypeName& row) { return row.dtype == tensor.dtype; });
    const std::uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", dtype->name}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    return invalid_input("{}: a tensor's name or the metadata is not UTF-8", file.path().string());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  if (Status status = file.write(std::as_bytes(std::span(&length, 1))); !status) {
    return status;
  }
  if (Status status = file.write(std::as_bytes(std::span(text))); !status) {
    return status;
  }
  for (const TensorToWrite& tensor : tensors) {
    if (Status status = file.write(tensor.bytes); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace mezzotint
