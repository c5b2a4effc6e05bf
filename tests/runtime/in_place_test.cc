// Results in the memory of their inputs: the same bytes as apart, and no memory beyond the arena.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// On the CPU backend: in place, apart, and the truth. Returns what the arena saves.
std::size_t compare_in_place(const std::string& text) {
  const Graph graph = parse(text);
  Data data(graph);
  const auto backend = make_cpu_backend();
  CompileOptions options{test_machine(), {}, {}};
  auto in_place = compile(graph, *backend, options);
  options.allow_in_place = false;
  auto apart = compile(graph, *backend, options);
  if (!in_place.ok() || !apart.ok()) {
    ADD_FAILURE() << (in_place.ok() ? apart : in_place).error().message << "\n" << text;
    return 0;
  }
  const std::vector<float> expected = run_guarded(*apart, graph, data);
  EXPECT_TRUE(same_bytes(run_guarded(*in_place, graph, data), expected)) << text;
  const Difference error =
      difference(expected, data.truth(graph, graph.value(graph.outputs()[0]).name));
  // What docs/precision.md allows a whole network.
  EXPECT_LT(error.relative_l2, 1e-5) << error.text << "\n" << text;
  EXPECT_LE(in_place->arena_bytes(), apart->arena_bytes()) << text;
  return apart->arena_bytes() - in_place->arena_bytes();
}

// The residual dies in the convolution that adds it, but the convolution also reads it as source.
TEST(InPlace, AConvolutionDoesNotOverwriteItsSourceWithItsResult) {
  compare_in_place(R"(input %x step float32[1, 32, 9, 10, 11]
parameter %conv.weight [32, 32, 3, 3, 3]
parameter %conv.bias [32]
%a = silu(%x)
%conv = conv3d(%a, %conv.weight, %conv.bias) padding=1
%sum = add(%conv, %a)
%y = silu(%sum)
output %y
)");
}

TEST(InPlace, AResidualOfItsOwnSavesMemory) {
  const std::size_t saved = compare_in_place(R"(input %x step float32[1, 32, 9, 10, 11]
parameter %conv.weight [32, 32, 3, 3, 3]
%a = silu(%x)
%b = silu(%a)
%conv = conv3d(%b, %conv.weight) padding=1
%sum = add(%conv, %a)
%y = silu(%sum)
output %y
)");
  EXPECT_GT(saved, 0u);
}

// Random graphs of what a UNet consists of, on 16 channels. Operands repeat and are read again
// later.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    for (int i = 0; i < 8; ++i) {
      add_op(fmt::format("op{}", i));
    }
    return fmt::format(
        "input %x step float32[1, 16, 4, 3, 5]\n"
        "input %mask volume float32[1, 16, 4, 3, 5]\n"
        "input %v step float32[1, 16]\n"
        "{}{}output %{}\n",
        parameters_, ops_, values_.back());
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  // One of the latest values, so that most are read.
  std::string operand() {
    const std::size_t latest = std::min<std::size_t>(values_.size(), 3);
    return "%" + values_[values_.size() - 1 - below(latest)];
  }

  void parameter(const std::string& name, const std::string& shape) {
    parameters_ += fmt::format("parameter %{} [{}]\n", name, shape);
  }

  void add_op(const std::string& name) {
    const std::string a = operand();
    switch (below(6)) {
      case 0: ops_ += fmt::format("%{} = silu({})\n", name, a); break;
      case 1: ops_ += fmt::format("%{} = add({}, {})\n", name, a, operand()); break;
      case 2: ops_ += fmt::format("%{} = add_channels({}, %v)\n", name, a); break;
      case 3: add_norm(name, a); break;
      case 4: add_conv(name, a, 16); break;
      default:
        ops_ += fmt::format("%{}.joined = concat({}, {})\n", name, a, operand());
        add_conv(name, "%" + name + ".joined", 32);
    }
    values_.push_back(name);
  }

  void add_norm(const std::string& name, const std::string& x) {
    parameter(name + ".weight", "16");
    parameter(name + ".bias", "16");
    ops_ += fmt::format(
        "%{0}.moments = channel_moments({1})\n"
        "%{0}.norm = group_norm_coefficients(%{0}.moments, %{0}.weight, %{0}.bias) eps=1e-05"
        " groups=4\n"
        "%{0} = affine({1}, %{0}.norm) activation=\"silu\"\n",
        name, x);
  }

  // With a residual as often as not, which may be the source.
  void add_conv(const std::string& name, const std::string& x, int channels) {
    parameter(name + ".weight", fmt::format("16, {}, 3, 3, 3", channels));
    parameter(name + ".bias", "16");
    const bool adds = below(2) == 0;
    const std::string conv = adds ? name + ".conv" : name;
    ops_ += fmt::format("%{0} = conv3d({1}, %{2}.weight, %{2}.bias) padding=1\n", conv, x, name);
    if (adds) {
      ops_ += fmt::format("%{} = add(%{}, {})\n", name, conv, operand());
    }
  }

  std::mt19937 random_;
  std::vector<std::string> values_{"mask", "x"};
  std::string parameters_;
  std::string ops_;
};

TEST(InPlace, RandomGraphsGiveTheSameBytesAsApart) {
  int saving = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    saving += compare_in_place(RandomGraph(seed).text()) > 0 ? 1 : 0;
  }
  EXPECT_GT(saving, 10);  // else nothing was tested
}

TEST(Arena, PeakIsKnownAndNeverExceeded) {
  // Four activations exist, but only two at a time.
  const Graph graph = parse(R"(input %x step float32[1, 1024]
%a = silu(%x)
%b = silu(%a)
%c = silu(%b)
%d = silu(%c)
output %d
)");
  Data data(graph);
  const auto backend = make_ref_backend();
  auto program = compile(graph, *backend, {test_machine(), {}, {}});
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_LE(program->arena_bytes(), 2u * 1024u * sizeof(float));
  EXPECT_GE(program->arena_bytes(), 1024u * sizeof(float));
  const std::vector<float> out = run_guarded(*program, graph, data);
  // Four results, each rounded once.
  EXPECT_LT(difference(out, data.truth(graph, "d")).relative_l2, 4 * std::ldexp(1.0, -24));
}

}  // namespace
}  // namespace mezzotint::testing
