#include "pipeline/run_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/sha256.h"
#include "pipeline/outputs.h"

namespace mezzotint {
namespace {

constexpr std::array<char, 8> kMagic = {'M', 'Z', 'T', 'S', 'T', 'A', 'T', 'E'};
constexpr std::uint32_t kFormat = 1;
constexpr std::uint32_t kMostSteps = 1'000'000;
// Each record has a block of its own: a torn write harms one only.
constexpr std::uint64_t kBlock = 4096;
constexpr int kSlots = 2;

using HexDigest = std::array<char, 64>;

// The first block; the rest of it is zero. Little-endian, as every machine that this program runs
// on.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t format;
  std::uint32_t steps;
  std::uint64_t elements;
  std::uint64_t carried;
  HexDigest identity;
  HexDigest sha256;  // of all before it
};
static_assert(sizeof(Header) == 160);

// The second and the third block; the values begin at the fourth.
struct Slot {
  std::uint64_t step;  // 0: never written
  HexDigest sha256;    // of the step and the values
};
static_assert(sizeof(Slot) == 72);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::string_view text_of(const HexDigest& digest) {
  return {digest.data(), digest.size()};
}

HexDigest digest_of(std::string_view text) {
  HexDigest digest{};
  check(text.size() == digest.size(), "a SHA-256 has 64 digits");
  std::ranges::copy(text, digest.begin());
  return digest;
}

HexDigest header_digest(const Header& header) {
  return digest_of(sha256_hex(bytes_of(header).first(offsetof(Header, sha256))));
}

std::uint64_t slot_offset(int slot) {
  return kBlock * static_cast<std::uint64_t>(1 + slot);
}

// Bytes from one slot's values to the next one's; nothing when the counts are absurd.
std::optional<std::uint64_t> values_stride(const ChainShape& shape) {
  const auto floats = checked_add(shape.elements, shape.carried);
  const auto bytes = floats ? checked_multiply(*floats, sizeof(float)) : std::nullopt;
  const auto padded = bytes ? checked_add(*bytes, kBlock - 1) : std::nullopt;
  return padded ? std::optional(*padded / kBlock * kBlock) : std::nullopt;
}

std::optional<std::uint64_t> file_bytes(const ChainShape& shape) {
  const auto stride = values_stride(shape);
  const auto values = stride ? checked_multiply(*stride, kSlots) : std::nullopt;
  return values ? checked_add(*values, slot_offset(kSlots)) : std::nullopt;
}

// Of a shape that file_bytes() accepts.
std::uint64_t values_offset(const ChainShape& shape, int slot) {
  return slot_offset(kSlots) + *values_stride(shape) * static_cast<std::uint64_t>(slot);
}

// After the last step there is nothing to carry.
std::uint64_t carried_at(const ChainShape& shape, std::uint64_t step) {
  return step == static_cast<std::uint64_t>(shape.steps) ? 0 : shape.carried;
}

Error damaged(const std::filesystem::path& path, std::string_view what) {
  return invalid_input(
      "{}: this state of an interrupted run is damaged ({}): delete it to start anew",
      path.string(), what);
}

Result<ChainShape> read_shape(const InputFile& file) {
  Header header{};
  if (!is_run_state(file)) {
    return invalid_input("{}: is no state of an interrupted run", file.path().string());
  }
  if (file.size() < sizeof(header)) {
    return damaged(file.path(), "it is cut short");
  }
  if (Status status = file.read_at(0, std::as_writable_bytes(std::span(&header, 1))); !status) {
    return status.error();
  }
  if (header.format != kFormat) {
    return unsupported(
        "{}: another version of Mezzotint wrote this state of an interrupted run: finish it with "
        "that one or delete it to start anew",
        file.path().string());
  }
  const ChainShape shape{std::string(text_of(header.identity)), static_cast<int>(header.steps),
                         header.elements, header.carried};
  const bool sane = header.sha256 == header_digest(header) && header.steps >= 1 &&
                    header.steps <= kMostSteps && header.elements >= 1 &&
                    (header.carried == 0 || header.carried == header.elements);
  if (!sane) {
    return damaged(file.path(), "its header is not as it was written");
  }
  const auto expected = file_bytes(shape);
  if (!expected || file.size() != *expected) {
    return damaged(file.path(), fmt::format("it has {} bytes", file.size()));
  }
  return shape;
}

// Reads the values by pieces.
Result<bool> is_whole(const InputFile& file, const ChainShape& shape, int index, const Slot& slot) {
  if (slot.step > static_cast<std::uint64_t>(shape.steps)) {
    return false;
  }
  Sha256 hash;
  hash.update(bytes_of(slot.step));
  std::vector<std::byte> piece(std::size_t{1} << 16);
  const std::uint64_t bytes =
      (shape.elements + carried_at(shape, slot.step)) * std::uint64_t{sizeof(float)};
  for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
    const std::span<std::byte> part =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), bytes - done));
    if (Status status = file.read_at(values_offset(shape, index) + done, part); !status) {
      return status.error();
    }
    hash.update(part);
  }
  return hash.hex() == text_of(slot.sha256);
}

