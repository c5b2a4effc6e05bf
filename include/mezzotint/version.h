#pragma once

namespace mezzotint {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace mezzotint
