// For any text: a graph whose text form reads back to the same text and whose costs are numbers, or
// one line that names where it is wrong.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graph/op_definition.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  const auto graph = graph_from_text({reinterpret_cast<const char*>(data), size});
  if (!graph) {
    const std::string& message = graph.error().message;
    if (graph.error().code != ErrorCode::kInvalidInput ||
        !message.starts_with("graph text, line ") || message.find('\n') != std::string::npos) {
      std::abort();
    }
    return 0;
  }
  for (const Op& op : graph->ops()) {
    const OpView view{*graph, op};
    if (!(flops_of(view) >= 0) || !std::isfinite(flops_of(view)) || !(bytes_of(view) > 0)) {
      std::abort();
    }
  }
  const std::string text = to_text(*graph);
  const auto again = graph_from_text(text);
  if (!again || to_text(*again) != text) {
    std::abort();
  }
  return 0;
}
