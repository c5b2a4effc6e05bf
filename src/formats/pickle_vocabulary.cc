#include "formats/pickle_vocabulary.h"

#include "base/dtype.h"

namespace mezzotint {
namespace {

struct KnownName {
  std::string_view module;
  std::string_view name;
  PickleName value;
};

constexpr KnownName kKnownNames[] = {
    {"collections", "OrderedDict", {PickleGlobal::kOrderedDict, DType::kF32}},
    {"torch._utils", "_rebuild_tensor_v2", {PickleGlobal::kRebuildTensor, DType::kF32}},
    {"torch._utils", "_rebuild_parameter", {PickleGlobal::kRebuildParameter, DType::kF32}},
    {"torch", "Size", {PickleGlobal::kSize, DType::kF32}},
    {"torch", "DoubleStorage", {PickleGlobal::kStorageType, DType::kF64}},
    {"torch", "FloatStorage", {PickleGlobal::kStorageType, DType::kF32}},
    {"torch", "HalfStorage", {PickleGlobal::kStorageType, DType::kF16}},
    {"torch", "BFloat16Storage", {PickleGlobal::kStorageType, DType::kBF16}},
    {"torch", "LongStorage", {PickleGlobal::kStorageType, DType::kI64}},
    {"torch", "IntStorage", {PickleGlobal::kStorageType, DType::kI32}},
    {"torch", "ShortStorage", {PickleGlobal::kStorageType, DType::kI16}},
    {"torch", "CharStorage", {PickleGlobal::kStorageType, DType::kI8}},
    {"torch", "ByteStorage", {PickleGlobal::kStorageType, DType::kU8}},
    {"torch", "BoolStorage", {PickleGlobal::kStorageType, DType::kBool}},
};

}  // namespace

std::optional<PickleName> find_pickle_name(std::string_view module, std::string_view name) {
  for (const KnownName& known : kKnownNames) {
    if (known.module == module && known.name == name) {
      return known.value;
    }
  }
  if (module == "torch") {
    if (const auto dtype = dtype_from_name(name)) {
      return PickleName{PickleGlobal::kDType, *dtype};
    }
  }
  return std::nullopt;
}

bool names_other_tensor(std::string_view module, std::string_view name) {
  return (module == "torch" && name.ends_with("Storage")) ||
         (module == "torch._utils" && name.starts_with("_rebuild_"));
}

}  // namespace mezzotint
