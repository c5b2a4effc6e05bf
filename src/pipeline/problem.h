// One op as one line: "conv3d n1 c64 k64 d32 h32 w32 f3 s1 p1 fp32". Test, benchmark and bug
// report in one.
//
// The op's name, then a letter and a number for each size, in any order, then the type:
//   n  samples [1]          c  channels that come in     k  channels that come out
//   d h w  the volume that comes in                      f  kernel, 3 or 3x1x2 (D x H x W) [3]
//   s  stride [1]           p  padding [1]               a  attention heads [1]
//   fp32  the only type so far [fp32]
// Which letters an op takes:
//   add, affine, affine_silu, add_channels, channel_moments, silu, upsample_trilinear:
//     n c d h w;  attention: n c d h w a, c channels come out and 3 c come in
//   concat: n c k d h w, joins c and k channels
//   conv3d: n c k d h w f s p
//   linear: n c k
// Everything without a [default] must be given.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct Problem {
  std::string op;
  std::int64_t n = 1;
  std::int64_t c = 0;
  std::int64_t k = 0;
  std::int64_t d = 0;
  std::int64_t h = 0;
  std::int64_t w = 0;
  std::array<std::int64_t, 3> f{3, 3, 3};
  std::int64_t s = 1;
  std::int64_t p = 1;
  std::int64_t a = 1;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// kInvalidInput quotes the word that is wrong and says what was expected.
Result<Problem> parse_problem(std::string_view text);

// Every letter the op takes, in the order of the table; parse_problem(to_string(p)) is p.
[[nodiscard]] std::string to_string(const Problem& problem);

// The op alone, named as in the problem. Activations are NDHWC, so nothing is converted around it.
// kInvalidInput when the sizes do not go together.
Result<Graph> build_problem(const Problem& problem);

}  // namespace mezzotint
