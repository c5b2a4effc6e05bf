#include "cli/torch_inputs.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/dtype.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

constexpr std::int32_t kStep = 30000;

// Nearest; for values below 65504.
std::uint16_t f16_bits(float value) {
  const float size = std::abs(value);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (size < 0x1p-14F) {
    return sign | static_cast<std::uint16_t>(std::lround(size * 0x1p24F));
  }
  const std::uint32_t rounded = std::bit_cast<std::uint32_t>(size) + 0x1000;
  return sign | static_cast<std::uint16_t>((rounded >> 13) - ((127 - 15) << 10));
}

std::uint16_t bf16_bits(float value) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + 0x8000) >> 16);
}

std::string encode(const std::vector<float>& values, const std::string& type) {
  if (type == "FloatStorage") {
    return bytes_of(values);
  }
  if (type == "DoubleStorage") {
    return bytes_of(std::vector<double>(values.begin(), values.end()));
  }
  check(type == "HalfStorage" || type == "BFloat16Storage", "a type that the tests can write");
  std::vector<std::uint16_t> bits;
  for (const float value : values) {
    bits.push_back(type == "HalfStorage" ? f16_bits(value) : bf16_bits(value));
  }
  return bytes_of(bits);
}

// The strides of a dense tensor whose first dimension runs fastest.
std::vector<std::int32_t> column_major_strides(const std::vector<std::int32_t>& shape) {
  std::vector<std::int32_t> strides(shape.size());
  std::exclusive_scan(shape.begin(), shape.end(), strides.begin(), 1, std::multiplies<>());
  return strides;
}

std::vector<std::int32_t> row_major_strides(std::vector<std::int32_t> shape) {
  std::reverse(shape.begin(), shape.end());
  std::vector<std::int32_t> strides = column_major_strides(shape);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

// Values in the order of memory where the first dimension runs fastest.
std::vector<float> column_major(const std::vector<float>& values,
                                const std::vector<std::int32_t>& shape) {
  const std::vector<std::int32_t> from = row_major_strides(shape);
  const std::vector<std::int32_t> to = column_major_strides(shape);
  std::vector<float> moved(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto size = static_cast<std::size_t>(shape[axis]);
      place += i / static_cast<std::size_t>(from[axis]) % size * static_cast<std::size_t>(to[axis]);
    }
    moved[place] = values[i];
  }
  return moved;
}

class Writer {
 public:
  Writer(const TinyModel& model, const TorchStyle& style) : model_(model), style_(style) {}

  std::string write() {
    pickle_.raw("}(");
    pickle_.text("step");
    if (style_.tensor_step) {
      storages_.push_back(bytes_of<std::int64_t>({kStep}));
      pickle_.tensor(
          {.type = "LongStorage", .key = "0", .storage_elements = 1, .shape = {}, .strides = {}});
    } else {
      pickle_.integer(kStep);
    }
    for (const TorchGroup& group : style_.groups) {
      add(group);
    }
    std::vector<ZipItem> items = {{"any/data.pkl", pickle_.raw("u").finish()}};
    if (!style_.plain_zip) {
      items.push_back({"any/byteorder", "little"});
    }
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      items.push_back({"any/data/" + std::to_string(i), storages_[i]});
    }
    items.push_back({"any/version", "3\n"});
    return make_zip(items, {.zip64_end = !style_.plain_zip, .descriptors = !style_.plain_zip});
  }

 private:
  void add(const TorchGroup& group) {
    if (!group.name.empty()) {
      pickle_.text(group.name).raw("}(");
    }
    std::string buffer_prefix = group.prefix;
    if (const std::size_t at = buffer_prefix.find("denoise_fn."); at != std::string::npos) {
      buffer_prefix.erase(at, std::string_view("denoise_fn.").size());
    }
    std::vector<float> shared;
    for (const NamedShape& key : model_.keys) {
      const std::vector<float>& values = model_.values.at(key.name);
      shared.insert(shared.end(), values.begin(), values.end());
    }
    const auto all = static_cast<std::int32_t>(shared.size());
    if (style_.one_storage) {
      storages_.push_back(encode(shared, style_.type));
    }
    std::int32_t offset = 0;
    for (const NamedShape& key : model_.keys) {
      const bool is_buffer = key.name == "betas";
      std::vector<float> values = model_.values.at(key.name);
      if (group.zeros && !is_buffer) {
        values.assign(values.size(), 0);
      }
      PickleWriter::Tensor tensor{.type = style_.type,
                                  .shape = {key.shape.begin(), key.shape.end()}};
      tensor.strides = style_.column_major ? column_major_strides(tensor.shape)
                                           : row_major_strides(tensor.shape);
      if (style_.one_storage) {
        tensor.storage_elements = all;
        tensor.offset = offset;
        offset += static_cast<std::int32_t>(values.size());
      } else {
        tensor.storage_elements = static_cast<std::int32_t>(values.size());
        storages_.push_back(
            encode(style_.column_major ? column_major(values, tensor.shape) : values, style_.type));
      }
      tensor.key = std::to_string(storages_.size() - 1);
      pickle_.text((is_buffer ? buffer_prefix : group.prefix) + key.name).tensor(tensor);
    }
    if (!group.name.empty()) {
      pickle_.raw("u");
    }
  }

  const TinyModel& model_;
  const TorchStyle& style_;
  PickleWriter pickle_;
  std::vector<std::string> storages_;
};

}  // namespace

std::string torch_checkpoint(const TinyModel& model, const TorchStyle& style) {
  return Writer(model, style).write();
}

void round_weights(TinyModel& model, const std::string& type) {
  for (auto& [key, values] : model.values) {
    if (key == "betas") {
      continue;
    }
    for (float& value : values) {
      if (type == "HalfStorage") {
        value = float_from_f16(f16_bits(value));
      } else if (type == "BFloat16Storage") {
        value = float_from_bf16(bf16_bits(value));
      }
    }
  }
}

}  // namespace mezzotint::testing
