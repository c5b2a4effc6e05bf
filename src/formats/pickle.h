// The pickles inside torch checkpoints, read by a machine that can only build plain data.
//
// A pickle is a program; Python's own machine calls whatever it names. This one knows the opcodes
// of protocol 2 that torch.save emits, recognises a fixed list of names (OrderedDict, torch's
// storages and tensor rebuilders, dtypes, torch.Size) and refuses every other. Nothing in the file
// is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "mezzotint/result.h"

namespace mezzotint {

using PickleNode = std::uint32_t;  // index into Pickle::nodes

struct PickleNone {};
struct PickleSequence {  // list or tuple
  std::vector<PickleNode> items;
  bool is_tuple = false;
};
struct PickleDict {  // dict or OrderedDict; keys are strings or integers
  std::vector<std::pair<PickleNode, PickleNode>> items;
};
enum class PickleGlobal : std::uint8_t {
  kOrderedDict,
  kRebuildTensor,
  kRebuildParameter,
  kSize,
  kStorageType,
  kDType,
};
struct PickleName {  // a global, named but never called
  PickleGlobal global = PickleGlobal::kOrderedDict;
  DType dtype = DType::kF32;  // of kStorageType and kDType
};
struct PickleStorage {  // bytes kept in the archive entry `data/<key>`
  std::string key;
  DType dtype = DType::kF32;
  std::int64_t elements = 0;
};
struct PickleTensor {  // offset and strides count elements of the storage; all are >= 0
  PickleNode storage = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

using PickleValue =
    std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleSequence, PickleDict,
                 PickleName, PickleStorage, PickleTensor>;

// Values refer to one another by index and may be shared. Containers may even contain themselves,
// as in Python, so a walk needs a limit of its own.
struct Pickle {
  std::vector<PickleValue> nodes;
  PickleNode root = 0;
};

// `where` names the file in messages. Pickles are held to a million opcodes, strings of 64 KiB,
// integers of 64 bits and tensors of 16 dimensions, so that memory stays within some hundred bytes
// per byte read. kInvalidInput with one line for anything outside the subset.
Result<Pickle> read_pickle(std::span<const std::byte> bytes, std::string_view where);

}  // namespace mezzotint
