#include "pipeline/problem.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "graph/graph_builder.h"

namespace mezzotint {
namespace {

struct Letter {
  char letter;
  std::int64_t Problem::*field;
  std::int64_t least;
  std::int64_t most;
  bool required;
};

constexpr std::int64_t kMostSize = 1 << 16;
constexpr Letter kLetters[] = {
    {'n', &Problem::n, 1, kMostSize, false}, {'c', &Problem::c, 1, kMostSize, true},
    {'k', &Problem::k, 1, kMostSize, true},  {'d', &Problem::d, 1, kMostSize, true},
    {'h', &Problem::h, 1, kMostSize, true},  {'w', &Problem::w, 1, kMostSize, true},
    {'s', &Problem::s, 1, 2, false},         {'p', &Problem::p, 0, 1, false},
    {'a', &Problem::a, 1, kMostSize, false},
};
constexpr char kKernel = 'f';
constexpr std::int64_t kMostKernel = 3;
constexpr std::string_view kType = "fp32";

ValueType activation(const Problem& p, std::int64_t channels) {
  return {{p.n, channels, p.d, p.h, p.w}, DType::kF32, Layout::kChannelsLast};
}

ValueId input(GraphBuilder& b, const Problem& p, const char* name, std::int64_t channels) {
  return b.input(name, activation(p, channels), Rate::kStep);
}

ValueId row_major(GraphBuilder& b, const char* name, Shape shape) {
  return b.input(name, {std::move(shape), DType::kF32, Layout::kRowMajor}, Rate::kStep);
}

ValueId build_add(GraphBuilder& b, const Problem& p) {
  const ValueId x = input(b, p, "x", p.c);
  return b.add(p.op, x, input(b, p, "y", p.c));
}

ValueId build_add_channels(GraphBuilder& b, const Problem& p) {
  const ValueId x = input(b, p, "x", p.c);
  return b.add_channels(p.op, x, row_major(b, "v", {p.n, p.c}));
}

ValueId build_affine_with(GraphBuilder& b, const Problem& p, const char* activation) {
  const ValueId x = input(b, p, "x", p.c);
  return b.affine(p.op, x, row_major(b, "coefficients", {p.n, p.c, 2}), activation);
}

ValueId build_affine(GraphBuilder& b, const Problem& p) {
  return build_affine_with(b, p, "none");
}

ValueId build_affine_silu(GraphBuilder& b, const Problem& p) {
  return build_affine_with(b, p, "silu");
}

ValueId build_attention(GraphBuilder& b, const Problem& p) {
  return b.attention(p.op, input(b, p, "qkv", 3 * p.c), p.a);
}

ValueId build_channel_moments(GraphBuilder& b, const Problem& p) {
  return b.channel_moments(p.op, input(b, p, "x", p.c));
}

ValueId build_concat(GraphBuilder& b, const Problem& p) {
  const ValueId x = input(b, p, "x", p.c);
  return b.concat(p.op, std::array{x, input(b, p, "y", p.k)});
}

ValueId build_conv3d(GraphBuilder& b, const Problem& p) {
  const ValueId x = input(b, p, "x", p.c);
  const ValueId weight = b.parameter("weight", {p.k, p.c, p.f[0], p.f[1], p.f[2]});
  return b.conv3d(p.op, x, weight, b.parameter("bias", {p.k}), p.s, p.p);
}

ValueId build_linear(GraphBuilder& b, const Problem& p) {
  const ValueId x = row_major(b, "x", {p.n, p.c});
  const ValueId weight = b.parameter("weight", {p.k, p.c});
  return b.linear(p.op, x, weight, b.parameter("bias", {p.k}));
}

ValueId build_silu(GraphBuilder& b, const Problem& p) {
  return b.silu(p.op, input(b, p, "x", p.c));
}

ValueId build_upsample(GraphBuilder& b, const Problem& p) {
  return b.upsample_trilinear(p.op, input(b, p, "x", p.c));
}

struct Form {
  std::string_view op;
  std::string_view letters;  // in the order in which they are printed
  ValueId (*build)(GraphBuilder&, const Problem&);
};

constexpr Form kForms[] = {
    {"add", "ncdhw", build_add},
    {"add_channels", "ncdhw", build_add_channels},
    {"affine", "ncdhw", build_affine},
    {"affine_silu", "ncdhw", build_affine_silu},
    {"attention", "ncdhwa", build_attention},
    {"channel_moments", "ncdhw", build_channel_moments},
    {"concat", "nckdhw", build_concat},
    {"conv3d", "nckdhwfsp", build_conv3d},
    {"linear", "nck", build_linear},
    {"silu", "ncdhw", build_silu},
    {"upsample_trilinear", "ncdhw", build_upsample},
};

const Form* find_form(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kForms), std::end(kForms),
                                         [&](const Form& form) { return form.op == op; });
  return found == std::end(kForms) ? nullptr : found;
}

