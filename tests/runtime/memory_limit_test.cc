// Less memory: other implementations, the same results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

// How an implementation differs from the law, which computes for it.
struct Form {
  std::string_view name;
  double gflops;
  std::size_t packed_per_weight;  // bytes
  std::size_t workspace_bytes;
};

// The law's linear layers under several names, with weights and workspaces of other sizes and
// costs.
class SizedBackend final : public Backend {
 public:
  explicit SizedBackend(std::span<const Form> forms) : law_(make_ref_backend()) {
    for (const Form& form : forms) {
      rows_.push_back({Isa::kAvx2, form.name, form.gflops, 1e9, 0});
      owned_.push_back(std::make_unique<Sized>(*law_->implementations(OpKind::linear)[0], form));
      linears_.push_back(owned_.back().get());
    }
    costs_ = CostTable(rows_);
  }
  [[nodiscard]] std::string_view name() const override { return "sized"; }
  [[nodiscard]] std::string description() const override { return "sized"; }
  [[nodiscard]] std::span<const Implementation* const> implementations(OpKind kind) const override {
    return kind == OpKind::linear ? linears_ : law_->implementations(kind);
  }
  [[nodiscard]] const CostTable& costs() const override { return costs_; }

 private:
  class SizedKernel final : public Kernel {
   public:
    SizedKernel(std::unique_ptr<Kernel> law, const Form& form, std::size_t weights)
        : law_(std::move(law)), form_(form), weights_(weights) {}
    [[nodiscard]] std::size_t packed_bytes() const override {
      return weights_ * form_.packed_per_weight;
    }
    [[nodiscard]] std::size_t workspace_bytes() const override {
      return law_->workspace_bytes() + form_.workspace_bytes;
    }
    Status load(ParameterSource& source) override { return law_->load(source); }
    void launch(const LaunchContext& context) const override { law_->launch(context); }

   private:
    std::unique_ptr<Kernel> law_;
    const Form& form_;
    std::size_t weights_;
  };

  class Sized final : public Implementation {
   public:
    Sized(const Implementation& law, const Form& form) : law_(law), form_(form) {}
    [[nodiscard]] std::string_view name() const override { return form_.name; }
    [[nodiscard]] std::optional<std::string> refusal(const OpView& view,
                                                     const Target& target) const override {
      return law_.refusal(view, target);
    }
    [[nodiscard]] Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                                          const Target& target) const override {
      auto law = law_.prepare(view, target);
      if (!law) {
        return law.error();
      }
      const auto weights = static_cast<std::size_t>(view.input(1).type.shape.elements());
      return std::unique_ptr<Kernel>(
          std::make_unique<SizedKernel>(std::move(*law), form_, weights));
    }

   private:
    const Implementation& law_;
    const Form& form_;
  };

  std::unique_ptr<Backend> law_;
  std::vector<std::unique_ptr<Implementation>> owned_;
  std::vector<const Implementation*> linears_;
  std::vector<CostRow> rows_;
  CostTable costs_{{}};
};

// Half as fast for a quarter of the bytes, or an eighth as fast for an eighth: the former saves
// more for its time.
constexpr Form kForms[] = {
    {"sized.large", 8, 32, 0}, {"sized.middle", 4, 8, 0}, {"sized.small", 1, 4, 0}};

constexpr std::string_view kNetwork = R"(input %x step float32[1, 32]
parameter %a.weight [64, 32]
parameter %a.bias [64]
parameter %b.weight [64, 64]
parameter %b.bias [64]
parameter %c.weight [16, 64]
parameter %c.bias [16]
%a = linear(%x, %a.weight, %a.bias)
%b = linear(%a, %b.weight, %b.bias)
%c = linear(%b, %c.weight, %c.bias)
output %c
)";

class MemoryLimit : public ::testing::Test {
 protected:
  Result<Program> compiled(std::optional<std::uint64_t> limit) {
    options_.memory_limit = limit;
    return compile(graph_, backend_, options_);
  }
  static std::string choices_of(const Program& program) {
    std::string text;
    for (const auto& [op, entry] : program.plan_entries()) {
      text += fmt::format("{}={} ", op, entry.implementation.substr(6));
    }
    return text;
  }

