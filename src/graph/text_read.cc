#include "graph/text.h"

#include <charconv>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "graph/graph_builder.h"
#include "graph/text_scanner.h"
#include "graph/verifier.h"

namespace mezzotint {
namespace {

Result<Attribute> read_attribute(TextScanner& scanner) {
  if (scanner.at('"')) {
    auto text = scanner.quoted();
    return text ? Result<Attribute>(Attribute(std::move(*text))) : text.error();
  }
  const std::string_view token = scanner.word();
  const char* const end = token.data() + token.size();
  const bool is_real = token.find_first_of(".en") != std::string_view::npos;
  std::int64_t integer = 0;
  double real = 0;
  const auto [stop, code] = is_real ? std::from_chars(token.data(), end, real)
                                    : std::from_chars(token.data(), end, integer);
  if (code != std::errc() || stop != end) {
    return invalid_input("expected an integer, a real or a quoted text, found {}",
                         in_quotes(token));
  }
  return is_real ? Attribute(real) : Attribute(integer);
}

Result<Shape> read_shape(TextScanner& scanner) {
  std::vector<std::int64_t> dims;
  if (!scanner.accept('[')) {
    return invalid_input("expected a shape such as [1, 64, 8, 8, 8]");
  }
  while (!scanner.accept(']')) {
    const std::string_view token = scanner.word();
    std::int64_t dim = 0;
    const char* const end = token.data() + token.size();
    const auto [stop, code] = std::from_chars(token.data(), end, dim);
    if (code != std::errc() || stop != end || token.empty() ||
        (!scanner.accept(',') && !scanner.at(']'))) {
      return invalid_input("expected a shape such as [1, 64, 8, 8, 8]");
    }
    dims.push_back(dim);
  }
  return Shape(std::move(dims));
}

Result<ValueType> read_type(TextScanner& scanner) {
  const std::string_view token = scanner.word();
  const auto dtype = dtype_from_name(token);
  if (!dtype) {
    return invalid_input("expected a type such as float32[1, 64], found {}", in_quotes(token));
  }
  auto shape = read_shape(scanner);
  if (!shape) {
    return shape.error();
  }
  ValueType type{std::move(*shape), *dtype, Layout::kRowMajor};
  if (scanner.accept_word(name_of(Layout::kChannelsLast))) {
    type.layout = Layout::kChannelsLast;
  }
  return type;
}

class Reader {
 public:
  Reader(LineReader& lines, int depth) : lines_(lines), depth_(depth) {}

  // Up to the end of the text, or of the body at the depths below the first.
  Result<Graph> read() {
    while (lines_.next()) {
      TextScanner scanner(lines_.current());
      if (scanner.accept('}')) {
        if (depth_ == 0 || !scanner.at_end()) {
          return at_line(invalid_input("unexpected `}}`"));
        }
        return finish();
      }
      const std::size_t number = lines_.number();
      if (Status status = read_statement(scanner); !status) {
        return located_ ? status.error() : at_line(status.error(), number);
      }
    }
    if (depth_ > 0) {
      return at_line(invalid_input("the text ends inside a body; expected `}}`"));
    }
    return finish();
  }

 private:
  Error at_line(const Error& error, std::size_t number) const {
    return invalid_input("graph text, line {}: {}", number, error.message);
  }
  Error at_line(const Error& error) const { return at_line(error, lines_.number()); }

  Result<Graph> finish() {
    auto graph = builder_.finish();
    return graph ? std::move(graph) : at_line(graph.error());
  }

  Status read_statement(TextScanner& scanner) {
    Status status = scanner.at('%')                    ? read_op(scanner)
                    : scanner.accept_word("input")     ? read_input(scanner)
                    : scanner.accept_word("parameter") ? read_parameter(scanner)
                    : scanner.accept_word("output")    ? read_output(scanner)
                    : scanner.accept_word("alias")
                        ? read_alias(scanner)
                        : invalid_input("expected input, parameter, output, alias or %name = ...");
    if (!status) {
      return status;
    }
    if (!scanner.at_end()) {
      return invalid_input("unexpected {} at the end", in_quotes(scanner.rest()));
    }
    return builder_.status();
  }

  Status read_input(TextScanner& scanner) {
    auto name = scanner.name();
    if (!name) {
      return name.error();
    }
    const std::string_view token = scanner.word();
    const auto rate = rate_from_name(token);
    if (!rate) {
      return invalid_input("expected rate model, volume or step, found {}", in_quotes(token));
    }
    auto type = read_type(scanner);
    if (!type) {
      return type.error();
    }
    builder_.input(std::move(*name), std::move(*type), *rate);
    return {};
  }

  Status read_parameter(TextScanner& scanner) {
    auto name = scanner.name();
    if (!name) {
      return name.error();
    }
    auto shape = read_shape(scanner);
    if (!shape) {
      return shape.error();
    }
    builder_.parameter(std::move(*name), std::move(*shape));
    return {};
  }

