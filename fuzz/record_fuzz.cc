// Any bytes as one of the files that measuring leaves, as `inspect` tells of them: no such file,
// one clear error, or a summary within the lengths that its header states.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "memory_file.h"
#include "pipeline/inspect_record.h"

namespace {

// To a POSIX shell: no quote is open and no backslash ends it.
bool ends_after_a_word(std::string_view command) {
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\\' && !quoted) {
      ++i;
      if (i == command.size()) {
        return false;
      }
    } else if (command[i] == '\'') {
      quoted = !quoted;
    }
  }
  return !quoted;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  constexpr std::size_t kMostName = 11;
  constexpr std::size_t kMostText = 1000;
  const fuzz::MemoryFile memory(std::span(data, size));
  const auto record = inspect_record(memory.path());
  if (!record) {
    check(!record.error().message.empty(), "an error says what is wrong");
    check(record.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  if (!*record) {
    return 0;
  }
  check(!(*record)->kind.empty() && !(*record)->what.empty(), "a record is of a kind");
  check((*record)->schema > 0, "a record that is read has a schema");
  check(std::ranges::all_of((*record)->facts,
                            [](const RecordFact& fact) {
                              return fact.name.size() <= kMostName && fact.text.size() <= kMostText;
                            }),
        "facts are short");
  check(std::ranges::all_of((*record)->commands, ends_after_a_word),
        "a command ends after a whole word");
  return 0;
}
