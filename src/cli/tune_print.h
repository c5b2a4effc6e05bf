// What tune shows: how far it is on stderr, what it found on stdout.
#pragma once

#include "pipeline/machine.h"
#include "pipeline/tune_model.h"

namespace mezzotint::cli {

// A bar on a terminal; elsewhere a line when a stage begins and at each tenth of it, or, where its
// end is not known, whenever twice as much is done.
class TuneScreen {
 public:
  TuneScreen();
  void show(const TuneProgress& progress);
  // Ends the bar's line.
  void close();

 private:
  bool terminal_;
  bool open_line_ = false;
  std::string stage_;
  int shown_ = -1;  // tenths of the stage, or a count
};

void print_tune(const TuneReport& report, const Machine& machine);
void print_tune_json(const TuneReport& report, const Machine& machine);

}  // namespace mezzotint::cli
