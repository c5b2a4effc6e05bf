#include "report/sample_study.h"

#include <utility>

namespace mezzotint {
namespace {

StudyRow row_of(std::string name, double seconds, double conversions, double convolutions) {
  StudyRow row;
  row.name = std::move(name);
  row.meaning = "what " + row.name + " means";
  row.profile.precision = "fp32";
  row.profile.plan_hash = "4f0c6a1d2e";
  row.profile.ops.resize(120);
  row.profile.narrow_share = WorkShare{0.9, 0.8};
  row.profile.peak_bytes = 812'000'000;
  row.seconds = {seconds, 0.95 * seconds, 1.1 * seconds};
  row.loops = 300;
  row.tasks = 1200;
  row.task_seconds = 2 * seconds / row.tasks;
  row.kernels = 4800;
  row.kernel_seconds = 2 * seconds / row.kernels;
  row.conversions = conversions > 0 ? 86 : 0;
  row.conversion_share = conversions;
  row.convolution_share = convolutions;
  row.attained = 0.5;
  row.relative_l2 = 3.2e-7;
  row.ssim = 0.999999;
  return row;
}

}  // namespace

Study sample_study() {
  Study study;
  study.version = "0.1.0";
  study.model = "whole-head.pt";
  study.grid = {64, 48, 32};
  study.machine = "a processor, avx512, 2 threads";
  study.rounds = 3;
  study.steps = 25;
  study.rows = {row_of("channels-first", 2, 0.25, 0.5), row_of("channels-last", 1.25, 0, 0.75),
                StudyRow{}, row_of("tuned", 0.8, 0.01, 0.6)};
  study.rows[0].profile.warnings = {"other work slows this machine down"};
  study.rows[2].name = "narrow";
  study.rows[2].meaning = "direct convolutions of bfloat16 operands on row-major activations";
  study.rows[2].absent = "no bf16 unit on this machine";
  study.rows[3].attained.reset();
  study.rows[3].ssim.reset();
  study.findings = study_findings(study.rows);
  return study;
}

}  // namespace mezzotint
