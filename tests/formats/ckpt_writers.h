// Writers of small zip archives, pickles and torch checkpoints, right or wrong on purpose. Shared
// by the tests of the readers and the seeds of their fuzz targets.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint::testing {

// Files are byte strings here: they are compared, patched and concatenated.
struct ZipItem {
  std::string name;
  std::string content;
};

struct ZipStyle {
  bool zip64_end = true;    // as torch writes
  bool descriptors = true;  // local headers without sizes, as torch writes
};

[[nodiscard]] std::string make_zip(const std::vector<ZipItem>& items, const ZipStyle& style = {});

// Offset of the nth record with this signature, such as "PK\1\2".
[[nodiscard]] std::size_t find_record(const std::string& zip, std::string_view signature,
                                      int nth = 0);

template <typename T>
void patch(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// Emits opcodes; values nest as the calls do.
class PickleWriter {
 public:
  PickleWriter& raw(std::string_view bytes);
  PickleWriter& text(std::string_view text);
  PickleWriter& integer(std::int32_t value);
  PickleWriter& tuple(const std::vector<std::int32_t>& values);
  PickleWriter& global(std::string_view module, std::string_view name);
  PickleWriter& storage(std::string_view type, std::string_view key, std::int32_t elements);

  struct Tensor {
    std::string type = "FloatStorage";
    std::string key = "0";
    std::int32_t storage_elements = 6;
    std::int32_t offset = 0;
    std::vector<std::int32_t> shape = {2, 3};
    std::vector<std::int32_t> strides = {3, 1};
  };
  PickleWriter& tensor(const Tensor& tensor);
  PickleWriter& tensor() { return tensor(Tensor{}); }

  // With the protocol before and the stop after.
  [[nodiscard]] std::string finish() const { return "\x80\x02" + bytes_ + "."; }

 private:
  std::string bytes_;
};

// The pickle of {name: tensor}.
[[nodiscard]] std::string pickle_of(std::string_view name, const PickleWriter::Tensor& tensor);

// A checkpoint around `pickle`, whose storages are `data/0`, `data/1`, ...
[[nodiscard]] std::string make_checkpoint(const std::string& pickle,
                                          const std::vector<std::string>& storages,
                                          std::string_view byte_order = "little");

// The bytes of these values.
template <typename T>
[[nodiscard]] std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Header length, header, data.
[[nodiscard]] std::string make_safetensors(std::string_view header, std::string_view data);

}  // namespace mezzotint::testing
