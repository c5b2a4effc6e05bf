// Plans against the first of them: plain data, made where plan files are read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/plan.h"

namespace mezzotint {

// What a plan's file says, but for its entries.
struct ComparedPlan {
  std::string name;  // of its file
  std::string version;
  std::string backend;
  std::string isa;
  Precision precision = Precision::kFp32;
  Layout layout = Layout::kChannelsLast;
  std::size_t entries = 0;
  std::string processor;
  int threads = 0;
  std::optional<double> predicted_seconds;  // of an evaluation
  std::optional<double> measured_seconds;
  std::optional<double> default_seconds;
  std::optional<double> relative_l2;
  std::vector<std::string> notes;
};

// An op that one of the plans decides otherwise than the base. Nothing: the plan has no entry.
struct PlannedOp {
  std::string op;
  std::vector<std::optional<PlanEntry>> entries;  // one per plan
};

struct PlanComparison {
  std::string model;
  std::array<std::int64_t, 3> grid{};  // x, y, z
  std::vector<ComparedPlan> plans;     // the base first
  std::vector<PlannedOp> ops;          // by name
  std::size_t equal_ops = 0;           // decided alike by all
  std::vector<std::string> sentences;  // plan_sentences(); what differs, first

  // Of the ops, those that plan i decides otherwise than the base.
  [[nodiscard]] std::size_t differing(std::size_t plan) const;
};

// Of each plan but the base, from all else that is there.
[[nodiscard]] std::vector<std::string> plan_sentences(const PlanComparison& comparison);

// "channels-last", "channels-first"; "plan's" for an entry that names none.
[[nodiscard]] std::string layout_words(const std::optional<Layout>& layout);

}  // namespace mezzotint
