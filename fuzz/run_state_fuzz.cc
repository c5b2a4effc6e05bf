// Any bytes, as a whole state file; or, when they do not begin as one does, as the fields and
// values of one whose hashes are right, since these would turn away nearly every mutation. Either
// one clear error, or a step within the chain and finite values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sha256.h"
#include "memory_file.h"
#include "pipeline/run_state.h"

namespace {

using namespace mezzotint;

constexpr std::size_t kBlock = 4096;  // docs/formats.md has the layout

void check_line(const Error& error) {
  check(!error.message.empty(), "an error says what is wrong");
  check(error.message.find('\n') == std::string::npos, "an error is one line");
}

// Takes numbers off the front of the input; zero when it has ended.
class Source {
 public:
  explicit Source(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const std::size_t count = std::min(sizeof(T), rest_.size());
    std::memcpy(&value, rest_.data(), count);
    rest_ = rest_.subspan(count);
    return value;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

class StateFile {
 public:
  explicit StateFile(Source source) : bytes_(5 * kBlock) {
    std::memcpy(bytes_.data(), "MZTSTATE", 8);
    put(8, std::uint32_t{1});
    put(12, std::uint32_t{source.take<std::uint8_t>()});
    const auto elements = std::uint64_t{source.take<std::uint8_t>()};
    const auto carried = std::uint64_t{source.take<std::uint8_t>()} % 2 * elements;
    put(16, elements);
    put(24, carried);
    put_text(32, std::string(64, 'a'));
    put_text(96, hash(0, 96));
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const auto step = std::uint64_t{source.take<std::uint8_t>()};
      const bool last = step == bytes_[12];
      const std::size_t values = (3 + slot) * kBlock;
      const std::size_t count = (elements + (last ? 0 : carried)) * sizeof(float);
      for (std::size_t at = 0; at < count; at += sizeof(float)) {
        put(values + at, source.take<float>());
      }
      put((1 + slot) * kBlock, step);
      Sha256 digest;
      digest.update(part((1 + slot) * kBlock, sizeof(step)));
      digest.update(part(values, count));
      put_text((1 + slot) * kBlock + sizeof(step), digest.hex());
    }
  }

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  template <typename T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
  }
  void put_text(std::size_t offset, const std::string& text) {
    std::memcpy(bytes_.data() + offset, text.data(), text.size());
  }
  [[nodiscard]] std::span<const std::byte> part(std::size_t offset, std::size_t count) const {
    return std::as_bytes(std::span(bytes_)).subspan(offset, count);
  }
  [[nodiscard]] std::string hash(std::size_t offset, std::size_t count) const {
    return sha256_hex(part(offset, count));
  }

  std::vector<std::uint8_t> bytes_;
};

void read_state(std::span<const std::uint8_t> bytes) {
  const fuzz::MemoryFile memory(bytes);
  const auto file = InputFile::open(memory.path());
  check(file.ok(), "a memory file can be opened");
  const auto content = read_run_state(*file);
  if (!content) {
    check_line(content.error());
    return;
  }
  check(is_run_state(*file), "what is read begins as a state file does");
  check(content->step >= 0 && content->step <= content->shape.steps, "a step is one of the chain");
  const std::uint64_t floats = content->shape.elements + content->shape.carried;
  check(floats * sizeof(float) <= bytes.size(), "no values that are not there");
  if (content->step == 0) {
    return;
  }
  std::vector<float> x(content->shape.elements);
  std::vector<float> carried(content->shape.carried);
  if (Status status = read_values(*file, *content, x, carried); !status) {
    check_line(status.error());
    return;
  }
  const auto finite = [](float value) { return std::isfinite(value); };
  check(std::ranges::all_of(x, finite) && std::ranges::all_of(carried, finite), "all is finite");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span input(data, size);
  if (std::string_view(reinterpret_cast<const char*>(data), size).starts_with("MZTSTATE")) {
    read_state(input);
  } else {
    read_state(StateFile(Source(input)).bytes());
  }
  return 0;
}