Error another_makes(const std::filesystem::path& out, const std::filesystem::path& state) {
  return resource_error("{}: another run is making it (it holds {}): wait, or choose another name",
                        out.string(), state.filename().string());
}

}  // namespace

std::filesystem::path run_state_path(const std::filesystem::path& out) {
  return sidecar_path(out).replace_extension(".part");
}

bool is_run_state(const InputFile& file) {
  std::array<char, 8> magic{};
  return file.size() >= magic.size() &&
         file.read_at(0, std::as_writable_bytes(std::span(magic))).ok() && magic == kMagic;
}

Result<RunStateContent> read_run_state(const InputFile& file) {
  auto shape = read_shape(file);
  if (!shape) {
    return shape.error();
  }
  RunStateContent content;
  content.shape = std::move(*shape);
  int written = 0;
  for (int index = 0; index < kSlots; ++index) {
    Slot slot{};
    if (Status status =
            file.read_at(slot_offset(index), std::as_writable_bytes(std::span(&slot, 1)));
        !status) {
      return status.error();
    }
    if (slot.step == 0) {
      continue;
    }
    ++written;
    const auto whole = is_whole(file, content.shape, index, slot);
    if (!whole) {
      return whole.error();
    }
    if (*whole && static_cast<int>(slot.step) > content.step) {
      content.step = static_cast<int>(slot.step);
      content.slot = index;
    }
  }
  // An interruption spoils the slot that was being written, never the one before it.
  if (content.step == 0 && written == kSlots) {
    return damaged(file.path(), "neither of its two copies is as it was written");
  }
  return content;
}

Status read_values(const InputFile& file, const RunStateContent& content, std::span<float> x,
                   std::span<float> carried) {
  check(content.step > 0, "an empty state is read");
  check(x.size() == content.shape.elements && carried.size() == content.shape.carried,
        "a state is read into arrays of another shape");
  carried = carried.first(carried_at(content.shape, static_cast<std::uint64_t>(content.step)));
  const std::uint64_t offset = values_offset(content.shape, content.slot);
  if (Status status = file.read_at(offset, std::as_writable_bytes(x)); !status) {
    return status;
  }
  if (Status status = file.read_at(offset + x.size_bytes(), std::as_writable_bytes(carried));
      !status) {
    return status;
  }
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(x, finite) || !std::ranges::all_of(carried, finite)) {
    return damaged(file.path(), "it holds values that are not finite");
  }
  return {};
}

Result<std::optional<RunState>> RunState::open(const Options& options) {
  const std::filesystem::path path = run_state_path(options.out);
  auto held = LockedFile::open(path);
  if (held) {
    auto state = take_over(*std::move(held), options);
    if (!state || *state) {
      return state;
    }
  } else if (held.error().code == ErrorCode::kResource) {
    return another_makes(options.out, path);
  } else if (held.error().code != ErrorCode::kNotFound) {
    return make_error(held.error().code, "{}; remove it, or choose another name for the volume",
                      held.error().message);
  }
  if (options.save_seconds == 0) {
    return std::optional<RunState>();
  }
  auto created = create(path, options);
  if (!created && created.error().code == ErrorCode::kInvalidInput) {
    // The name was taken since we looked: by whoever holds it now.
    if (const auto taken = LockedFile::open(path);
        !taken && taken.error().code == ErrorCode::kResource) {
      return another_makes(options.out, path);
    }
  }
  return created;
}

