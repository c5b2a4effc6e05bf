#include "formats/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"
#include "formats/byte_reader.h"

namespace mezzotint {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::uint32_t kDescriptorSignature = 0x08074B50;
constexpr std::uint32_t kCentralSignature = 0x02014B50;
constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kEnd64Signature = 0x06064B50;
constexpr std::uint32_t kLocator64Signature = 0x07064B50;

constexpr std::uint64_t kLocalBytes = 30;
constexpr std::uint64_t kCentralBytes = 46;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kLocator64Bytes = 20;

constexpr std::uint16_t kFull16 = 0xFFFF;  // "see the zip64 field"
constexpr std::uint32_t kFull32 = 0xFFFFFFFF;
constexpr std::uint16_t kEncrypted = 1U << 0;
constexpr std::uint16_t kHasDescriptor = 1U << 3;
constexpr std::uint16_t kUtf8 = 1U << 11;

// A directory of a million entries is about 64 MiB; models have a few thousand.
constexpr std::uint64_t kLargestDirectory = std::uint64_t{64} << 20;

// The fields shared by an entry's two headers.
struct Header {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;  // central directory only
  std::string_view name;
};

struct CentralEntry {
  Header header;
  std::uint64_t content_offset = 0;
};

struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

class ZipParser {
 public:
  explicit ZipParser(const InputFile& file) : file_(file) {}

  Result<std::vector<ZipEntry>> parse() {
    if (Status status = find_directory(); !status) {
      return status.error();
    }
    if (Status status = read_central(); !status) {
      return status.error();
    }
    if (Status status = check_locals(); !status) {
      return status.error();
    }
    std::vector<ZipEntry> entries;
    entries.reserve(central_.size());
    for (const CentralEntry& entry : central_) {
      entries.push_back({std::string(entry.header.name), entry.content_offset, entry.header.size,
                         entry.header.crc32});
    }
    return entries;
  }

