// A zip archive of stored entries, as torch writes its checkpoints (PKWARE APPNOTE.TXT 6.3.10).
//
// Stricter than zip libraries: compression, encryption, several disks, overlapping entries, names
// given twice and local headers that disagree with the central directory are refused, so that no
// two readers can see different content in one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;  // of the content in the file
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
};

// The entries in central directory order. Their content lies within the file and does not overlap;
// its CRC is not checked here.
Result<std::vector<ZipEntry>> read_zip_directory(const InputFile& file);

// The content of a small entry, CRC checked. kInvalidInput when it is larger than `limit` bytes.
Result<std::vector<std::byte>> read_zip_entry(const InputFile& file, const ZipEntry& entry,
                                              std::uint64_t limit);

}  // namespace mezzotint
