// What exploring leaves out costs nothing: the choice against every plan there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "graph/conv_region.h"
#include "runtime/lower.h"
#include "tune/any_layout_backend.h"
#include "tune/residual_block.h"

namespace mezzotint {
namespace {

// Six ops, of which the convolutions are neighbours: in row-major order both, they save the
// conversions between them.
constexpr std::string_view kNeighbours = R"(input %x step float32[1, 32, 8, 8, 8]
input %gain step float32[1, 32]
parameter %a.weight [32, 32, 3, 3, 3]
parameter %a.bias [32]
parameter %b.weight [32, 32, 3, 3, 3]
parameter %b.bias [32]
parameter %n.weight [32]
parameter %n.bias [32]
%a = conv3d(%x, %a.weight, %a.bias) padding=1
%b = conv3d(%a, %b.weight, %b.bias) padding=1
%m = channel_moments(%b)
%k = group_norm_coefficients(%m, %n.weight, %n.bias) groups=8
%n = affine(%b, %k) activation="silu"
%y = add(%n, %x)
output %y
)";

using Sets = std::vector<Fusions>;

// Each subset of them.
Sets subsets(const Fusions& fusions) {
  Sets sets{{}};
  for (const Fusion fusion : fusions) {
    const std::size_t count = sets.size();
    for (std::size_t i = 0; i < count; ++i) {
      sets.push_back(sets[i]);
      sets.back().insert(fusion);
    }
  }
  return sets;
}

// 0 to 1, of a text and a seed.
double fraction_of(const std::string& text, unsigned seed) {
  std::uint64_t hash = 14695981039346656037U + seed;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return static_cast<double>(std::mt19937_64(hash)() >> 11) * 0x1p-53;
}

std::string without_layouts(std::string text) {
  constexpr std::string_view kLayout = " channels_last";
  for (std::size_t at = text.find(kLayout); at != std::string::npos; at = text.find(kLayout)) {
    text.erase(at, kLayout.size());
  }
  return text;
}

struct Block {
  std::string_view name;
  std::string_view text;
  bool any_layout = false;  // something computes row-major activations
};

void PrintTo(const Block& block, std::ostream* out) {
  *out << block.name;
}

class PruningTest : public ::testing::TestWithParam<Block> {
 protected:
  void explore() {
    auto graph = graph_from_text(GetParam().text);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    options_ = {};
    options_.machine = testing::test_machine(1);
    options_.plan.precision = Precision::kFast;  // storage of operands, too, where there is a unit
    const auto program = compile(graph_, *right_, options_);
    ASSERT_TRUE(program.ok()) << program.error().message;
    options_.plan.entries = program->plan_entries();
    auto space = PlanSpace::explore(graph_, backend(), options_, [](int) { return true; });
    ASSERT_TRUE(space.ok()) << space.error().message;
    space_.emplace(std::move(*space));
  }

  // What leaving out forms takes for granted: a conversion takes the same there and back, and a
  // pass the same in either layout, but for `layouts_differ_`, a part of it. All else is chance.
  [[nodiscard]] double cost(const TableOp& op, const Way& way) const {
    const OpKind kind = op.graph.op(0).kind;
    if (kind == OpKind::reorder) {
      return 1 + 9 * fraction_of("conversion", seed_);
    }
    if (kind == OpKind::conv3d || kind == OpKind::region) {
      return 20 + 20 * fraction_of(op.text, seed_) + 5 * fraction_of(op.text + way.name(), seed_);
    }
    return (1 + 9 * fraction_of(without_layouts(op.text) + way.name(), seed_)) *
           (1 + layouts_differ_ * fraction_of(op.text, seed_));
  }

  void set_costs() {
    for (const WayId& id : space_->table().unmeasured()) {
      const TableOp& op = space_->table().op(id.op);
      space_->table().set_timing(id, {cost(op, op.ways[id.way]), 0, 3});
    }
  }

  // The plan's ops in a table of all plans; nothing: a convolution does not take what it should, or
  // nothing computes some op.
  std::optional<std::vector<std::size_t>> ops_of(const PlanEntry& a, const PlanEntry& b) {
    CompileOptions options = options_;
    options.plan.entries["a"] = a;
    options.plan.entries["b"] = b;
    const auto lowered = lower(graph_, backend(), options);
    EXPECT_TRUE(lowered.ok());
    std::vector<std::size_t> ops;
    bool is_possible = true;
    for (const Op& op : lowered->graph.ops()) {
      const OpView view{lowered->graph, op};
      if (op.name == "a" || op.name == "b") {
        const Fusions taken = fusions_of(op);
        taken_[op.name].insert(taken.begin(), taken.end());
        is_possible = is_possible && taken == (op.name == "a" ? a : b).fuse;
      }
      if (view.output().rate == Rate::kStep) {
        ops.push_back(*all_->add(view));
        is_possible = is_possible && !all_->op(ops.back()).ways.empty();
      }
    }
    return is_possible ? std::optional(ops) : std::nullopt;
  }

