// Graphs from text, random values for all that they read, and guarded runs of their programs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ref/evaluate.h"
#include "graph/text.h"
#include "runtime/compile.h"
#include "support/random_fill.h"

namespace mezzotint::testing {

inline Graph parse(std::string_view text) {
  auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return std::move(*graph);
}

inline Binding bind_output(std::string_view name, std::vector<float>& out) {
  return {name, reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(float)};
}

// Random values for every input and parameter, and the truth of every value.
class Data final : public ParameterSource {
 public:
  explicit Data(const Graph& graph) {
    std::uint64_t seed = 1;
    for (const auto ids : {graph.inputs(), graph.parameters()}) {
      for (const ValueId id : ids) {
        const Value& value = graph.value(id);
        values_[value.name] = random_floats(value.type.shape.elements(), seed++);
      }
    }
  }

  Status read(std::string_view name, std::span<float> out) override {
    const std::vector<float>& stored = values_.find(name)->second;
    std::copy(stored.begin(), stored.end(), out.begin());
    return {};
  }

  Binding bind(std::string_view name) { return bind_output(name, values_.find(name)->second); }

  std::vector<double> truth(const Graph& graph, std::string_view name) const {
    ref::Bindings bindings;
    for (const auto& [key, value] : values_) {
      bindings[key] = {graph.value(*graph.find_value(key)).type.shape,
                       {value.begin(), value.end()}};
    }
    const auto all = ref::evaluate(graph, bindings, ThreadTeam(2));
    EXPECT_TRUE(all.ok()) << all.error().message;
    return (*all)[*graph.find_value(name)].data;
  }

 private:
  std::map<std::string, std::vector<float>, std::less<>> values_;
};

// Loads the program and runs its volume pass and a step, in an arena of NaN with guard bytes behind
// it, which must survive. Returns output 0 of `graph`, what the program was compiled from.
inline std::vector<float> run_guarded(Program& program, const Graph& graph, Data& data) {
  constexpr std::size_t kGuardBytes = 4096;
  constexpr int kGuard = 0x5a;
  EXPECT_TRUE(program.load(data).ok());
  const auto arena = AlignedBuffer::allocate(program.arena_bytes() + kGuardBytes);
  EXPECT_TRUE(arena.ok());
  std::memset(arena->data(), 0xff, program.arena_bytes());
  std::memset(arena->data() + program.arena_bytes(), kGuard, kGuardBytes);

  const Value& output = graph.value(graph.outputs()[0]);
  std::vector<float> out(static_cast<std::size_t>(output.type.shape.elements()));
  std::vector<Binding> bindings{bind_output(output.name, out)};
  for (const ValueId id : graph.inputs()) {
    bindings.push_back(data.bind(graph.value(id).name));
  }
  for (const Rate rate : {Rate::kVolume, Rate::kStep}) {
    const Status status = program.run(rate, bindings, *arena, {ThreadTeam(2), nullptr, {}});
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
  const auto guard = arena->as<char>().subspan(program.arena_bytes());
  EXPECT_TRUE(std::ranges::all_of(guard, [](char byte) { return byte == kGuard; }))
      << "written behind the arena";
  return out;
}

}  // namespace mezzotint::testing
