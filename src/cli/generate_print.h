// What `mezzotint generate` prints: for a person, or one JSON object per line.
#pragma once

#include <memory>
#include <string>

#include "mezzotint/batch.h"
#include "mezzotint/generate.h"
#include "mezzotint/result.h"

namespace mezzotint::cli {

class GeneratePrinter : public BatchObserver {
 public:
  virtual void print(const GenerateReport& report) = 0;
  // The sum of a batch.
  virtual void print(const BatchReport& report) = 0;
  // To be called before anything else is printed than these events.
  virtual void close() {}
  // Says that everything ended so, and returns `exit_code`.
  virtual int fail(const Error& error, int exit_code) = 0;
};

// Results on stdout; what was decided and how far it is on stderr: a bar on a terminal, lines
// elsewhere.
std::unique_ptr<GeneratePrinter> make_screen();
// Everything on stdout; docs/formats.md lists the events.
std::unique_ptr<GeneratePrinter> make_json_lines();

}  // namespace mezzotint::cli