  // Both layouts and each subset of what a convolution takes in any of them, for both convolutions.
  // Where something computes row-major activations, only what either can be by itself: a conversion
  // that only the neighbour's layout makes is not taken in by tune, either.
  void enumerate_all() {
    constexpr std::optional<Layout> kLayouts[] = {std::nullopt, Layout::kRowMajor};
    const Fusions everything(std::begin(kAllFusions), std::end(kAllFusions));
    all_.emplace(backend(), options_.target());
    const auto for_each_plan = [&](const auto& body) {
      for (const auto& first : kLayouts) {
        for (const auto& second : kLayouts) {
          body(first, second);
        }
      }
    };
    for_each_plan([&](const auto& first, const auto& second) {
      for (const Fusions& other : {Fusions(), everything}) {
        ops_of({"", first, everything}, {"", second, other});
        ops_of({"", first, other}, {"", second, everything});
      }
    });
    for_each_plan([&](const auto& first, const auto& second) {
      for (const Fusions& a : subsets(Fusions(taken_["a"]))) {
        for (const Fusions& b : subsets(Fusions(taken_["b"]))) {
          const bool is_known =
              !GetParam().any_layout || (ops_of({"", first, a}, options_.plan.entries.at("b")) &&
                                         ops_of(options_.plan.entries.at("a"), {"", second, b}));
          if (auto ops = ops_of({"", first, a}, {"", second, b}); ops && is_known) {
            plans_.push_back(std::move(*ops));
          }
        }
      }
    });
  }

  // Each op by its cheapest way: that changes no other op.
  [[nodiscard]] double least_of_all() const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::vector<std::size_t>& ops : plans_) {
      double total = 0;
      for (const std::size_t id : ops) {
        double op_least = std::numeric_limits<double>::infinity();
        for (const Way& way : all_->op(id).ways) {
          op_least = std::min(op_least, cost(all_->op(id), way));
        }
        total += op_least;
      }
      least = std::min(least, total);
    }
    return least;
  }

  // All costs being known.
  PlanChoice choose() {
    set_costs();
    EXPECT_TRUE(space_->join_forms().ok());
    set_costs();
    auto choice = choose_plan(*space_, {});
    EXPECT_TRUE(choice.ok()) << choice.error().message;
    return choice.ok() ? std::move(*choice) : PlanChoice();
  }

  // Both in row-major order, which only together may pay.
  [[nodiscard]] bool is_row_major(const PlanChoice& choice) const {
    return choice.plan.layout_of("a") == Layout::kRowMajor &&
           choice.plan.layout_of("b") == Layout::kRowMajor;
  }

  [[nodiscard]] const Backend& backend() const {
    if (GetParam().any_layout) {
      return any_layout_;
    }
    return *right_;
  }

  std::unique_ptr<Backend> right_ = make_cpu_backend();
  testing::AnyLayoutBackend any_layout_;
  Graph graph_;
  CompileOptions options_;
  std::optional<PlanSpace> space_;
  std::optional<OpTable> all_;
  std::map<std::string, Fusions> taken_;
  std::vector<std::vector<std::size_t>> plans_;  // ops of each
  unsigned seed_ = 0;
  double layouts_differ_ = 0;
};

// The choice is the cheapest of all plans that there are.
TEST_P(PruningTest, LosesNothing) {
  explore();
  enumerate_all();
  ASSERT_GT(plans_.size(), 5U);
  int dropped = 0;
  int row_major = 0;
  for (seed_ = 1; seed_ <= 40; ++seed_) {
    explore();
    const PlanChoice choice = choose();
    EXPECT_NEAR(choice.seconds, least_of_all(), 1e-9) << seed_;
    dropped += space_->dropped_forms();
    row_major += is_row_major(choice) ? 1 : 0;
  }
  EXPECT_EQ(dropped > 0, GetParam().any_layout) << dropped;
  EXPECT_EQ(row_major > 0, GetParam().any_layout && GetParam().text == kNeighbours) << row_major;
}

// Passes take up to a third more in one of the layouts.
TEST_P(PruningTest, IsAtLeast97PercentOfAllPlansWhereLayoutsDiffer) {
  layouts_differ_ = 0.33;
  explore();
  enumerate_all();
  for (seed_ = 1; seed_ <= 40; ++seed_) {
    explore();
    EXPECT_GE(least_of_all() / choose().seconds, 0.97) << seed_;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, PruningTest,
                         ::testing::Values(Block{"residual", testing::kBlock},
                                           Block{"neighbours", kNeighbours},
                                           Block{"residual_any_layout", testing::kBlock, true},
                                           Block{"neighbours_any_layout", kNeighbours, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mezzotint
