// The distinct ops that plans of one network are made of, and each way to compute them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "tune/stopwatch.h"

namespace mezzotint {

struct Way {
  const Implementation* implementation = nullptr;
  double predicted_seconds = 0;  // on all threads, by the cost table; infinity: it has no row
  double error_growth = 1;
  std::optional<OpTiming> timing;

  [[nodiscard]] std::string name() const { return std::string(implementation->name()); }
};

struct TableOp {
  Graph graph;       // one_op_graph
  std::string text;  // of it
  std::vector<Way> ways;
  std::map<std::string, std::string> refusals;  // by implementation
  bool is_used = false;                         // by a plan that can be computed

  [[nodiscard]] const Way* find(const std::string& implementation) const;  // null: none such
};

// A way of an op: indices into OpTable::ops and TableOp::ways.
struct WayId {
  std::size_t op = 0;
  std::size_t way = 0;

  friend bool operator==(const WayId&, const WayId&) = default;
  friend bool operator<(const WayId& a, const WayId& b) {
    return a.op != b.op ? a.op < b.op : a.way < b.way;
  }
};

class OpTable {
 public:
  // `backend` must outlive it.
  OpTable(const Backend& backend, Target target) : backend_(&backend), target_(std::move(target)) {}

  // Its index; the same for equal work.
  Result<std::size_t> add(const OpView& view);

  [[nodiscard]] const std::vector<TableOp>& ops() const { return ops_; }
  [[nodiscard]] const TableOp& op(std::size_t id) const { return ops_[id]; }
  [[nodiscard]] const Way& way(const WayId& id) const { return ops_[id.op].ways[id.way]; }
  void set_timing(const WayId& id, const OpTiming& timing);

  // In the light of a comparison; predictions learn nothing from it.
  void set_seconds(const WayId& id, double seconds);

  void use(std::size_t op) { ops_[op].is_used = true; }
  // Of the used ops.
  [[nodiscard]] int ways() const;

  // Of the used ops, what has no timing: what is expected to be an op's fastest first, and of these
  // the slowest op.
  [[nodiscard]] std::vector<WayId> unmeasured() const;

  // As measured; else as predicted, times what measured runs of that implementation (or of any,
  // where there is none) took compared with their predictions, in the geometric mean.
  [[nodiscard]] double seconds(const Way& way) const;
  // Null when nothing can compute the op.
  [[nodiscard]] const Way* fastest(std::size_t op) const;

 private:
  struct Scale {
    double log_sum = 0;
    int count = 0;
  };

  const Backend* backend_;
  Target target_;
  std::vector<TableOp> ops_;
  std::map<std::string, std::size_t> by_text_;
  std::map<std::string, Scale, std::less<>> scales_;  // by implementation; "" is all
};

}  // namespace mezzotint
