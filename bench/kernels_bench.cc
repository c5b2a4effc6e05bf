// Times every implementation of the CPU backend on shapes of the whole-head network at 64^3.
//
//   kernels_bench                        Google Benchmark's table: GFLOP/s and GB/s per op
//   kernels_bench --cost-rows            rows for src/backend/cpu/cost_rows.cc, with one thread
//   MEZZOTINT_BENCH_THREADS=N, MEZZOTINT_BENCH_ISA=avx2|avx512: otherwise 1 and this machine's
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/aligned_buffer.h"
#include "base/check.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

class ConstantParameters final : public ParameterSource {
 public:
  Status read(std::string_view, std::span<float> out) override {
    std::fill(out.begin(), out.end(), 0.01F);
    return {};
  }
};

AlignedBuffer filled(std::int64_t bytes) {
  auto buffer = AlignedBuffer::allocate(static_cast<std::size_t>(bytes));
  check(buffer.ok(), "no memory for a benchmark");
  const auto floats = buffer->as<float>();
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(i % 251) / 251.0F - 0.5F;
  }
  return *std::move(buffer);
}

// One op, prepared once and launched many times.
struct Problem {
  Graph graph;
  const Implementation* implementation = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::vector<AlignedBuffer> memory;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  AlignedBuffer workspace;

  [[nodiscard]] OpView view() const { return {graph, graph.op(0)}; }
  void launch(const ThreadTeam& team) const {
    kernel->launch({inputs, outputs, workspace.data(), team});
  }
};

struct Spec {
  std::string text;
  OpKind kind;
  Attributes attributes;
  std::vector<ValueType> inputs;
  std::vector<Shape> parameters;
};

ValueType volume(std::int64_t channels, std::int64_t side) {
  return {Shape{1, channels, side, side, side}, DType::kF32, Layout::kChannelsLast};
}

Spec conv(std::int64_t in, std::int64_t out, std::int64_t side, std::int64_t kernel,
          std::int64_t stride) {
  return {fmt::format("c{} k{} d{} f{} s{}", in, out, side, kernel, stride),
          OpKind::conv3d,
          {{"stride", stride}, {"padding", kernel / 2}},
          {volume(in, side)},
          {Shape{out, in, kernel, kernel, kernel}, Shape{out}}};
}

std::vector<Spec> specs() {
  const ValueType wide = volume(64, 64);
  const ValueType moments{Shape{1, 256, 2}, DType::kF64};
  return {
      conv(64, 64, 64, 3, 1),
      conv(128, 64, 64, 3, 1),
      conv(128, 128, 32, 3, 1),
      conv(192, 192, 16, 3, 1),
      conv(256, 256, 8, 3, 1),
      conv(512, 256, 8, 3, 1),
      conv(512, 256, 2, 3, 1),  // all weights, for the bandwidth of those that hold more of them
      conv(64, 64, 64, 3, 2),
      conv(128, 64, 64, 1, 1),
      conv(3, 64, 64, 3, 1),
      conv(8, 64, 64, 3, 1),
      conv(64, 1, 64, 3, 1),
      {"c64 d64", OpKind::silu, {}, {wide}, {}},
      {"c64 d64", OpKind::add, {}, {wide, wide}, {}},
      {"c64 d64", OpKind::add_channels, {}, {wide, ValueType{Shape{1, 64}}}, {}},
      {"c64 d64 silu",
       OpKind::affine,
       {{"activation", std::string("silu")}},
       {wide, ValueType{Shape{1, 64, 2}}},
       {}},
      {"c64 d64", OpKind::channel_moments, {}, {wide}, {}},
      {"c256",
       OpKind::group_norm_coefficients,
       {{"groups", std::int64_t{32}}},
       {moments},
       {Shape{256}, Shape{256}}},
      {"c64 d32", OpKind::upsample_trilinear, {}, {volume(64, 32)}, {}},
      {"c192 d8", OpKind::attention, {}, {volume(576, 8)}, {}},
      {"c192 d16", OpKind::attention, {}, {volume(576, 16)}, {}},
      {"c64+64 d64", OpKind::concat, {}, {wide, wide}, {}},
      {"c64 d64", OpKind::reorder, {{"layout", std::string("row_major")}}, {wide}, {}},
      {"256 -> 512", OpKind::linear, {}, {ValueType{Shape{1, 256}}}, {Shape{512, 256}, Shape{512}}},
      {"dim 64",
       OpKind::timestep_embedding,
       {{"dim", std::int64_t{64}}},
       {ValueType{Shape{1}}},
       {}},
      {"25 x 256",
       OpKind::select_rows,
       {},
       {ValueType{Shape{25, 256}}, ValueType{Shape{1}, DType::kI32}},
       {}},
  };
}