const Letter* find_letter(char letter) {
  const auto* const found = std::find_if(std::begin(kLetters), std::end(kLetters),
                                         [&](const Letter& l) { return l.letter == letter; });
  return found == std::end(kLetters) ? nullptr : found;
}

std::string spaced(std::string_view letters) {
  std::string text;
  for (const char letter : letters) {
    text += text.empty() ? std::string(1, letter) : std::string{' ', letter};
  }
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// The number that `text` begins with, taken off it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  return number;
}

Status set_kernel(Problem& problem, std::string_view word) {
  std::string_view rest = word.substr(1);
  std::vector<std::int64_t> sides;
  while (sides.size() < 3) {
    const auto side = take_number(rest);
    if (!side || *side < 1 || *side > kMostKernel) {
      break;
    }
    sides.push_back(*side);
    if (!rest.starts_with('x')) {
      break;
    }
    rest.remove_prefix(1);
  }
  if (!rest.empty() || (sides.size() != 1 && sides.size() != 3)) {
    return invalid_input("problem: {}: a kernel is one side from 1 to {} (f3) or three (f3x1x2)",
                         in_quotes(word), kMostKernel);
  }
  sides.resize(3, sides[0]);
  std::copy(sides.begin(), sides.end(), problem.f.begin());
  return {};
}

Status set_number(Problem& problem, const Letter& letter, std::string_view word) {
  std::string_view rest = word.substr(1);
  const auto number = take_number(rest);
  if (!number || !rest.empty() || *number < letter.least || *number > letter.most) {
    return invalid_input("problem: {}: expected {} and a number from {} to {}", in_quotes(word),
                         letter.letter, letter.least, letter.most);
  }
  problem.*letter.field = *number;
  return {};
}

}  // namespace

Result<Problem> parse_problem(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const Form* form = words.empty() ? nullptr : find_form(words[0]);
  if (form == nullptr) {
    std::string ops;
    for (const Form& known : kForms) {
      ops += fmt::format("{}{}", ops.empty() ? "" : ", ", known.op);
    }
    return invalid_input("problem: {} is no op to measure; it begins with one of {}",
                         words.empty() ? std::string("nothing") : in_quotes(words[0]), ops);
  }
  Problem problem;
  problem.op = form->op;
  std::string given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == kType) {
      continue;
    }
    if (form->letters.find(word[0]) == std::string_view::npos) {
      return invalid_input("problem: {}: {} takes {} with a number each, and the type {}",
                           in_quotes(word), form->op, spaced(form->letters), kType);
    }
    if (given.find(word[0]) != std::string::npos) {
      return invalid_input("problem: {}: {} was given before", in_quotes(word), word[0]);
    }
    given += word[0];
    Status status = word[0] == kKernel ? set_kernel(problem, word)
                                       : set_number(problem, *find_letter(word[0]), word);
    if (!status) {
      return status.error();
    }
  }
  for (const Letter& letter : kLetters) {
    if (letter.required && form->letters.find(letter.letter) != std::string_view::npos &&
        given.find(letter.letter) == std::string::npos) {
      return invalid_input("problem: {} needs {}, as in {}", form->op, letter.letter,
                           in_quotes(fmt::format("{}64", letter.letter)));
    }
  }
  return problem;
}

std::string to_string(const Problem& problem) {
  const Form* form = find_form(problem.op);
  check(form != nullptr, "a problem has an op that cannot be measured");
  std::string text = problem.op;
  for (const char letter : form->letters) {
    if (letter != kKernel) {
      text += fmt::format(" {}{}", letter, problem.*find_letter(letter)->field);
      continue;
    }
    const auto [d, h, w] = problem.f;
    text += d == h && h == w ? fmt::format(" f{}", d) : fmt::format(" f{}x{}x{}", d, h, w);
  }
  return fmt::format("{} {}", text, kType);
}

Result<Graph> build_problem(const Problem& problem) {
  const Form* form = find_form(problem.op);
  check(form != nullptr, "a problem has an op that cannot be measured");
  GraphBuilder builder;
  builder.output(form->build(builder, problem));
  auto graph = builder.finish();
  if (!graph) {
    return invalid_input("problem: {}: {}", to_string(problem), graph.error().message);
  }
  return graph;
}

}  // namespace mezzotint
