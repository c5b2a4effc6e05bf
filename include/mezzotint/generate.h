// A volume from a mask: the main job of the library.
//
//   mezzotint::GenerateRequest request;
//   request.model = "models/demo-brain32";
//   request.mask = "mask.nii.gz";
//   request.out = "volume.nii.gz";
//   auto report = mezzotint::generate(request);
//   if (!report) { puts(report.error().message.c_str()); }
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct GenerateRequest {
  std::filesystem::path model;  // a checkpoint, or a folder with model.json and one checkpoint
  std::filesystem::path mask;   // NIfTI label mask
  // What the mask's values mean, "1=brain,2=tumour,*=background"; default: they are the model's
  // labels.
  std::optional<std::string> label_map;
  // .nii or .nii.gz; "<name>.json" is written beside it. A model of several image channels writes
  // one volume for each, "<name>_t1.nii.gz" and so on, and the mask as "<name>_seg.nii.gz".
  std::filesystem::path out;

  std::string sampler = "dpmpp-2m";    // dpmpp-2m, ddim, ddpm
  std::optional<int> steps;            // default: 25; ddpm: the whole schedule
  double eta = 0;                      // ddim only: 0 deterministic .. 1
  std::string timestep_spacing = "t";  // t, logsnr
  std::optional<int> timesteps;        // length of the schedule; default: the checkpoint's
  std::uint64_t seed = 0;
  std::uint32_t sample = 0;                         // which of the seed's volumes
  std::string precision = "fp32";                   // strict, fp32
  std::optional<std::filesystem::path> plan;        // of mezzotint tune, for this model and size
  std::string weights = "ema";                      // ema, model
  std::string variant = "auto";                     // auto, med-ddpm: what plain keys are
  int threads = 0;                                  // 0: all processors this process may use
  std::optional<std::uint64_t> memory_limit;        // bytes; the system's own limit always holds
  std::optional<std::array<std::int64_t, 3>> size;  // grid of the model in voxels: x, y, z
  bool size_of_mask = false;    // instead: the mask's own grid, each side up to what the network
                                // needs; the default when neither request nor model has a grid
  std::string resize = "auto";  // auto, pad, resample, reference: how masks come to the grid
  bool as_stored = false;       // axes as in the mask's file, not turned to the model's frame
  // "mask": intensities as painted, on the mask's grid. "brats", for models of that recipe: as the
  // reference leaves them, each volume from 0 to 1, 240x240x155, LPS+, the challenge's labels.
  std::string export_form = "mask";
  std::optional<std::filesystem::path> preview;  // PNG
  std::optional<std::filesystem::path> noise;  // safetensors: x_T [1, C, z, y, x], and for samplers
                                               // that draw noise also noise [steps, 1, C, z, y, x]
  bool overwrite = false;
  // Time between two saves of the chain's state; 0: never.
  double checkpoint_seconds = 300;
};

// What is known before the first step.
struct GenerateOverview {
  std::string model;   // name of the file or folder
  std::string recipe;  // "whole-head"
  std::int64_t parameters = 0;
  std::string weights;                  // "ema, 2697 training steps"
  std::vector<std::string> modalities;  // one volume each: "t1"
  std::array<std::int64_t, 3> grid{};   // x, y, z
  std::string mask;                     // label counts
  std::string fit;                      // how the mask came to the grid
  std::string output;                   // what is written: "128x128x128 at 1.5 mm, the mask's grid"
  std::vector<std::string> notes;       // what was assumed or corrected
  std::string sampler;                  // "dpmpp-2m, 25 of 250 timesteps, seed 0"
  int steps = 0;
  std::string precision;
  std::string plan;  // name of its file; empty: the default
  std::string isa;
  std::string processor;
  int threads = 0;
  std::uint64_t predicted_peak_bytes = 0;  // of the whole process
  double predicted_step_seconds = 0;
};

// An interrupted run that this one goes on with.
struct GenerateResumed {
  int step = 0;  // finished already
  int steps = 0;
};

struct GenerateProgress {
  int step = 0;  // finished, from 1, or from GenerateResumed::step + 1
  int steps = 0;
  int timestep = 0;
  double step_seconds = 0;
  double elapsed_seconds = 0;  // since this run's first step began
  double left_seconds = 0;     // estimate
};

struct GenerateReport {
  std::vector<std::filesystem::path> volumes;  // in the order of the model's image channels
  std::optional<std::filesystem::path> mask;   // as it was read; beside several volumes
  std::filesystem::path sidecar;
  std::optional<std::filesystem::path> preview;
  double load_seconds = 0;    // reading, compiling and packing
  double sample_seconds = 0;  // this run's steps
  double total_seconds = 0;
  std::uint64_t predicted_peak_bytes = 0;
  std::uint64_t peak_bytes = 0;  // measured high-water mark of the process
};

// Receives events on the calling thread.
class GenerateObserver {
 public:
  virtual ~GenerateObserver() = default;
  virtual void on_overview(const GenerateOverview& /*overview*/) {}
  virtual void on_resumed(const GenerateResumed& /*resumed*/) {}
  virtual void on_step(const GenerateProgress& /*progress*/) {}
};

// Writes the volume, its sidecar and the preview, or nothing at all: each file appears complete,
// and when one cannot appear, those before it go again and what `overwrite` replaced comes back.
// Two things are beyond this: a process that is killed while the finished files get their names
// leaves those that have them (never a new volume without its sidecar; what was replaced is then
// under a hidden name), and a file system that cannot exchange two names (RENAME_EXCHANGE) does not
// bring back what was replaced. Files that are not finished have no name, where the file system
// allows that, so that a killed process leaves none.
//
// A chain's state is saved in "<name>.part" beside the volume every `checkpoint_seconds`, and when
// the run fails or is cancelled after a step; a later call with the same inputs and settings goes
// on from it to the same bytes, on any number of threads. The file belongs to one run at a time:
// another one to the same volume is refused (kResource), and so is the state of other inputs or
// settings (kInvalidInput) unless `overwrite` is set. It is gone when the volume is there, when no
// step was finished, and after kNumerics. With 0 a state that is there is gone on with, but none is
// made.
//
// Never throws. Errors are one line each: kInvalidInput and kNotFound for files and flags,
// kResource for memory and disk, kNumerics for a non-finite value, kCancelled when `cancel` was set
// (checked between ops and between weights).
Result<GenerateReport> generate(const GenerateRequest& request,
                                GenerateObserver* observer = nullptr,
                                const CancelToken* cancel = nullptr);

}  // namespace mezzotint
