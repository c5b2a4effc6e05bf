// The text form of a graph: one statement a line, in the order in which values were made.
//
//   input %x step float32[1, 3, 8, 8, 8] channels_last
//   parameter %w [16, 3, 3, 3, 3]
//   %y = conv3d(%x, %w) padding=1 stride=1 -> float32[1, 16, 8, 8, 8] channels_last
//   %r = region(%y) -> float32[1, 16, 8, 8, 8] channels_last, float64[1, 16, 2] {
//     ...the statements of the body, one step further in...
//   }
//   output %r
//   alias %last = %r
//
// A result's name is its op's; the k-th further result of %r is %r:k. A name with characters other
// than letters, digits and _ . : / - is quoted: %"a b". Attributes are integers (1), reals (1.0,
// 1e-05) or texts ("silu"). Layout row_major is left out.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Equal graphs give equal text, and graph_from_text(to_text(g)) is equal to g, ids included.
[[nodiscard]] std::string to_text(const Graph& graph);

// Types after "->" may be left out; where given they must be what the op infers. Blank lines and
// lines that start with # are skipped. kInvalidInput names the line. The graph is verified.
Result<Graph> graph_from_text(std::string_view text);

}  // namespace mezzotint
