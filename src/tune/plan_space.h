// Every plan of a network that is worth a thought: for each convolution the forms that its region
// may have, found by lowering the network with a plan that asks for them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "runtime/compile_options.h"
#include "tune/deadline.h"
#include "tune/op_table.h"

namespace mezzotint {

// The ops of one step of a lowered network: name to index in the table.
using StepOps = std::map<std::string, std::size_t>;

// One way to cut the network around a convolution: a layout and what is fused. Which implementation
// computes it is decided per op, since that changes no other op.
struct Form {
  std::optional<Layout> layout;
  Fusions fuse;
  StepOps ops;                     // of the whole network, all other convolutions as by default
  std::set<std::string> touched;   // ops that differ from the default's, or are not in both
  std::set<std::string> values;    // that those read or write
  std::vector<std::size_t> added;  // indices of layout conversions that are not in the default
};

struct PlanVariable {
  std::string convolution;
  std::vector<Form> forms;  // the default's first
};

// Two forms whose changes meet, lowered together; nothing: no implementation can compute it, or
// there was no time to know.
struct FormPair {
  std::size_t first = 0;  // variables
  std::size_t second = 0;
  std::size_t first_form = 0;
  std::size_t second_form = 0;
  std::optional<StepOps> ops;
};

// A variable, and one of its forms.
using VariableForm = std::pair<std::size_t, std::size_t>;

// Is told how many networks have been lowered; returns false to stop.
using OnLowered = std::function<bool(int lowered)>;

class PlanSpace {
 public:
  // `options.plan` is the default, with an entry for each of its ops that names its implementation
  // and, of a convolution, what is fused. A convolution may have each subset of the fusions that
  // are there for it, in either layout, that some implementation computes. Left out: what holds a
  // set that nothing computes; and what two convolutions could fuse goes to the one that the
  // default lets take it, or stays apart. The default is lowered always; after the deadline no
  // further form is. The first three must outlive the space.
  static Result<PlanSpace> explore(const Graph& graph, const Backend& backend,
                                   const CompileOptions& options, OnLowered on_lowered,
                                   const Deadline& deadline = {});

  [[nodiscard]] OpTable& table() { return table_; }
  [[nodiscard]] const OpTable& table() const { return table_; }
  [[nodiscard]] const Plan& default_plan() const { return options_->plan; }
  [[nodiscard]] const StepOps& default_ops() const { return default_ops_; }
  [[nodiscard]] const std::vector<PlanVariable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<FormPair>& pairs() const { return pairs_; }
  [[nodiscard]] int lowered() const { return lowered_; }

  // Once the forms' ops are measured. Drops a form in another layout that is slower than the
  // default by more than twice its conversions: neighbours in the same layout could save those and,
  // on their side, as much again. Then lowers each two forms that meet, whose ops may be new; those
  // that are left at the deadline are not had together.
  Status join_forms(const Deadline& deadline = {});
  // Whether a deadline left something out.
  [[nodiscard]] bool is_cut_short() const { return cut_short_; }
  [[nodiscard]] int dropped_forms() const { return dropped_; }

  // The network's ops with one form per variable; nothing when some op cannot be computed or a
  // convolution cannot take what it should.
  Result<std::optional<StepOps>> lower_forms(const std::vector<std::size_t>& forms);

  // Of forms that lower_forms() cannot have together, takes back each without which it still
  // cannot, and remembers what is left. One lowering for each form that is not the default's.
  Status forbid(const std::vector<std::size_t>& forms);
  // Each set of forms that forbid() was left with, by variable. Of two forms that meet,
  // join_forms() knows already; of two that do not, and of more, it does not.
  [[nodiscard]] const std::vector<std::vector<VariableForm>>& impossible() const {
    return impossible_;
  }

  // Ops that compete, by convolution: those that its forms come with, and those that they come
  // instead of. Each op is in one list at most; the dearest list first.
  [[nodiscard]] std::vector<std::vector<std::size_t>> rivals() const;

  // The sum of the fastest ways.
  [[nodiscard]] double seconds(const StepOps& ops) const;

 private:
  struct Lowering;

  PlanSpace(const Graph& graph, const Backend& backend, const CompileOptions& options,
            OnLowered on_lowered)
      : graph_(&graph),
        backend_(&backend),
        options_(&options),
        on_lowered_(std::move(on_lowered)),
        table_(backend, options.target()) {}

  Status add_variable(const std::string& convolution, const Deadline& deadline);
  Status add_forms(PlanVariable& variable, std::optional<Layout> layout, const Deadline& deadline);
  // Remembers that it was.
  bool is_over(const Deadline& deadline);
  // Whether something computes it.
  Result<bool> add_form(PlanVariable& variable, const PlanEntry& entry);
  Result<Lowering> lower_entries(const std::map<std::string, PlanEntry>& changed);
  void use(const StepOps& ops);
  [[nodiscard]] bool meet(const Form& a, const Form& b) const;
  [[nodiscard]] PlanEntry entry_of(const PlanVariable& variable, std::size_t form) const;

  const Graph* graph_;
  const Backend* backend_;
  const CompileOptions* options_;
  OnLowered on_lowered_;
  OpTable table_;
  StepOps default_ops_;
  std::vector<PlanVariable> variables_;
  std::vector<FormPair> pairs_;
  std::vector<std::vector<VariableForm>> impossible_;
  int lowered_ = 0;
  int dropped_ = 0;
  bool cut_short_ = false;
};

}  // namespace mezzotint
