#include "graph/text.h"

#include <fmt/format.h>

#include <iterator>

#include "graph/text_scanner.h"

namespace mezzotint {
namespace {

// Shortest digits that read back as the same double, with a mark that tells it from an integer.
std::string spelled(double value) {
  std::string digits = fmt::format("{}", value);
  if (digits.find_first_of(".en") == std::string::npos) {
    digits += ".0";
  }
  return digits;
}

std::string spelled(const Attribute& attribute) {
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    return fmt::format("{}", *integer);
  }
  if (const auto* real = std::get_if<double>(&attribute)) {
    return spelled(*real);
  }
  return quoted_text(std::get<std::string>(attribute));
}

class Writer {
 public:
  Writer(const Graph& graph, int depth, std::string& out)
      : graph_(graph),
        indent_(static_cast<std::size_t>(2 * depth), ' '),
        depth_(depth),
        out_(out) {}

  void write() {
    const auto values = graph_.values();
    for (ValueId id = 0; id < values.size(); ++id) {
      const Value& value = values[id];
      switch (value.kind) {
        case ValueKind::kInput:
          line("input {} {} {}", spelled_name(value.name), name_of(value.rate),
               spelled_type(value.type));
          break;
        case ValueKind::kParameter:
          line("parameter {} {}", spelled_name(value.name), value.type.shape.to_string());
          break;
        case ValueKind::kResult:
          if (const Op& op = graph_.op(value.producer); op.outputs.front() == id) {
            write_op(op);
          }
          break;
      }
    }
    for (const ValueId id : graph_.outputs()) {
      line("output {}", spelled_name(graph_.value(id).name));
    }
    for (const auto& [name, id] : graph_.aliases()) {
      line("alias {} = {}", spelled_name(name), spelled_name(graph_.value(id).name));
    }
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += indent_;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void write_op(const Op& op) {
    std::string text = fmt::format("{} = {}(", spelled_name(op.name), name_of(op.kind));
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      text += (i == 0 ? "" : ", ") + spelled_name(graph_.value(op.inputs[i]).name);
    }
    text += ")";
    for (const auto& [name, attribute] : op.attributes.entries()) {
      text += fmt::format(" {}={}", name, spelled(attribute));
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      text += (i == 0 ? " -> " : ", ") + spelled_type(graph_.value(op.outputs[i]).type);
    }
    if (op.body == nullptr) {
      line("{}", text);
      return;
    }
    line("{} {{", text);
    Writer(*op.body, depth_ + 1, out_).write();
    line("}}");
  }

  const Graph& graph_;
  std::string indent_;
  int depth_;
  std::string& out_;
};

}  // namespace

std::string to_text(const Graph& graph) {
  std::string out;
  Writer(graph, 0, out).write();
  return out;
}

}  // namespace mezzotint
