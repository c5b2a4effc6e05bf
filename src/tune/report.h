// What tune found: plain data, for people and for JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tune/measuring.h"

namespace mezzotint {

// Departures from the default against what they depart from.
struct ConfirmingCounts {
  int compared = 0;  // now
  int cached = 0;    // before
  int confirmed = 0;
  double seconds = 0;
};

// An op that is computed differently from the default.
struct TuneDecision {
  std::string op;
  std::string from;  // "kernels.conv_winograd2, fuses normalise, residual"
  std::string to;
  double gain_seconds = 0;   // by the timings, with what it saves around it
  double error_growth = 1;   // times a direct float32 sum's error
  double growth_before = 1;  // the default's
};

// What was not chosen for an op.
struct TuneLoss {
  std::string op;
  std::string way;            // as in TuneDecision
  double slower_seconds = 0;  // than what was chosen; 0: it was refused
  std::string unconfirmed;    // why the timings alone do not count: what a comparison found
  std::string refusal;
};

// A departure from the default that the timings had chosen, and a comparison did not bear out.
struct TuneUnconfirmed {
  std::string op;
  std::string way;  // as in TuneDecision
  double promised_seconds = 0;
  std::string reason;
};

struct TunePutBack {
  std::string op;
  std::string from;    // what the timings had chosen
  std::string reason;  // which budget was exceeded, by what
};

// From a result of the strict plan; infinite where something is not finite. As a limit: infinity
// for what is not bounded.
struct TuneDistance {
  double relative_l2 = 0;
  double largest = 0;  // difference of one value, relative to the largest value
};

struct TuneCheck {
  std::string condition;  // where it is from
  std::vector<int> timesteps;
  std::vector<TuneDistance> tuned;     // of the prediction at each timestep; may be empty
  std::vector<TuneDistance> standard;  // the default plan's
  TuneDistance limit;
  int chain_steps = 0;
  std::optional<TuneDistance> chain;  // of the finished volume; nothing: it was not run
  TuneDistance chain_limit;
  bool is_within = false;
};

inline constexpr double kRaceConfidence = 0.95;

struct TuneRace {
  double default_seconds = 0;  // medians of interleaved evaluations
  double tuned_seconds = 0;
  double gain = 0;      // median of the pairs' differences, relative to the default
  double low_gain = 0;  // its confidence interval, kRaceConfidence
  double high_gain = 0;
  int pairs = 0;
};

struct TuneReport {
  std::string model;
  std::array<std::int64_t, 3> grid{};
  std::string precision;
  std::string out;
  std::string cache;
  MeasuringCounts counts;
  int networks = 0;       // lowered
  int dropped_forms = 0;  // that could not win
  ConfirmingCounts confirming;
  double gap = 0;              // 0: the optimum of the timings
  double default_seconds = 0;  // sums of the timings
  double tuned_seconds = 0;
  std::vector<TuneDecision> decisions;  // largest gain first
  std::vector<TuneLoss> losses;         // of the ops that take longest
  std::vector<TuneUnconfirmed> unconfirmed;
  std::vector<TunePutBack> put_back;
  std::optional<TuneCheck> check;  // absent when nothing is better than the default
  std::optional<TuneRace> race;
  bool is_default = false;  // the plan that was written
  std::string verdict;      // one sentence: which plan, and why
  std::vector<std::string> notes;
  double total_seconds = 0;
};

}  // namespace mezzotint
