// What an op could attain on this machine, and what keeps it from more. docs/profile.md says the
// same in words.
#pragma once

#include "profile/calibration.h"
#include "profile/profile.h"

namespace mezzotint {

// An op opens loops and hands out tasks for more than this share of its time: "overhead".
inline constexpr double kOverheadShare = 0.25;
// Its threads wait for more than this share of their time: "imbalance".
inline constexpr double kImbalanceShare = 0.25;

// reorder: the op changes a layout or a type, and nothing else. A concat moves values, too, but
// makes a tensor that was not there: it is classed like an op that computes.
[[nodiscard]] bool is_conversion(std::string_view kind);

// What starting costs: each loop is a fork and a join with a task for each thread, and what further
// tasks add. An op without a loop is one start.
[[nodiscard]] double start_seconds(const OpProfile& op, const Calibration& machine);

// The fastest level that holds `bytes`; null where none was measured. All different caches of
// a level count, since ops are cut into blocks of their outputs.
[[nodiscard]] const MemoryLevel* level_that_holds(double bytes, const Calibration& machine);

// The two sides of the roofline (Williams, Waterman & Patterson, 2009), with all threads; 0 where
// the machine's side was not measured.
struct Roofline {
  double compute_seconds = 0;  // flops at the peak of the op's unit
  double memory_seconds = 0;   // bytes at the bandwidth of the level that holds them

  [[nodiscard]] double attainable_seconds() const;
};
[[nodiscard]] Roofline roofline_of(const OpProfile& op, const Calibration& machine);

// Of the first of these that is true:
//   conversion  is_conversion()
//   overhead    start_seconds() are more than kOverheadShare of the op's
//   imbalance   is above kImbalanceShare
//   L2 L3 DRAM  the roofline's memory side is the longer one. The level is the one at whose
//               bandwidth the op's bytes take a time nearest to the measured one (by ratio), from
//               the level that holds them on: what an op reads may have left the cache before.
//   compute     else
// Reads the op's kind, work, seconds, loops, tasks and imbalance.
[[nodiscard]] Bottleneck classify(const OpProfile& op, const Calibration& machine);

}  // namespace mezzotint
