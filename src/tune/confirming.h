// A choice that holds when what departs from the default is timed against what it departs from.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "tune/departures.h"
#include "tune/plan_choice.h"
#include "tune/plan_space.h"
#include "tune/report.h"
#include "tune/stopwatch.h"
#include "tune/timing_cache.h"

namespace mezzotint {

struct ConfirmingOptions {
  StopwatchOptions stopwatch;  // what is not compared by its deadline is not made
  // Of the default's seconds: a departure that gains less is not made.
  double least_part = 2e-4;
};

// `done` of `count` departures have been compared; false stops.
using OnCompared = std::function<bool(int done, int count)>;

// The least of hundreds of timings is also the luckiest, and those of other minutes are of another
// machine. So each departure of a chosen plan is compared with the default, both sides in the same
// second; it stays if it is faster in three pairs of four and gains enough. Where that found the
// default's side faster than its timings, these come down; those of the other side are set so that
// the sums say what the comparison found. Then the plan is chosen again, until nothing is left to
// compare.
class Confirming {
 public:
  // All must outlive it.
  Confirming(PlanSpace& space, TimingCache& cache, const Stopwatch& stopwatch,
             const ConfirmingOptions& options, const CancelToken* cancel)
      : space_(space), cache_(cache), stopwatch_(stopwatch), options_(options), cancel_(cancel) {}

  // The cheapest plan whose departures are all confirmed. kCancelled.
  Result<PlanChoice> choose(const OnCompared& on_compared);
  // From now on this op is as by default.
  void put_back(const std::string& op) { limits_.put_back.insert(op); }

  // With what was not confirmed.
  [[nodiscard]] const ChoiceLimits& limits() const { return limits_; }
  [[nodiscard]] const std::vector<TuneUnconfirmed>& unconfirmed() const { return unconfirmed_; }
  [[nodiscard]] const ConfirmingCounts& counts() const { return counts_; }

 private:
  struct Candidate {
    Departure departure;
    std::string sides;
    double promised = 0;  // seconds
  };

  struct Comparison {
    Departure departure;
    PairedTiming pairs;
    bool is_confirmed = false;
  };

  // Whether nothing was left to compare.
  Result<bool> settle(const PlanChoice& chosen, const OnCompared& on_compared);
  // Its departures that are not confirmed yet, the largest gain first.
  [[nodiscard]] std::vector<Candidate> candidates(const PlanChoice& standard,
                                                  const PlanChoice& chosen) const;
  // Compares it, and confirms or refuses it.
  Status judge(const Candidate& candidate, double least);
  // From the cache, too. Null: there is no time for it.
  Result<Comparison*> compare(const Candidate& candidate);
  // From all comparisons, those that confirmed something last.
  void learn();
  void learn_standard(const Departure& departure, const PairedTiming& pairs);
  void learn_changed(const Departure& departure, const PairedTiming& pairs);
  // Takes a form out of the choice that nothing confirmed holds; else such a way; else a form.
  void refuse(const Candidate& candidate, const std::string& reason);
  [[nodiscard]] int judged() const {
    return counts_.confirmed + static_cast<int>(unconfirmed_.size());
  }

  PlanSpace& space_;
  TimingCache& cache_;
  const Stopwatch& stopwatch_;
  ConfirmingOptions options_;
  const CancelToken* cancel_;
  ChoiceLimits limits_;
  std::map<std::string, Comparison> found_;  // by sides_of
  std::vector<TuneUnconfirmed> unconfirmed_;
  ConfirmingCounts counts_;
};

}  // namespace mezzotint
