// The words of the pickles that torch.save writes: opcodes and names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/pickle.h"

namespace mezzotint {

// Opcodes of protocol 2 (https://docs.python.org/3/library/pickletools.html) that torch emits.
enum PickleOpcode : std::uint8_t {
  kProto = 0x80,
  kStop = '.',
  kMark = '(',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8A,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
};

// What a global stands for; nothing for every name that is not on the list.
[[nodiscard]] std::optional<PickleName> find_pickle_name(std::string_view module,
                                                         std::string_view name);
// Whether a name that is not on the list is one that torch gives to tensors or their storages.
[[nodiscard]] bool names_other_tensor(std::string_view module, std::string_view name);

}  // namespace mezzotint