 private:
  template <typename... Args>
  [[nodiscard]] Error damaged(fmt::format_string<Args...> format, Args&&... args) const {
    return invalid_input("{}: damaged zip archive: {}; copy or download the file again",
                         file_.path().string(), fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] Error refused(const Header& header, std::string_view what) const {
    return invalid_input("{}: zip entry {} {}; expected entries stored as torch.save writes them",
                         file_.path().string(), in_quotes(header.name), what);
  }

  Status find_directory() {
    if (file_.size() < kEndBytes) {
      return damaged("{} bytes are too few for its end record", file_.size());
    }
    const std::uint64_t end_offset = file_.size() - kEndBytes;
    std::array<std::byte, kEndBytes> bytes{};
    if (Status status = file_.read_at(end_offset, bytes); !status) {
      return status;
    }
    ByteReader reader(bytes);
    const auto signature = *reader.read<std::uint32_t>();
    const auto disk = *reader.read<std::uint16_t>();
    const auto first_disk = *reader.read<std::uint16_t>();
    const auto entries_here = *reader.read<std::uint16_t>();
    const auto entries = *reader.read<std::uint16_t>();
    const auto size = *reader.read<std::uint32_t>();
    const auto offset = *reader.read<std::uint32_t>();
    const auto comment = *reader.read<std::uint16_t>();
    if (signature != kEndSignature || comment != 0) {
      return damaged(
          "it does not end with an end record, so it is truncated or has bytes appended");
    }
    const bool one_disk =
        (disk == 0 && first_disk == 0) || (disk == kFull16 && first_disk == kFull16);
    if (!one_disk || entries_here != entries) {
      return damaged("its end record speaks of several disks");
    }
    place_ = {offset, size, entries};
    directory_end_ = end_offset;
    const bool needs_zip64 =
        disk == kFull16 || entries == kFull16 || size == kFull32 || offset == kFull32;
    if (Status status = find_directory64(end_offset, needs_zip64); !status) {
      return status;
    }
    const auto end = checked_add(place_.offset, place_.size);
    if (!end || *end != directory_end_) {
      return damaged("its directory (offset {}, {} bytes) does not end at byte {} as it should",
                     place_.offset, place_.size, directory_end_);
    }
    if (place_.size > kLargestDirectory || place_.entries > place_.size / kCentralBytes) {
      return damaged("{} entries in a directory of {} bytes", place_.entries, place_.size);
    }
    return {};
  }

  // A zip64 end record, when there is one, stands directly before the end record; fields that the
  // end record gives in full must agree with it.
  Status find_directory64(std::uint64_t end_offset, bool required) {
    if (end_offset < kEnd64Bytes + kLocator64Bytes) {
      return required ? Status(damaged("its zip64 end record is missing")) : Status();
    }
    const std::uint64_t end64_offset = end_offset - kLocator64Bytes - kEnd64Bytes;
    std::array<std::byte, kEnd64Bytes + kLocator64Bytes> bytes{};
    if (Status status = file_.read_at(end64_offset, bytes); !status) {
      return status;
    }
    ByteReader locator(std::span<const std::byte>(bytes).subspan(kEnd64Bytes));
    if (*locator.read<std::uint32_t>() != kLocator64Signature) {
      return required ? Status(damaged("its zip64 end record is missing")) : Status();
    }
    const auto locator_disk = *locator.read<std::uint32_t>();
    const auto located = *locator.read<std::uint64_t>();
    const auto disks = *locator.read<std::uint32_t>();
    ByteReader record(std::span<const std::byte>(bytes).first(kEnd64Bytes));
    const auto signature = *record.read<std::uint32_t>();
    const auto record_size = *record.read<std::uint64_t>();
    record.take(4);  // versions
    const auto disk = *record.read<std::uint32_t>();
    const auto first_disk = *record.read<std::uint32_t>();
    const auto entries_here = *record.read<std::uint64_t>();
    DirectoryPlace place64;
    place64.entries = *record.read<std::uint64_t>();
    place64.size = *record.read<std::uint64_t>();
    place64.offset = *record.read<std::uint64_t>();
    if (signature != kEnd64Signature || record_size != kEnd64Bytes - 12 ||
        located != end64_offset || locator_disk != 0 || disks > 1 || disk != 0 || first_disk != 0 ||
        entries_here != place64.entries) {
      return damaged("its zip64 end record is not what or where it should be");
    }
    const auto agrees = [](std::uint64_t narrow, std::uint64_t full, std::uint64_t wide) {
      return narrow == full || narrow == wide;
    };
    if (!agrees(place_.offset, kFull32, place64.offset) ||
        !agrees(place_.size, kFull32, place64.size) ||
        !agrees(place_.entries, kFull16, place64.entries)) {
      return damaged("its two end records disagree");
    }
    place_ = place64;
    directory_end_ = end64_offset;
    return {};
  }

  Status read_central() {
    directory_.resize(place_.size);
    if (Status status = file_.read_at(place_.offset, directory_); !status) {
      return status;
    }
    ByteReader reader(directory_);
    std::set<std::string_view> names;
    central_.reserve(place_.entries);
    for (std::uint64_t i = 0; i < place_.entries; ++i) {
      auto header = read_central_header(reader);
      if (!header) {
        return header.error();
      }
      if (!names.insert(header->name).second) {
        return refused(*header, "is there twice");
      }
      central_.push_back({*header, 0});
    }
    if (reader.remaining() != 0) {
      return damaged("{} bytes follow the last of its {} entries", reader.remaining(),
                     place_.entries);
    }
    return {};
  }

  Result<Header> read_central_header(ByteReader& reader) {
    const auto fixed = reader.take(kCentralBytes);
    if (!fixed) {
      return damaged("its directory ends inside an entry");
    }
    ByteReader fields(*fixed);
    const auto signature = *fields.read<std::uint32_t>();
    fields.take(4);  // versions
    Header header;
    header.flags = *fields.read<std::uint16_t>();
    header.method = *fields.read<std::uint16_t>();
    fields.take(4);  // time and date
    header.crc32 = *fields.read<std::uint32_t>();
    header.stored_size = *fields.read<std::uint32_t>();
    header.size = *fields.read<std::uint32_t>();
    const auto name_size = *fields.read<std::uint16_t>();
    const auto extra_size = *fields.read<std::uint16_t>();
    const auto comment_size = *fields.read<std::uint16_t>();
    const auto disk = *fields.read<std::uint16_t>();
    fields.take(6);  // attributes
    header.header_offset = *fields.read<std::uint32_t>();
    const auto name = reader.text(name_size);
    const auto extra = reader.take(extra_size);
    if (signature != kCentralSignature || !name || name->empty() || !extra ||
        !reader.take(comment_size)) {
      return damaged("entry {} of its directory is malformed", central_.size());
    }
    header.name = *name;
    if (!apply_zip64(*extra, {&header.size, &header.stored_size, &header.header_offset})) {
      return refused(header, "has a malformed zip64 field");
    }
    if ((header.flags & kEncrypted) != 0) {
      return refused(header, "is encrypted");
    }
    if (header.method != 0) {
      return refused(header, "is compressed, as in TorchScript programs and repacked archives");
    }
    if ((header.flags & ~(kHasDescriptor | kUtf8)) != 0 || disk != 0) {
      return refused(header, "uses a zip feature that torch does not");
    }
    if (header.stored_size != header.size) {
      return refused(header, "is stored with two different sizes");
    }
    return header;
  }

  // Replaces those of `fields` that are all ones by the values of the zip64 extra field.
  static bool apply_zip64(std::span<const std::byte> extra,
                          std::initializer_list<std::uint64_t*> fields) {
    const auto full = [](const std::uint64_t* field) { return *field == kFull32; };
    if (std::none_of(fields.begin(), fields.end(), full)) {
      return true;
    }
    ByteReader reader(extra);
    while (reader.remaining() > 0) {
      const auto id = reader.read<std::uint16_t>();
      const auto size = reader.read<std::uint16_t>();
      const auto content = size ? reader.take(*size) : std::nullopt;
      if (!id || !content) {
        return false;
      }
      if (*id != 1) {
        continue;
      }
      ByteReader values(*content);
      return std::all_of(fields.begin(), fields.end(), [&](std::uint64_t* field) {
        if (!full(field)) {
          return true;
        }
        const auto value = values.read<std::uint64_t>();
        *field = value.value_or(0);
        return value.has_value();
      });
    }
    return false;
  }

  // Each entry ends before the next begins, and before the directory.
  Status check_locals() {
    std::vector<CentralEntry*> by_offset;
    by_offset.reserve(central_.size());
    for (CentralEntry& entry : central_) {
      by_offset.push_back(&entry);
    }
    std::sort(by_offset.begin(), by_offset.end(), [](const auto* a, const auto* b) {
      return a->header.header_offset < b->header.header_offset;
    });
    for (std::size_t i = 0; i < by_offset.size(); ++i) {
      const std::uint64_t limit =
          i + 1 < by_offset.size() ? by_offset[i + 1]->header.header_offset : place_.offset;
      if (Status status = check_local(*by_offset[i], limit); !status) {
        return status;
      }
    }
    return {};
  }

  Status check_local(CentralEntry& entry, std::uint64_t limit) {
    const Header& header = entry.header;
    const auto fits = [limit](std::optional<std::uint64_t> end) { return end && *end <= limit; };
    const std::uint64_t fixed_end = header.header_offset + kLocalBytes;
    if (!fits(checked_add(header.header_offset, kLocalBytes + header.name.size()))) {
      return refused(header, "overlaps what follows it");
    }
    std::array<std::byte, kLocalBytes> bytes{};
    if (Status status = file_.read_at(header.header_offset, bytes); !status) {
      return status;
    }
    ByteReader fields(bytes);
    const auto signature = *fields.read<std::uint32_t>();
    fields.take(2);  // version
    Header local;
    local.flags = *fields.read<std::uint16_t>();
    local.method = *fields.read<std::uint16_t>();
    fields.take(4);  // time and date
    local.crc32 = *fields.read<std::uint32_t>();
    local.stored_size = *fields.read<std::uint32_t>();
    local.size = *fields.read<std::uint32_t>();
    const auto name_size = *fields.read<std::uint16_t>();
    const auto extra_size = *fields.read<std::uint16_t>();
    entry.content_offset = fixed_end + name_size + extra_size;
    if (signature != kLocalSignature || name_size != header.name.size()) {
      return refused(header, "has no local header of the same name");
    }
    if (!fits(checked_add(entry.content_offset, header.size))) {
      return refused(header, "overlaps what follows it");
    }
    std::vector<std::byte> variable(std::size_t{name_size} + extra_size);
    if (Status status = file_.read_at(fixed_end, variable); !status) {
      return status;
    }
    ByteReader reader(variable);
    if (*reader.text(name_size) != header.name) {
      return refused(header, "has no local header of the same name");
    }
    if (!apply_zip64(*reader.take(extra_size), {&local.size, &local.stored_size})) {
      return refused(header, "has a malformed zip64 field");
    }
    return check_agreement(entry, local, limit);
  }

  Status check_agreement(const CentralEntry& entry, const Header& local, std::uint64_t limit) {
    const Header& header = entry.header;
    const bool has_descriptor = (header.flags & kHasDescriptor) != 0;
    const auto agrees = [has_descriptor](std::uint64_t here, std::uint64_t there) {
      return here == there || (has_descriptor && here == 0);
    };
    if (local.flags != header.flags || local.method != header.method ||
        !agrees(local.crc32, header.crc32) || !agrees(local.size, header.size) ||
        !agrees(local.stored_size, header.stored_size)) {
      return refused(header, "differs between its local header and the directory");
    }
    if (has_descriptor && !descriptor_agrees(entry, limit)) {
      return refused(header, "differs between its data descriptor and the directory");
    }
    return {};
  }

  // The descriptor after the content has sizes of 32 or 64 bits; only its place tells which.
  bool descriptor_agrees(const CentralEntry& entry, std::uint64_t limit) {
    const std::uint64_t begin = entry.content_offset + entry.header.size;
    std::array<std::byte, 24> bytes{};
    const auto room = std::min<std::uint64_t>(limit - begin, bytes.size());
    if (!file_.read_at(begin, std::span(bytes).first(room)).ok()) {
      return false;
    }
    ByteReader reader(std::span<const std::byte>(bytes).first(room));
    const auto signature = reader.read<std::uint32_t>();
    const auto crc = reader.read<std::uint32_t>();
    if (signature != kDescriptorSignature || crc != entry.header.crc32) {
      return false;
    }
    ByteReader narrow = reader;
    const auto stored32 = narrow.read<std::uint32_t>();
    const auto size32 = narrow.read<std::uint32_t>();
    if (stored32 == entry.header.size && size32 == entry.header.size) {
      return true;
    }
    const auto stored64 = reader.read<std::uint64_t>();
    const auto size64 = reader.read<std::uint64_t>();
    return stored64 == entry.header.size && size64 == entry.header.size;
  }

  const InputFile& file_;
  DirectoryPlace place_;
  std::uint64_t directory_end_ = 0;
  std::vector<std::byte> directory_;  // names point into it
  std::vector<CentralEntry> central_;
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip_directory(const InputFile& file) {
  return ZipParser(file).parse();
}

Result<std::vector<std::byte>> read_zip_entry(const InputFile& file, const ZipEntry& entry,
                                              std::uint64_t limit) {
  if (entry.size > limit) {
    return invalid_input("{}: zip entry {} has {} bytes, more than the limit of {}",
                         file.path().string(), in_quotes(entry.name), entry.size, limit);
  }
  std::vector<std::byte> bytes(entry.size);
  if (Status status = file.read_at(entry.offset, bytes); !status) {
    return status.error();
  }
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (crc != entry.crc32) {
    return invalid_input(
        "{}: zip entry {} has checksum {:08x}, expected {:08x}: the file is damaged; copy or "
        "download it again",
        file.path().string(), in_quotes(entry.name), crc, entry.crc32);
  }
  return bytes;
}

}  // namespace mezzotint
