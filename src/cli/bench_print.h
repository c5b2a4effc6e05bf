// How the results of mezzotint bench look: for a person on stdout, or as one JSON object.
#pragma once

#include "pipeline/bench_model.h"
#include "pipeline/bench_problem.h"
#include "pipeline/dump.h"

namespace mezzotint::cli {

void print_problem(const ProblemReport& report, const Machine& machine);
void print_problem_json(const ProblemReport& report, const Machine& machine);

void print_model(const ModelReport& report, const Machine& machine);
void print_model_json(const ModelReport& report, const Machine& machine, Precision precision);

void print_explanation(const ProgramExplanation& explanation);
void print_explanation_json(const ProgramExplanation& explanation);

void print_diff(const DumpDifference& difference);
void print_diff_json(const DumpDifference& difference);

}  // namespace mezzotint::cli
