#include "formats/ckpt_writers.h"

#include <zlib.h>

#include <type_traits>
#include <utility>

namespace mezzotint::testing {
namespace {

template <typename T>
void put(std::string& out, std::type_identity_t<T> value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::uint32_t crc_of(const std::string& content) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

void put_end64(std::string& zip, std::size_t entries, std::size_t size, std::size_t offset) {
  const std::size_t begin = zip.size();
  zip += "PK\x06\x06";
  put<std::uint64_t>(zip, 44);
  put<std::uint32_t>(zip, 0);
  put<std::uint64_t>(zip, 0);
  put<std::uint64_t>(zip, entries);
  put<std::uint64_t>(zip, entries);
  put<std::uint64_t>(zip, size);
  put<std::uint64_t>(zip, offset);
  zip += "PK\x06\x07";
  put<std::uint32_t>(zip, 0);
  put<std::uint64_t>(zip, begin);
  put<std::uint32_t>(zip, 1);
}

}  // namespace

std::string make_zip(const std::vector<ZipItem>& items, const ZipStyle& style) {
  std::string zip;
  std::string central;
  for (const auto& [name, content] : items) {
    const auto offset = static_cast<std::uint32_t>(zip.size());
    const auto size = static_cast<std::uint32_t>(content.size());
    const std::uint32_t crc = crc_of(content);
    const std::uint16_t flags = style.descriptors ? 0x0808 : 0;
    zip += "PK\x03\x04";
    put<std::uint16_t>(zip, 0);
    put<std::uint16_t>(zip, flags);
    put<std::uint16_t>(zip, 0);
    put<std::uint32_t>(zip, 0);
    put<std::uint32_t>(zip, style.descriptors ? 0 : crc);
    put<std::uint32_t>(zip, style.descriptors ? 0 : size);
    put<std::uint32_t>(zip, style.descriptors ? 0 : size);
    put<std::uint16_t>(zip, name.size());
    put<std::uint16_t>(zip, 0);
    zip += name + content;
    if (style.descriptors) {
      zip += "PK\x07\x08";
      put<std::uint32_t>(zip, crc);
      put<std::uint32_t>(zip, size);
      put<std::uint32_t>(zip, size);
    }
    central += "PK\x01\x02";
    put<std::uint32_t>(central, 0);
    put<std::uint16_t>(central, flags);
    put<std::uint16_t>(central, 0);
    put<std::uint32_t>(central, 0);
    put<std::uint32_t>(central, crc);
    put<std::uint32_t>(central, size);
    put<std::uint32_t>(central, size);
    put<std::uint16_t>(central, name.size());
    central.append(12, '\0');
    put<std::uint32_t>(central, offset);
    central += name;
  }
  const std::size_t central_offset = zip.size();
  zip += central;
  if (style.zip64_end) {
    put_end64(zip, items.size(), central.size(), central_offset);
  }
  zip += "PK\x05\x06";
  put<std::uint32_t>(zip, 0);
  put<std::uint16_t>(zip, items.size());
  put<std::uint16_t>(zip, items.size());
  put<std::uint32_t>(zip, central.size());
  put<std::uint32_t>(zip, central_offset);
  put<std::uint16_t>(zip, 0);
  return zip;
}

std::size_t find_record(const std::string& zip, std::string_view signature, int nth) {
  std::size_t at = zip.find(signature);
  for (; nth > 0; --nth) {
    at = zip.find(signature, at + 1);
  }
  return at;
}

PickleWriter& PickleWriter::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

PickleWriter& PickleWriter::text(std::string_view text) {
  bytes_ += 'X';
  put<std::uint32_t>(bytes_, text.size());
  return raw(text);
}

PickleWriter& PickleWriter::integer(std::int32_t value) {
  bytes_ += 'J';
  put<std::int32_t>(bytes_, value);
  return *this;
}

PickleWriter& PickleWriter::tuple(const std::vector<std::int32_t>& values) {
  raw("(");
  for (const std::int32_t value : values) {
    integer(value);
  }
  return raw("t");
}

PickleWriter& PickleWriter::global(std::string_view module, std::string_view name) {
  return raw("c").raw(module).raw("\n").raw(name).raw("\n");
}

PickleWriter& PickleWriter::storage(std::string_view type, std::string_view key,
                                    std::int32_t elements) {
  return raw("(")
      .text("storage")
      .global("torch", type)
      .text(key)
      .text("cpu")
      .integer(elements)
      .raw("tQ");
}

PickleWriter& PickleWriter::tensor(const Tensor& tensor) {
  return global("torch._utils", "_rebuild_tensor_v2")
      .raw("(")
      .storage(tensor.type, tensor.key, tensor.storage_elements)
      .integer(tensor.offset)
      .tuple(tensor.shape)
      .tuple(tensor.strides)
      .raw("\x89")
      .global("collections", "OrderedDict")
      .raw(")RtR");
}

std::string pickle_of(std::string_view name, const PickleWriter::Tensor& tensor) {
  return PickleWriter().raw("}").text(name).tensor(tensor).raw("s").finish();
}

std::string make_checkpoint(const std::string& pickle, const std::vector<std::string>& storages,
                            std::string_view byte_order) {
  std::vector<ZipItem> items = {{"any/data.pkl", pickle},
                                {"any/byteorder", std::string(byte_order)}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    items.push_back({"any/data/" + std::to_string(i), storages[i]});
  }
  items.push_back({"any/version", "3\n"});
  return make_zip(items);
}

std::string make_safetensors(std::string_view header, std::string_view data) {
  std::string file;
  put<std::uint64_t>(file, header.size());
  return file.append(header).append(data);
}

}  // namespace mezzotint::testing