// Null when the implementation refuses.
std::shared_ptr<Problem> prepare(const Spec& spec, const Implementation& implementation,
                                 const Machine& machine) {
  const Target target{machine, Precision::kFast};  // which refuses least
  auto problem = std::make_shared<Problem>();
  Op op{spec.kind, "op", spec.attributes, {}, {}, {}};
  for (const ValueType& type : spec.inputs) {
    op.inputs.push_back(
        problem->graph.add_input(fmt::format("x{}", op.inputs.size()), type, Rate::kStep));
    problem->memory.push_back(filled(type.bytes()));
    if (type.dtype == DType::kI32) {
      std::memset(problem->memory.back().data(), 0, static_cast<std::size_t>(type.bytes()));
    }
    problem->inputs.push_back({problem->memory.back().data()});
  }
  for (const Shape& shape : spec.parameters) {
    op.inputs.push_back(problem->graph.add_parameter(fmt::format("w{}", op.inputs.size()), shape));
    problem->inputs.push_back({});
  }
  check(problem->graph.add_op(std::move(op)).ok(), "a benchmark's op is malformed");
  if (implementation.refusal(problem->view(), target)) {
    return nullptr;
  }
  problem->memory.push_back(filled(problem->view().output().type.bytes()));
  problem->outputs.push_back({problem->memory.back().data()});
  auto kernel = implementation.prepare(problem->view(), target);
  check(kernel.ok(), "an accepted op could not be prepared");
  problem->implementation = &implementation;
  problem->kernel = *std::move(kernel);
  ConstantParameters parameters;
  check(problem->kernel->load(parameters).ok(), "a benchmark's weights could not be loaded");
  problem->workspace = filled(static_cast<std::int64_t>(problem->kernel->workspace_bytes()));
  return problem;
}

using Visit = std::function<void(const Spec&, const std::shared_ptr<Problem>&)>;

void for_each_problem(const Backend& backend, const Machine& machine, const Visit& visit) {
  for (const Spec& spec : specs()) {
    for (const Implementation* implementation : backend.implementations(spec.kind)) {
      if (const auto problem = prepare(spec, *implementation, machine)) {
        visit(spec, problem);
      }
    }
  }
}

double best_seconds(const Problem& problem, const ThreadTeam& team) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto begin = Clock::now();
  for (int i = 0; i < 200 && (i < 5 || Clock::now() - begin < std::chrono::seconds(1)); ++i) {
    const auto start = Clock::now();
    problem.launch(team);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// GFLOP/s over all shapes together, the best GB/s of any shape, and the time of the smallest shape
// (at most 5 us) as the cost of a launch. What computes nothing gets 1 GFLOP/s, to divide by.
void print_cost_rows(const Backend& backend, const Machine& machine, const ThreadTeam& team) {
  struct Totals {
    double flops = 0;
    double seconds = 0;
    double best_gbytes = 0;
    double least_seconds = 5e-6;
  };
  std::map<std::string, Totals> rows;
  for_each_problem(backend, machine, [&](const Spec&, const std::shared_ptr<Problem>& problem) {
    const double seconds = best_seconds(*problem, team);
    Totals& totals = rows[std::string(problem->implementation->name())];
    const Work work = problem->implementation->work(problem->view(), {machine, Precision::kFast});
    totals.flops += work.priced_flops;
    totals.seconds += seconds;
    totals.best_gbytes = std::max(totals.best_gbytes, work.bytes / seconds * 1e-9);
    totals.least_seconds = std::min(totals.least_seconds, seconds);
  });
  for (const auto& [name, totals] : rows) {
    fmt::print("    {{Isa::{}, \"{}\", {:.1f}, {:.1f}, {:.1e}}},\n",
               machine.isa == Isa::kAvx2 ? "kAvx2" : "kAvx512", name,
               std::max(totals.flops / totals.seconds * 1e-9, 1.0), totals.best_gbytes,
               totals.least_seconds);
  }
}

void register_benchmarks(const Backend& backend, const Machine& machine, const ThreadTeam& team) {
  for_each_problem(
      backend, machine, [&](const Spec& spec, const std::shared_ptr<Problem>& problem) {
        const std::string name = fmt::format("{}/{}", problem->implementation->name(), spec.text);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [problem, &team](benchmark::State& state) {
              for (auto _ : state) {
                problem->launch(team);
              }
              using benchmark::Counter;
              state.counters["GFLOP"] =
                  Counter(flops_of(problem->view()) * 1e-9, Counter::kIsIterationInvariantRate);
              state.counters["GB"] =
                  Counter(bytes_of(problem->view()) * 1e-9, Counter::kIsIterationInvariantRate);
            })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      });
}

Machine machine_from_environment() {
  Machine machine;
  const auto detected = detect_isa();
  check(detected.ok(), "the benchmarks need AVX2");
  const char* isa = std::getenv("MEZZOTINT_BENCH_ISA");
  machine.isa = isa == nullptr ? *detected : isa_from_name(isa).value_or(*detected);
  const char* threads = std::getenv("MEZZOTINT_BENCH_THREADS");
  machine.avx512_bf16 = has_avx512_bf16();
  machine.l2_bytes = l2_cache_bytes();
  machine.threads = threads == nullptr ? 1 : std::max(1, std::atoi(threads));
  return machine;
}

}  // namespace
}  // namespace mezzotint

int main(int argc, char** argv) {
  using namespace mezzotint;
  const Machine machine = machine_from_environment();
  const ThreadTeam team(machine.threads);
  const ComputeScope scope(team);
  const auto backend = make_cpu_backend();
  if (argc == 2 && std::string_view(argv[1]) == "--cost-rows") {
    print_cost_rows(*backend, machine, team);
    return 0;
  }
  register_benchmarks(*backend, machine, team);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
