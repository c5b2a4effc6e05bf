#include "tune/timing_cache.h"

#include <charconv>
#include <cmath>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "mezzotint/version.h"

namespace mezzotint {
namespace {

constexpr std::string_view kMagic = "mezzotint timings ";
constexpr int kForm = 1;
// Of a comparison, where a timing has its implementation: the default's side; the two ratios in the
// place of seconds and spread.
constexpr std::string_view kStandardSide = "standard-side";
constexpr std::string_view kRatios = "ratios";
constexpr std::size_t kHashDigits = 32;
constexpr std::size_t kCheckDigits = 8;
// A network has some hundreds of timings, of 90 bytes.
constexpr std::uint64_t kMostBytes = 64'000'000;

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string hash_of(std::string_view text, std::size_t digits) {
  return sha256_hex(as_bytes(text)).substr(0, digits);
}

std::string key_of(std::string_view op, std::string_view implementation) {
  return fmt::format("{} {}", hash_of(op, kHashDigits), implementation);
}

// "CHECK KEY IMPLEMENTATION SECONDS SPREAD RUNS\n": CHECK is a hash of what follows it.
std::string line_of(std::string_view key, const OpTiming& timing) {
  const std::string content =
      fmt::format("{} {} {} {}", key, timing.seconds, timing.spread, timing.runs);
  return fmt::format("{} {}\n", hash_of(content, kCheckDigits), content);
}

template <typename Number>
bool take_number(std::string_view& text, Number& out) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  if (!text.empty()) {
    if (text.front() != ' ') {
      return false;
    }
    text.remove_prefix(1);
  }
  return true;
}

using Entry = std::pair<std::string, OpTiming>;

// Nothing when it is not what line_of() makes.
std::optional<Entry> parse_line(std::string_view line) {
  if (line.size() <= kCheckDigits || line[kCheckDigits] != ' ' ||
      hash_of(line.substr(kCheckDigits + 1), kCheckDigits) != line.substr(0, kCheckDigits)) {
    return std::nullopt;
  }
  line.remove_prefix(kCheckDigits + 1);
  const std::size_t hash_end = line.find(' ');
  const std::size_t key_end =
      hash_end == std::string_view::npos ? hash_end : line.find(' ', hash_end + 1);
  if (key_end == std::string_view::npos) {
    return std::nullopt;
  }
  Entry entry{std::string(line.substr(0, key_end)), {}};
  line.remove_prefix(key_end + 1);
  OpTiming& timing = entry.second;
  const bool is_read = take_number(line, timing.seconds) && take_number(line, timing.spread) &&
                       take_number(line, timing.runs) && line.empty();
  if (!is_read || !(timing.seconds >= 0) || !std::isfinite(timing.seconds) ||
      !(timing.spread >= 0) || timing.runs < 1) {
    return std::nullopt;
  }
  return entry;
}

std::string header_of(std::string_view scope) {
  return fmt::format("{}{}: {}\n", kMagic, kForm, scope);
}

// What a header says that timings are valid for; nothing when it is no header of this form.
std::optional<std::string_view> scope_of(std::string_view text) {
  static const std::string start = header_of("");
  const std::string_view before = std::string_view(start).substr(0, start.size() - 1);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(before)) {
    return std::nullopt;
  }
  return text.substr(before.size(), end - before.size());
}

struct Content {
  std::map<std::string, OpTiming, std::less<>> timings;
  int dropped = 0;
  bool has_header = false;
};

