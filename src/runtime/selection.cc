#include "runtime/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/aligned_buffer.h"
#include "runtime/choices.h"

namespace mezzotint {

Result<Selection> Selection::make(const Lowered& lowered, const Backend& backend,
                                  const CompileOptions& options) {
  Selection selection(lowered.graph, options);
  for (OpId id = 0; id < lowered.graph.ops().size(); ++id) {
    const Op& op = lowered.graph.op(id);
    const OpView view{lowered.graph, op};
    const Explanation& explanation = lowered.ops[id];
    const auto implementations = backend.implementations(op.kind);
    Choices choices;
    std::optional<std::size_t> chosen;
    for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
      const Choice& choice = explanation.choices[i];
      if (choice.refusal.empty()) {
        chosen = choice.chosen ? choices.options.size() : chosen;
        choices.options.push_back(
            {implementations[i], choice.one_thread_seconds, choice.predicted_seconds, nullptr});
      }
    }
    if (!chosen) {
      return nothing_can(explanation, options.plan);
    }
    choices.chosen = *chosen;
    Option& option = choices.options[choices.chosen];
    auto kernel = option.implementation->prepare(view, options.target());
    if (!kernel) {
      return kernel.error();
    }
    option.kernel = std::move(*kernel);
    choices.is_planned = !explanation.planned.empty();
    selection.ops_.push_back(std::move(choices));
  }
  return selection;
}

std::vector<OpNeeds> Selection::needs() const {
  std::vector<OpNeeds> needs;
  for (OpId id = 0; id < ops_.size(); ++id) {
    const Kernel& kernel = *chosen(id).kernel;
    OpMemory memory{kernel.workspace_bytes(), {}};
    if (options_->allow_in_place) {
      memory.aliasable_inputs = kernel.aliasable_inputs();
    }
    needs.push_back({std::move(memory), chosen(id).one_thread_seconds});
  }
  return needs;
}

std::uint64_t Selection::peak_bytes(std::size_t arena_bytes) const {
  std::uint64_t packed = 0;
  std::uint64_t peak = 0;
  for (OpId id = 0; id < ops_.size(); ++id) {
    packed += chosen(id).kernel->packed_bytes();
    peak = std::max(peak, packed + chosen(id).kernel->load_bytes());
  }
  return std::max(peak, packed + arena_bytes);
}

// One call of shrink(). What is live at each position follows the choices; the arrangement stays.
class Selection::Trader {
 public:
  Trader(Selection& selection, const Arrangement& arrangement, std::uint64_t limit)
      : selection_(selection),
        arrangement_(arrangement),
        limit_(limit),
        in_arena_(arena_values(arrangement.graph)),
        live_(arrangement.live.bytes),
        positions_(selection.ops_.size()) {
    const std::vector<OpId>& order = arrangement.order.ops;
    for (std::size_t position = 0; position < order.size(); ++position) {
      positions_[arrangement.origin[order[position]]].push_back(position);
    }
    for (OpId id = 0; id < selection.ops_.size(); ++id) {
      packed_ += selection.chosen(id).kernel->packed_bytes();
    }
  }

  // False when no trade saves anything.
  bool trade() {
    const auto best = best_trade();
    if (!best) {
      return false;
    }
    Choices& choices = selection_.ops_[best->op];
    const Option& option = choices.options[best->option];
    choices.options[choices.chosen].is_given_up = true;
    packed_ += option.kernel->packed_bytes();
    packed_ -= selection_.chosen(best->op).kernel->packed_bytes();
    for (const std::size_t position : positions_[best->op]) {
      live_[position] = live_with(position, best->op, *option.kernel);
    }
    choices.chosen = best->option;
    return true;
  }

  [[nodiscard]] bool fits() const {
    return packed_ + *std::max_element(live_.begin(), live_.end()) <= limit_;
  }

 private:
  struct Trade {
    OpId op = 0;
    std::size_t option = 0;
    double worth = 0;  // bytes per second
  };

  // The first of those that save most for their time.
  std::optional<Trade> best_trade() {
    std::optional<Trade> best;
    for (OpId id = 0; id < selection_.ops_.size(); ++id) {
      Choices& choices = selection_.ops_[id];
      for (std::size_t i = 0; !choices.is_planned && i < choices.options.size(); ++i) {
        if (i == choices.chosen || choices.options[i].is_given_up ||
            !std::isfinite(choices.options[i].one_thread_seconds) ||
            !prepare(id, choices.options[i])) {
          continue;
        }
        const double saved = saving(id, *choices.options[i].kernel);
        const double seconds =
            choices.options[i].one_thread_seconds - selection_.chosen(id).one_thread_seconds;
        const double worth =
            seconds > 0 ? saved / seconds : std::numeric_limits<double>::infinity();
        if (saved > 0 && (!best || worth > best->worth)) {
          best = Trade{id, i, worth};
        }
      }
    }
    return best;
  }

  bool prepare(OpId id, Option& option) const {
    if (option.kernel == nullptr) {
      auto kernel = option.implementation->prepare({*selection_.graph_, selection_.graph_->op(id)},
                                                   selection_.options_->target());
      if (kernel) {
        option.kernel = std::move(*kernel);
      }
    }
    return option.kernel != nullptr;
  }

  // Bytes of weights, and those live beyond what the limit leaves for an arena.
  [[nodiscard]] double saving(OpId id, const Kernel& kernel) const {
    double saved = static_cast<double>(selection_.chosen(id).kernel->packed_bytes()) -
                   static_cast<double>(kernel.packed_bytes());
    const std::uint64_t arena = limit_ > packed_ ? limit_ - packed_ : 0;
    const auto beyond = [&](std::size_t live) {
      return live > arena ? static_cast<double>(live - arena) : 0.0;
    };
    for (const std::size_t position : positions_[id]) {
      saved += beyond(live_[position]) - beyond(live_with(position, id, kernel));
    }
    return saved;
  }

  // What would be live at a position of `id` if `kernel` computed it.
  [[nodiscard]] std::size_t live_with(std::size_t position, OpId id, const Kernel& kernel) const {
    const Kernel& now = *selection_.chosen(id).kernel;
    return live_[position] + aliased(position, now) + align_up(kernel.workspace_bytes()) -
           aliased(position, kernel) - align_up(now.workspace_bytes());
  }

  // Bytes that need not be there twice.
  [[nodiscard]] std::size_t aliased(std::size_t position, const Kernel& kernel) const {
    const Graph& graph = arrangement_.graph;
    const OpView view{graph, graph.op(arrangement_.order.ops[position])};
    const bool in_place = selection_.options_->allow_in_place &&
                          in_place_input(view, position, arrangement_.live.values, in_arena_,
                                         kernel.aliasable_inputs());
    return in_place ? align_up(static_cast<std::size_t>(view.output().type.bytes())) : 0;
  }

  Selection& selection_;
  const Arrangement& arrangement_;
  std::uint64_t limit_;
  std::vector<bool> in_arena_;
  std::vector<std::size_t> live_;                    // by position
  std::vector<std::vector<std::size_t>> positions_;  // by OpId of the lowered graph
  std::uint64_t packed_ = 0;
};

bool Selection::shrink(const Arrangement& arrangement, std::uint64_t limit) {
  Trader trader(*this, arrangement, limit);
  if (!trader.trade()) {
    return false;
  }
  while (!trader.fits() && trader.trade()) {
  }
  return true;
}

}  // namespace mezzotint
