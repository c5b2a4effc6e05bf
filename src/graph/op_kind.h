#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mezzotint {

enum class OpKind : std::uint8_t {
#define MEZZOTINT_OP(name) name,
#include "graph/ops.def"
#undef MEZZOTINT_OP
};

inline constexpr OpKind kAllOpKinds[] = {
#define MEZZOTINT_OP(name) OpKind::name,
#include "graph/ops.def"
#undef MEZZOTINT_OP
};

[[nodiscard]] std::string_view name_of(OpKind kind);
[[nodiscard]] std::optional<OpKind> op_kind_from_name(std::string_view name);

}  // namespace mezzotint
