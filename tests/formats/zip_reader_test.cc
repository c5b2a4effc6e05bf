#include "formats/zip_reader.h"

#include <gtest/gtest.h>

#include <functional>

#include "formats/ckpt_files.h"
#include "formats/ckpt_writers.h"

namespace mezzotint::testing {
namespace {

// Offsets of fields inside their records (APPNOTE.TXT 4.3).
constexpr std::size_t kLocalCrc = 14;
constexpr std::size_t kLocalName = 30;
constexpr std::size_t kCentralFlags = 8;
constexpr std::size_t kCentralMethod = 10;
constexpr std::size_t kCentralCrc = 16;
constexpr std::size_t kCentralStoredSize = 20;
constexpr std::size_t kCentralSize = 24;
constexpr std::size_t kCentralOffset = 42;
constexpr std::size_t kCentralName = 46;
constexpr std::size_t kEndDisk = 4;
constexpr std::size_t kEndEntriesHere = 8;
constexpr std::size_t kEndEntries = 10;
constexpr std::size_t kEndOffset = 16;
constexpr std::size_t kEnd64Entries = 32;
constexpr std::size_t kLocatorOffset = 8;

constexpr std::string_view kLocal = "PK\x03\x04";
constexpr std::string_view kDescriptor = "PK\x07\x08";
constexpr std::string_view kCentral = "PK\x01\x02";
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::string_view kLocator = "PK\x06\x07";
constexpr std::string_view kEnd = "PK\x05\x06";

const std::vector<ZipItem> items_of_zip = {
    {"f/one", "first"}, {"f/two", "second!"}, {"f/empty", ""}};
constexpr ZipStyle kPlain = {.zip64_end = false, .descriptors = false};

Result<std::vector<ZipEntry>> parse(const std::string& zip) {
  const TemporaryFile file(zip);
  return read_zip_directory(file.open());
}

void expect_refused(std::string zip, const std::function<void(std::string&)>& damage,
                    std::string_view part) {
  damage(zip);
  expect_error(parse(zip), part);
}

TEST(ZipReader, ReadsEveryStyle) {
  for (const bool zip64_end : {false, true}) {
    for (const bool descriptors : {false, true}) {
      const TemporaryFile temporary(make_zip(items_of_zip, {zip64_end, descriptors}));
      const InputFile file = temporary.open();
      const auto entries = read_zip_directory(file);
      ASSERT_TRUE(entries.ok()) << entries.error().message;
      ASSERT_EQ(entries->size(), items_of_zip.size());
      for (std::size_t i = 0; i < items_of_zip.size(); ++i) {
        EXPECT_EQ((*entries)[i].name, items_of_zip[i].name);
        const auto bytes = read_zip_entry(file, (*entries)[i], 100);
        ASSERT_TRUE(bytes.ok()) << bytes.error().message;
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()),
                  items_of_zip[i].content);
      }
    }
  }
}

TEST(ZipReader, ReadsZip64Sizes) {
  std::string zip = make_zip({{"f/one", "first"}}, {.zip64_end = false, .descriptors = true});
  const std::size_t central = find_record(zip, kCentral);
  patch<std::uint32_t>(zip, central + kCentralStoredSize, 0xFFFFFFFF);
  patch<std::uint32_t>(zip, central + kCentralSize, 0xFFFFFFFF);
  patch<std::uint16_t>(zip, central + 30, 20);  // extra field
  std::string extra(20, '\0');
  patch<std::uint16_t>(extra, 0, 1);
  patch<std::uint16_t>(extra, 2, 16);
  patch<std::uint64_t>(extra, 4, 5);
  patch<std::uint64_t>(extra, 12, 5);
  zip.insert(central + kCentralName + 5, extra);
  const std::size_t end = find_record(zip, kEnd);
  patch<std::uint32_t>(zip, end + 12, static_cast<std::uint32_t>(end - central));
  const auto entries = parse(zip);
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  EXPECT_EQ(entries->front().size, 5U);

  patch<std::uint16_t>(zip, central + kCentralName + 5, 2);  // another kind of extra field
  expect_error(parse(zip), "`f/one` has a malformed zip64 field");
}

TEST(ZipReader, RefusesEveryTruncation) {
  const std::string zip = make_zip(items_of_zip);
  for (std::size_t size = 0; size < zip.size(); ++size) {
    expect_error(parse(zip.substr(0, size)), "damaged zip archive");
  }
}

TEST(ZipReader, RefusesAppendedBytes) {
  expect_error(parse(make_zip(items_of_zip) + "x"), "is truncated or has bytes appended");
}

