// Any bytes: either one clear error, or names of files that lie in the index's folder.
#include "base/check.h"
#include "formats/safetensors_index.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using mezzotint::check;
  const mezzotint::fuzz::MemoryFile memory(std::span(data, size));
  const auto file = mezzotint::InputFile::open(memory.path());
  check(file.ok(), "a memory file opens");
  const auto weight_map = mezzotint::read_weight_map(*file);
  if (!weight_map) {
    check(weight_map.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  for (const auto& [tensor, shard] : *weight_map) {
    check(std::filesystem::path("/folder") / shard ==
              (std::filesystem::path("/folder") / shard).lexically_normal(),
          "a shard's name is no path");
    check(shard.find('/') == std::string::npos && !shard.empty(), "a shard is a file");
  }
  return 0;
}