  const Graph graph_ = parse(kNetwork);
  const SizedBackend backend_{kForms};
  CompileOptions options_{test_machine(), {}, {}, true, std::nullopt};
};

TEST_F(MemoryLimit, IsNoneWhereTheFastestFit) {
  const auto fastest = compiled(std::nullopt);
  ASSERT_TRUE(fastest.ok()) << fastest.error().message;
  EXPECT_EQ(choices_of(*fastest), "a=large b=large c=large ");
  const auto fits = compiled(fastest->peak_bytes());
  ASSERT_TRUE(fits.ok());
  EXPECT_EQ(choices_of(*fits), "a=large b=large c=large ");
}

TEST_F(MemoryLimit, TakesFirstWhatSavesMostForItsTime) {
  const std::uint64_t most = compiled(std::nullopt)->peak_bytes();
  // Of equals, the first op: its 2048 weights save 24 bytes each.
  EXPECT_EQ(choices_of(*compiled(most - 1)), "a=middle b=large c=large ");
  EXPECT_EQ(choices_of(*compiled(most - 24 * 2048)), "a=middle b=large c=large ");
  EXPECT_EQ(choices_of(*compiled(most - 24 * 2048 - 1)), "a=middle b=middle c=large ");
  EXPECT_EQ(choices_of(*compiled(most - 24 * 7168)), "a=middle b=middle c=middle ");
  EXPECT_EQ(choices_of(*compiled(most - 24 * 7168 - 1)), "a=small b=middle c=middle ");
}

// Whatever the limit: kept, or nothing smaller is left; the less memory the more time; twice the
// same; and the results are those of the law.
TEST_F(MemoryLimit, IsKeptAsFarAsPossible) {
  Data data(graph_);
  const std::vector<double> truth = data.truth(graph_, "c");
  const std::uint64_t most = compiled(std::nullopt)->peak_bytes();
  double seconds = 0;
  for (std::uint64_t limit = most; limit > 0; limit -= std::min<std::uint64_t>(limit, 5000)) {
    auto program = compiled(limit);
    ASSERT_TRUE(program.ok()) << program.error().message;
    const std::string choices = choices_of(*program);
    EXPECT_TRUE(program->peak_bytes() <= limit || choices == "a=small b=small c=small ")
        << choices << program->peak_bytes() << " > " << limit;
    EXPECT_GE(program->predicted_seconds(), seconds);
    seconds = program->predicted_seconds();
    EXPECT_EQ(choices_of(*compiled(limit)), choices);
    // Sums of at most 64 products of numbers below 1.
    EXPECT_LT(difference(run_guarded(*program, graph_, data), truth).relative_l2, 1e-6);
  }
}

TEST_F(MemoryLimit, LeavesWhatThePlanNames) {
  options_.plan.entries["a"].implementation = "sized.large";
  options_.plan.entries["b"];  // open
  const auto program = compiled(1);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(choices_of(*program), "a=large b=small c=small ");
}

// What is live counts only where it is too much.
TEST_F(MemoryLimit, TakesSmallerWorkspacesWhereTheyAreThePeak) {
  constexpr Form kWorkspaces[] = {{"sized.wide", 8, 4, 100'000}, {"sized.narrow", 4, 4, 0}};
  const SizedBackend backend(kWorkspaces);
  const auto fastest = compile(graph_, backend, options_);
  ASSERT_TRUE(fastest.ok());
  EXPECT_EQ(choices_of(*fastest), "a=wide b=wide c=wide ");
  // b has its input and its result beside the workspace.
  options_.memory_limit = fastest->peak_bytes() - 1;
  EXPECT_EQ(choices_of(*compile(graph_, backend, options_)), "a=wide b=narrow c=wide ");
  options_.memory_limit = fastest->peak_bytes() - 1000;
  EXPECT_EQ(choices_of(*compile(graph_, backend, options_)), "a=narrow b=narrow c=narrow ");
}

}  // namespace
}  // namespace mezzotint::testing