Content parse(std::string_view text, std::string_view header) {
  Content content;
  content.has_header = text.starts_with(header);
  if (!content.has_header) {
    return content;
  }
  text.remove_prefix(header.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // A last line without its end was being written.
    if (auto entry =
            end == std::string_view::npos ? std::nullopt : parse_line(text.substr(0, end))) {
      content.timings.insert_or_assign(std::move(entry->first), entry->second);
    } else {
      ++content.dropped;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return content;
}

Result<LockedFile> open_or_create(const std::filesystem::path& path, std::string_view header) {
  auto file = LockedFile::open(path);
  if (file || file.error().code != ErrorCode::kNotFound) {
    return file;
  }
  auto created = LockedFile::create(path, as_bytes(header), header.size());
  if (created) {
    return created;
  }
  // Another process may have been faster; else why there is no file is what counts.
  file = LockedFile::open(path);
  return file || file.error().code != ErrorCode::kNotFound ? std::move(file) : std::move(created);
}

Error with_remedy(const Error& error) {
  const bool can_go = error.code == ErrorCode::kInvalidInput;
  return make_error(error.code, "{}; {}pass another folder with --cache", error.message,
                    can_go ? "remove it, or " : "");
}

// Why nothing of a file is used. `start`: of its content.
std::string why_anew(const std::filesystem::path& path, std::string_view start) {
  if (!start.starts_with(kMagic)) {
    return fmt::format("{}: not a file of timings", path.string());
  }
  start.remove_prefix(kMagic.size());
  return fmt::format("{}: timings of another form or machine, {}", path.string(),
                     in_quotes(start.substr(0, start.find('\n'))));
}

// Writes the new file beside the old one, which stays when that fails (a full disk).
Result<LockedFile> replace(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path beside = path.string() + ".new";
  std::error_code failure;
  std::filesystem::remove(beside, failure);  // of a process that was killed
  {
    auto file = LockedFile::create(beside, as_bytes(text), text.size());
    if (!file) {
      return file.error();
    }
    std::filesystem::rename(beside, path, failure);
    if (failure) {
      file->remove();
      return resource_error("{}: cannot replace: {}", path.string(), failure.message());
    }
  }
  return LockedFile::open(path);
}

}  // namespace

std::string timing_scope(const Backend& backend, const Machine& machine) {
  return fmt::format("{}, {}, {}, {}, {} thread{}", kVersion, backend.description(),
                     machine.processor, name_of(machine.isa), machine.threads,
                     machine.threads == 1 ? "" : "s");
}

Result<TimingCache> TimingCache::open(const std::filesystem::path& folder,
                                      const std::string& scope) {
  const std::string header = header_of(scope);
  const std::filesystem::path path =
      folder / fmt::format("timings-{}.txt", hash_of(scope, kHashDigits / 2));
  auto file = open_or_create(path, header);
  if (!file) {
    return with_remedy(file.error());
  }
  const auto read = read_text_file(path, kMostBytes);
  Content content = parse(read ? std::string_view(*read) : "", header);
  std::string note;
  if (!content.has_header) {
    note = (read ? why_anew(path, *read) : read.error().message) + ": written anew";
  } else if (content.dropped > 0) {
    note = fmt::format("{}: {} damaged line{} dropped", path.string(), content.dropped,
                       content.dropped == 1 ? "" : "s");
  }
  std::string text = header;
  for (const auto& [key, timing] : content.timings) {
    text += line_of(key, timing);
  }
  if (!note.empty()) {
    file = replace(path, text);
    if (!file) {
      return with_remedy(file.error());
    }
  }
  TimingCache cache(std::move(*file), note.empty() ? read->size() : text.size());
  cache.note_ = std::move(note);
  cache.timings_ = std::move(content.timings);
  return cache;
}

bool is_timings(std::string_view start) {
  return start.starts_with(kMagic);
}

Result<TimingsSummary> summarize_timings(const std::filesystem::path& path) {
  const auto read = read_text_file(path, kMostBytes);
  if (!read) {
    return read.error();
  }
  const std::string_view text = *read;
  const auto scope = scope_of(text);
  if (!scope) {
    return unsupported("{}: {}, this version reads form {}: mezzotint tune writes it anew",
                       path.string(), in_quotes(text.substr(0, text.find('\n'))), kForm);
  }
  const Content content = parse(text, header_of(*scope));
  TimingsSummary summary{kForm, std::string(*scope), 0, 0, content.dropped};
  for (const auto& [key, timing] : content.timings) {
    const std::string_view what = std::string_view(key).substr(key.find(' ') + 1);
    summary.comparisons += what == kRatios ? 1 : 0;
    summary.timings += what == kRatios || what == kStandardSide ? 0 : 1;
  }
  return summary;
}

std::optional<OpTiming> TimingCache::find(std::string_view op,
                                          std::string_view implementation) const {
  const auto found = timings_.find(key_of(op, implementation));
  return found == timings_.end() ? std::nullopt : std::optional(found->second);
}

Status TimingCache::add(std::string_view op, std::string_view implementation,
                        const OpTiming& timing) {
  const std::string key = key_of(op, implementation);
  const std::string line = line_of(key, timing);
  if (Status status = file_.write_at(end_, as_bytes(line)); !status) {
    return status;
  }
  end_ += line.size();
  timings_.insert_or_assign(key, timing);
  return {};
}

std::optional<PairedTiming> TimingCache::find_pairs(std::string_view sides) const {
  const auto standard = find(sides, kStandardSide);
  const auto ratios = find(sides, kRatios);
  if (!standard || !ratios) {
    return std::nullopt;
  }
  return PairedTiming{standard->seconds, ratios->seconds, ratios->spread, ratios->runs};
}

Status TimingCache::add_pairs(std::string_view sides, const PairedTiming& timing) {
  if (Status status = add(sides, kStandardSide, {timing.standard_seconds, 0, timing.pairs});
      !status) {
    return status;
  }
  return add(sides, kRatios, {timing.ratio, timing.high_ratio, timing.pairs});
}

}  // namespace mezzotint
