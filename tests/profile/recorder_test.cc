#include "profile/recorder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backend/cpu/cpu_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::bind_output;
using testing::Data;
using testing::parse;

// 100000 values, in blocks of 16384: seven tasks.
constexpr std::string_view kGraph = R"(input %x step float32[1, 16, 25, 10, 25]
input %v step float32[1, 16]
%a = silu(%x)
%w = silu(%v)
%b = add_channels(%a, %w)
output %b
)";

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest()
      : graph_(parse(kGraph)), data_(graph_), out_(100'000), backend_(make_cpu_backend()) {
    auto program = compile(graph_, *backend_, {testing::test_machine(), {}, {}});
    EXPECT_TRUE(program.ok()) << program.error().message;
    program_ = std::move(*program);
    EXPECT_TRUE(program_->load(data_).ok());
  }

  std::vector<float> run(const RunOptions& options) {
    const auto arena = program_->make_arena();
    const Binding bindings[] = {data_.bind("x"), data_.bind("v"), bind_output("b", out_)};
    const Status status = program_->run(Rate::kStep, bindings, *arena, options);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return out_;
  }

  Graph graph_;
  Data data_;
  std::vector<float> out_;
  std::unique_ptr<Backend> backend_;
  std::optional<Program> program_;
};

TEST_F(RecorderTest, HearsEachOpOfEachRun) {
  TeamLog log(2);
  Recorder recorder(&log);
  Listener* const listeners[] = {&recorder};
  constexpr int kRuns = 3;
  for (int i = 0; i < kRuns; ++i) {
    recorder.begin_run();
    run({ThreadTeam(2, &log), nullptr, listeners});
  }
  ASSERT_EQ(recorder.ops().size(), program_->ops().size());
  for (std::size_t i = 0; i < recorder.ops().size(); ++i) {
    const OpRecord& record = recorder.ops()[i];
    EXPECT_EQ(record.op.name, program_->ops()[i].name);
    EXPECT_EQ(record.seconds.size(), static_cast<std::size_t>(kRuns));
    EXPECT_EQ(record.imbalance.size(), static_cast<std::size_t>(kRuns));
    double total = 0;
    for (const double seconds : record.seconds) {
      EXPECT_GT(seconds, 0);
      total += seconds;
    }
    ASSERT_EQ(record.busy_seconds.size(), 2U);
    for (const double busy : record.busy_seconds) {
      EXPECT_LE(busy, total);
    }
    if (record.op.name == "a") {
      EXPECT_EQ(record.loops, kRuns);
      EXPECT_EQ(record.tasks, kRuns * 7);
      EXPECT_EQ(record.level, "25x10x25");
      EXPECT_EQ(record.kind, "silu");
    }
    if (record.op.name == "w") {
      EXPECT_EQ(record.level, "vectors");
    }
  }
}

TEST_F(RecorderTest, TracesTheLastRun) {
  TeamLog log(2);
  Recorder recorder(&log);
  Listener* const listeners[] = {&recorder};
  for (int i = 0; i < 2; ++i) {
    recorder.begin_run();
    run({ThreadTeam(2, &log), nullptr, listeners});
  }
  double tasks = 0;
  for (const OpRecord& record : recorder.ops()) {
    tasks += record.loops > 0 ? record.tasks / 2 : 1;
  }
  EXPECT_EQ(recorder.trace().size(), tasks);
  double last_end = 0;
  for (const OpRecord& record : recorder.ops()) {
    EXPECT_GE(record.begin, last_end);
    EXPECT_GE(record.end - record.begin, record.seconds.back());
    last_end = record.end;
  }
  double op_end = 0;
  std::uint32_t op = 0;
  double latest = 0;
  for (const TraceSpan& span : recorder.trace()) {
    if (span.op != op) {
      EXPECT_EQ(span.op, op + 1);
      op = span.op;
      op_end = latest;
    }
    EXPECT_LT(span.thread, 2);
    EXPECT_GE(span.begin, op_end);
    EXPECT_GE(span.begin, recorder.ops()[span.op].begin);
    EXPECT_LE(span.end, recorder.ops()[span.op].end);
    EXPECT_GE(span.end, span.begin);
    latest = std::max(latest, span.end);
  }
}

TEST_F(RecorderTest, ChangesNoByte) {
  const std::vector<float> plain = run({ThreadTeam(2), nullptr, {}});
  std::ranges::fill(out_, 0.0F);
  TeamLog log(2);
  Recorder recorder(&log);
  Listener* const listeners[] = {&recorder};
  recorder.begin_run();
  const std::vector<float> listened = run({ThreadTeam(2, &log), nullptr, listeners});
  EXPECT_EQ(std::memcmp(plain.data(), listened.data(), plain.size() * sizeof(float)), 0);
}

TEST_F(RecorderTest, KeepsTimesWithoutATeamsLog) {
  Recorder recorder;
  Listener* const listeners[] = {&recorder};
  recorder.begin_run();
  run({ThreadTeam(2), nullptr, listeners});
  ASSERT_EQ(recorder.ops().size(), program_->ops().size());
  EXPECT_EQ(recorder.ops()[0].seconds.size(), 1U);
  EXPECT_TRUE(recorder.ops()[0].imbalance.empty());
  EXPECT_TRUE(recorder.trace().empty());
}

}  // namespace
}  // namespace mezzotint