// Nothing when the file was of no use and is gone.
Result<std::optional<RunState>> RunState::take_over(LockedFile file, const Options& options) {
  const auto input = InputFile::open(file.path());
  if (!input) {
    return input.error();
  }
  if (!is_run_state(*input)) {
    return invalid_input(
        "{}: is no state of an interrupted run, and a run to {} needs this name: move the file or "
        "choose another name for the volume",
        file.path().string(), options.out.filename().string());
  }
  const auto content = read_run_state(*input);
  if (content && content->step > 0 && content->shape == options.shape) {
    return std::optional(RunState(std::move(file), options, *content));
  }
  if (!options.overwrite) {
    if (!content) {
      return content.error();
    }
    if (content->step > 0) {
      return invalid_input(
          "{}: holds step {} of {} of another run, with other inputs, settings or version: repeat "
          "its "
          "command to finish it, or delete the file or pass --overwrite to start anew",
          file.path().string(), content->step, content->shape.steps);
    }
  }
  file.remove();
  return std::optional<RunState>();
}

Result<std::optional<RunState>> RunState::create(const std::filesystem::path& path,
                                                 const Options& options) {
  const ChainShape& shape = options.shape;
  Header header{};
  header.magic = kMagic;
  header.format = kFormat;
  header.steps = static_cast<std::uint32_t>(shape.steps);
  header.elements = shape.elements;
  header.carried = shape.carried;
  header.identity = digest_of(shape.identity);
  header.sha256 = header_digest(header);
  const auto length = file_bytes(shape);
  check(length.has_value(), "a chain larger than any file");
  auto created = LockedFile::create(path, bytes_of(header), *length);
  if (!created) {
    return created.error();
  }
  return std::optional(RunState(std::move(*created), options, {shape, 0, 0}));
}

RunState::RunState(LockedFile file, const Options& options, const RunStateContent& content)
    : file_(std::move(file)),
      shape_(content.shape),
      save_seconds_(options.save_seconds),
      step_(content.step),
      slot_(content.slot),
      saved_(Clock::now()) {}

RunState::~RunState() {
  if (step_ == 0) {
    remove();
  }
}

bool RunState::is_kept() const {
  return step_ > 0 && file_ && file_->is_in_place();
}

Status RunState::load(std::span<float> x, std::span<float> carried) const {
  const auto input = InputFile::open(file_->path());
  if (!input) {
    return input.error();
  }
  return read_values(*input, {shape_, step_, slot_}, x, carried);
}

Status RunState::save(int step, std::span<const float> x, std::span<const float> carried) {
  check(step > step_ && step <= shape_.steps, "a state of a step that is over");
  carried = carried.first(carried_at(shape_, static_cast<std::uint64_t>(step)));
  check(x.size() == shape_.elements, "a state of another shape");
  const int slot = step_ == 0 ? 0 : 1 - slot_;
  Slot record{};
  record.step = static_cast<std::uint64_t>(step);
  Sha256 hash;
  hash.update(bytes_of(record.step));
  std::uint64_t offset = values_offset(shape_, slot);
  for (const std::span<const float> part : {x, carried}) {
    hash.update(std::as_bytes(part));
    if (Status status = file_->write_at(offset, std::as_bytes(part)); !status) {
      return status;
    }
    offset += part.size_bytes();
  }
  record.sha256 = digest_of(hash.hex());
  if (Status status = file_->sync(); !status) {
    return status;
  }
  if (Status status = file_->write_at(slot_offset(slot), bytes_of(record)); !status) {
    return status;
  }
  if (Status status = file_->sync(); !status) {
    return status;
  }
  step_ = step;
  slot_ = slot;
  saved_ = Clock::now();
  return {};
}

Status RunState::save_when_due(int step, std::span<const float> x, std::span<const float> carried) {
  if (file_ && !file_->is_in_place()) {
    return resource_error(
        "{}: it or its folder was moved or removed while working; put it back and repeat the "
        "command",
        file_->path().string());
  }
  const std::chrono::duration<double> since = Clock::now() - saved_;
  return save_seconds_ > 0 && since.count() >= save_seconds_ ? save(step, x, carried) : Status();
}

void RunState::remove() {
  if (file_) {
    file_->remove();
    file_.reset();
  }
}

}  // namespace mezzotint