  Status read_output(TextScanner& scanner) {
    auto value = read_value(scanner);
    if (!value) {
      return value.error();
    }
    builder_.output(*value);
    return {};
  }

  Status read_alias(TextScanner& scanner) {
    auto name = scanner.name();
    if (!name) {
      return name.error();
    }
    if (!scanner.accept('=')) {
      return invalid_input("expected alias %name = %value");
    }
    auto value = read_value(scanner);
    if (!value) {
      return value.error();
    }
    builder_.alias(std::move(*name), *value);
    return {};
  }

  // A value's own name; an alias will not do, so that text has one form.
  Result<ValueId> read_value(TextScanner& scanner) {
    auto name = scanner.name();
    if (!name) {
      return name.error();
    }
    const auto id = builder_.graph().find_value(*name);
    if (!id || builder_.graph().value(*id).name != *name) {
      return invalid_input("no value is named {} so far", in_quotes(*name));
    }
    return *id;
  }

  Status read_op(TextScanner& scanner) {
    Op op;
    auto name = scanner.name();
    if (!name) {
      return name.error();
    }
    op.name = std::move(*name);
    if (!scanner.accept('=')) {
      return invalid_input("expected = after {}", in_quotes(op.name));
    }
    const std::string_view kind_name = scanner.word();
    const auto kind = op_kind_from_name(kind_name);
    if (!kind) {
      return invalid_input("there is no op {}", in_quotes(kind_name));
    }
    op.kind = *kind;
    if (Status status = read_operands(scanner, op); !status) {
      return status;
    }
    if (Status status = read_attributes(scanner, op); !status) {
      return status;
    }
    std::vector<ValueType> types;
    if (scanner.accept("->")) {
      do {
        auto type = read_type(scanner);
        if (!type) {
          return type.error();
        }
        types.push_back(std::move(*type));
      } while (scanner.accept(','));
    }
    if (scanner.accept('{')) {
      if (Status status = read_body(scanner, op); !status) {
        return status;
      }
    }
    const ValueId first = builder_.op(std::move(op));
    return builder_.ok() && !types.empty() ? compare_types(first, types) : Status();
  }

  Status read_operands(TextScanner& scanner, Op& op) {
    if (!scanner.accept('(')) {
      return invalid_input("expected ( after {}", name_of(op.kind));
    }
    if (scanner.accept(')')) {
      return {};
    }
    do {
      auto value = read_value(scanner);
      if (!value) {
        return value.error();
      }
      op.inputs.push_back(*value);
    } while (scanner.accept(','));
    if (!scanner.accept(')')) {
      return invalid_input("expected , or ) after an operand");
    }
    return {};
  }

  static Status read_attributes(TextScanner& scanner, Op& op) {
    while (!scanner.at_end() && !scanner.at('-') && !scanner.at('{')) {
      const std::string name(scanner.word());
      if (name.empty() || !scanner.accept('=')) {
        return invalid_input("expected name=value, -> or {{, found {}", in_quotes(scanner.rest()));
      }
      if (op.attributes.has(name)) {
        return invalid_input("attribute {} is given twice", in_quotes(name));
      }
      auto value = read_attribute(scanner);
      if (!value) {
        return value.error();
      }
      op.attributes.set(name, std::move(*value));
    }
    return {};
  }

  Status read_body(TextScanner& scanner, Op& op) {
    if (!scanner.at_end()) {
      return invalid_input("a body starts on the line after {{");
    }
    if (depth_ == kMaxBodyDepth) {
      return invalid_input("bodies nest more than {} deep", kMaxBodyDepth);
    }
    auto body = Reader(lines_, depth_ + 1).read();
    if (!body) {
      located_ = true;
      return body.error();
    }
    op.body = std::make_shared<const Graph>(std::move(*body));
    return {};
  }

  Status compare_types(ValueId first, const std::vector<ValueType>& types) const {
    const Graph& graph = builder_.graph();
    const Op& op = graph.op(graph.value(first).producer);
    if (types.size() != op.outputs.size()) {
      return invalid_input("{} types are given, {} has {} results", types.size(), name_of(op.kind),
                           op.outputs.size());
    }
    for (std::size_t k = 0; k < types.size(); ++k) {
      const ValueType& inferred = graph.value(op.outputs[k]).type;
      if (inferred != types[k]) {
        return invalid_input("result {} is {}, the text says {}", k, spelled_type(inferred),
                             spelled_type(types[k]));
      }
    }
    return {};
  }

  LineReader& lines_;
  int depth_;
  GraphBuilder builder_;
  bool located_ = false;  // the error already names its line, inside a body
};

}  // namespace

Result<Graph> graph_from_text(std::string_view text) {
  LineReader lines(text);
  return Reader(lines, 0).read();
}

}  // namespace mezzotint