TEST(ZipReader, RefusesABadEnd) {
  const std::string zip = make_zip(items_of_zip, kPlain);
  const std::size_t end = find_record(zip, kEnd);
  const auto refused = [&](std::size_t field, auto value, std::string_view part) {
    expect_refused(
        zip, [&](std::string& bytes) { patch(bytes, end + field, value); }, part);
  };
  refused(kEndDisk, std::uint16_t{1}, "several disks");
  refused(kEndEntriesHere, std::uint16_t{2}, "several disks");
  refused(kEndOffset, std::uint32_t{1}, "does not end at byte");
  refused(kEndOffset, std::uint32_t{0xFFFFFFFF}, "zip64 end record is missing");
  const auto entries = [&](std::uint16_t count, std::string_view part) {
    expect_refused(
        zip,
        [&](std::string& bytes) {
          patch(bytes, end + kEndEntriesHere, count);
          patch(bytes, end + kEndEntries, count);
        },
        part);
  };
  entries(2, "bytes follow the last of its 2 entries");
  entries(4, "4 entries in a directory of");
}

TEST(ZipReader, RefusesABadZip64End) {
  const std::string zip = make_zip(items_of_zip);
  const std::size_t end64 = find_record(zip, kEnd64);
  expect_refused(
      zip, [&](std::string& bytes) { patch<std::uint64_t>(bytes, end64 + kEnd64Entries, 2); },
      "not what or where it should be");
  expect_refused(
      zip,
      [&](std::string& bytes) {
        patch<std::uint64_t>(bytes, find_record(zip, kLocator) + kLocatorOffset, 0);
      },
      "not what or where it should be");
  expect_refused(
      zip,
      [&](std::string& bytes) {
        patch<std::uint64_t>(bytes, end64 + kEnd64Entries, 2);
        patch<std::uint64_t>(bytes, end64 + kEnd64Entries - 8, 2);
      },
      "two end records disagree");
}

TEST(ZipReader, RefusesABadDirectoryEntry) {
  const std::string zip = make_zip(items_of_zip);
  const std::size_t central = find_record(zip, kCentral);
  const auto refused = [&](std::size_t field, auto value, std::string_view part) {
    expect_refused(
        zip, [&](std::string& bytes) { patch(bytes, central + field, value); }, part);
  };
  refused(0, std::uint32_t{0}, "entry 0 of its directory is malformed");
  refused(kCentralFlags, std::uint16_t{1}, "`f/one` is encrypted");
  refused(kCentralFlags, std::uint16_t{0x20}, "uses a zip feature that torch does not");
  refused(kCentralMethod, std::uint16_t{8}, "`f/one` is compressed");
  refused(kCentralSize, std::uint32_t{4}, "stored with two different sizes");
  refused(kCentralOffset, std::uint32_t{3}, "no local header of the same name");
}

TEST(ZipReader, RefusesAnEntryTwice) {
  expect_error(parse(make_zip({{"f/one", "a"}, {"f/one", "b"}})), "`f/one` is there twice");
}

TEST(ZipReader, RefusesOverlap) {
  const std::string zip = make_zip(items_of_zip, kPlain);
  const std::size_t second = find_record(zip, kCentral, 1);
  expect_refused(
      zip, [&](std::string& bytes) { patch<std::uint32_t>(bytes, second + kCentralOffset, 0); },
      "overlaps what follows it");
  const auto resize = [&](std::uint32_t size) {
    return [&, size](std::string& bytes) {
      patch(bytes, second + kCentralSize, size);
      patch(bytes, second + kCentralStoredSize, size);
    };
  };
  expect_refused(zip, resize(8), "`f/two` overlaps what follows it");
  expect_refused(zip, resize(0xFFFFFFFE), "`f/two` overlaps what follows it");
}

TEST(ZipReader, RefusesDisagreement) {
  const std::string plain = make_zip(items_of_zip, kPlain);
  const std::size_t local = find_record(plain, kLocal);
  expect_refused(
      plain, [&](std::string& bytes) { bytes[local + kLocalName] = 'g'; },
      "no local header of the same name");
  expect_refused(
      plain, [&](std::string& bytes) { patch<std::uint32_t>(bytes, local + kLocalCrc, 1); },
      "differs between its local header and the directory");
  const std::string zip = make_zip(items_of_zip);
  expect_refused(
      zip,
      [&](std::string& bytes) {
        patch<std::uint32_t>(bytes, find_record(zip, kCentral) + kCentralCrc, 1);
      },
      "differs between its data descriptor and the directory");
  expect_refused(
      zip, [&](std::string& bytes) { bytes[find_record(zip, kDescriptor) + 8] ^= 1; },
      "differs between its data descriptor and the directory");
}

TEST(ZipReader, ChecksContentWhenRead) {
  std::string zip = make_zip(items_of_zip);
  zip[zip.find("first")] = 'F';
  const TemporaryFile temporary(zip);
  const InputFile file = temporary.open();
  const auto entries = read_zip_directory(file);
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  expect_error(read_zip_entry(file, (*entries)[0], 100), "`f/one` has checksum");
  expect_error(read_zip_entry(file, (*entries)[1], 6), "has 7 bytes, more than the limit of 6");
}

TEST(ZipReader, KeepsMessagesOnOneLine) {
  expect_error(parse(make_zip({{"a\nb\x1b[2J", "x"}, {"a\nb\x1b[2J", "x"}})),
               "`a\\x0ab\\x1b[2J` is there twice");
}

}  // namespace
}  // namespace mezzotint::testing
