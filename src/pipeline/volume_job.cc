#include "pipeline/volume_job.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/error.h"
#include "base/noise.h"
#include "base/sha256.h"
#include "base/system.h"
#include "formats/nifti.h"
#include "formats/nifti_space.h"
#include "formats/png.h"
#include "imaging/brats_export.h"
#include "imaging/preview.h"
#include "pipeline/machine.h"
#include "pipeline/run_identity.h"
#include "pipeline/sidecar_claim.h"

namespace mezzotint {
namespace {

constexpr float kLowest = -1.0F;  // intensities are -1 (background) to 1
constexpr char kDescription[] = "Synthetic (Mezzotint); not for diagnosis";

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

VolumeJob::VolumeJob(Painter& painter, const GenerateRequest& request, GenerateObserver& observer,
                     const CancelToken* cancel)
    : painter_(painter),
      request_(request),
      observer_(observer),
      cancel_(cancel),
      start_(Clock::now()),
      modalities_(modality_names(*painter.model().recipe, painter.model().config.image_channels)),
      names_(output_names(request, modalities_)),
      replaces_(request.overwrite) {}

Result<GenerateReport> VolumeJob::run() {
  if (Status status = take({&VolumeJob::compile, &VolumeJob::read_mask, &VolumeJob::prepare,
                            &VolumeJob::paint, &VolumeJob::write_outputs});
      !status) {
    return ended(status.error());
  }
  return report_;
}

Result<std::optional<GenerateReport>> VolumeJob::run_unless_there() {
  if (Status status = take({&VolumeJob::compile, &VolumeJob::read_mask}); !status) {
    return status.error();
  }
  const EarlierRun earlier = find_earlier_run(names_, identity_, cancel_);
  if (earlier == EarlierRun::kThere) {
    drop_stale_state();
    return std::optional<GenerateReport>();
  }
  if (Status status = check_replaces(earlier); !status) {
    return status.error();
  }
  Status status = take({&VolumeJob::prepare, &VolumeJob::paint, &VolumeJob::write_outputs});
  if (status) {
    return std::optional(report_);
  }
  // Another process may have made it in the meantime.
  if (!state_ && find_earlier_run(names_, identity_, cancel_) == EarlierRun::kThere) {
    return std::optional<GenerateReport>();
  }
  return ended(status.error());
}

// Killed between its last two acts, a run leaves a state beside its volume.
void VolumeJob::drop_stale_state() const {
  auto stale = RunState::open({request_.out, painter_.chain_shape(identity_)});
  if (stale && *stale) {
    (*stale)->remove();
  }
}

// In a batch no name can be chosen, and whoever repeats it need not know why a name is taken.
Status VolumeJob::check_replaces(EarlierRun earlier) {
  replaces_ = request_.overwrite || earlier == EarlierRun::kGone;
  if (replaces_ || earlier == EarlierRun::kNone) {
    return {};
  }
  return invalid_input(
      "{}: exists already, {}; {}pass --overwrite, which leaves finished volumes as they are",
      names_.sidecar.string(),
      earlier == EarlierRun::kOther ? "of a run with other inputs or settings"
                                    : "but its volumes are not those that it names: damaged",
      earlier == EarlierRun::kOther ? "choose another folder or " : "");
}

Status VolumeJob::take(std::initializer_list<Step> steps) {
  for (const Step step : steps) {
    if (stop_requested(cancel_)) {
      return stopped();
    }
    if (Status status = (this->*step)(); !status) {
      return status;
    }
  }
  return {};
}

Error VolumeJob::ended(Error error) {
  if (!state_) {
    return error;
  }
  if (error.code == ErrorCode::kNumerics) {
    state_->remove();
    return error;
  }
  const int steps = static_cast<int>(painter_.chain().options.timesteps.size());
  if (painted_ && state_->step() < steps) {
    // When that fails too, the step saved before is still there.
    static_cast<void>(state_->save(steps, x_, {}));
  }
  if (state_->is_kept()) {
    error.message +=
        fmt::format("; the same command goes on after step {} of {}", state_->step(), steps);
  }
  return error;
}

std::vector<std::filesystem::path> VolumeJob::inputs() const {
  std::vector<std::filesystem::path> paths = painter_.model().files();
  const std::vector<std::filesystem::path> mask = nifti_files(request_.mask);
  paths.insert(paths.end(), mask.begin(), mask.end());
  if (request_.noise) {
    paths.push_back(*request_.noise);
  }
  if (request_.plan) {
    paths.push_back(*request_.plan);
  }
  return paths;
}

// Before the mask: a grid beyond the machine's memory is refused, not filled.
Status VolumeJob::compile() {
  return_free_memory();  // what the volume before held
  std::vector<std::filesystem::path> outputs = names_.all();
  outputs.push_back(run_state_path(request_.out));
  if (Status status = check_outputs_spare_inputs(outputs, inputs()); !status) {
    return status;
  }
  auto fit = choose_fit(request_, painter_.model());
  if (!fit) {
    return fit.error();
  }
  fit_ = std::move(*fit);
  if (Status status = painter_.use_grid(fit_.dims); !status) {
    return status;
  }
  if (request_.noise) {
    auto noise =
        NoiseFile::open(*request_.noise, painter_.session().elements(), painter_.chain().draws);
    if (!noise) {
      return noise.error();
    }
    noise_ = std::move(*noise);
  }
  return check_memory(predict_peak(), request_.memory_limit, painter_.machine());
}

Status VolumeJob::read_mask() {
  if (Status status =
          check_memory(resident_bytes() + condition_read_bytes(request_.mask, fit_.dims),
                       request_.memory_limit, painter_.machine());
      !status) {
    return status;
  }
  auto condition = read_condition(request_.mask, painter_.model(), fit_,
                                  request_.label_map ? &painter_.labels() : nullptr);
  if (!condition) {
    return condition.error();
  }
  condition_ = std::move(*condition);
  if (Status status = choose_geometry(); !status) {
    return status;
  }
  identity_ =
      run_sha256({request_, painter_.model(), painter_.chain(), painter_.grid(), condition_.sha256,
                  painter_.labels(), noise_ ? std::optional(noise_->sha256()) : std::nullopt,
                  painter_.session().plan_hash()});
  const std::uint64_t needed = predict_peak();
  report_.predicted_peak_bytes = std::max(needed, peak_resident_bytes());
  return check_memory(needed, request_.memory_limit, painter_.machine());
}

Status VolumeJob::prepare() {
  if (noise_) {
    if (Status status = noise_->load(); !status) {
      return status;
    }
  }
  auto outputs = create_outputs(names_, replaces_, written_voxels());
  if (!outputs) {
    return outputs.error();
  }
  outputs_ = std::move(*outputs);
  if (Status status = take_state(); !status) {
    return status;
  }
  observer_.on_overview(overview());
  if (state_ && state_->step() > 0) {
    observer_.on_resumed(
        {state_->step(), static_cast<int>(painter_.chain().options.timesteps.size())});
  }
  if (Status status = painter_.load(); !status) {
    return status;
  }
  report_.load_seconds = seconds_between(start_, Clock::now());
  return {};
}

Status VolumeJob::take_state() {
  auto state = RunState::open({request_.out, painter_.chain_shape(identity_), request_.overwrite,
                               request_.checkpoint_seconds});
  if (!state) {
    return state.error();
  }
  state_ = std::move(*state);
  return {};
}

// Of each file.
std::int64_t VolumeJob::written_voxels() const {
  return exports_brats() ? Grid{kBratsDims, {}}.voxels() : condition_.mask.voxels();
}

// What the process holds now and what it will add: weights and arena (which it holds already when
// they served another volume), and beside them either what painting needs or a result on its way to
// the file: x, a copy of one channel on the model's grid, and on the mask's grid that channel with
// either itself as it was before it was turned back, the file's bytes or what the preview makes
// (volume and mask turned, the brain's values). A lower bound until the mask is read.
std::uint64_t VolumeJob::predict_peak() const {
  const Session& session = painter_.session();
  const std::int64_t painting = painter_.painting_floats() + (noise_ ? noise_->floats() : 0);
  constexpr std::int64_t kFileBytes = 2 * sizeof(float);
  constexpr std::int64_t kPreviewBytes = 3 * sizeof(float) + 1;
  const std::int64_t writing = (session.elements() + Grid{painter_.grid(), {}}.voxels()) *
                                   static_cast<std::int64_t>(sizeof(float)) +
                               std::max(condition_.mask.voxels(), written_voxels()) *
                                   (request_.preview ? kPreviewBytes : kFileBytes);
  return resident_bytes() + (painter_.loaded() ? 0 : session.predicted_bytes()) +
         static_cast<std::uint64_t>(
             std::max(painting * static_cast<std::int64_t>(sizeof(float)), writing));
}

GenerateOverview VolumeJob::overview() const {
  const Model& model = painter_.model();
  const Chain& chain = painter_.chain();
  GenerateOverview overview;
  overview.model = request_.model.string();
  overview.recipe = model.recipe->name;
  overview.parameters = model.parameters;
  overview.weights = model.has_one_set() ? "the only weights in the file" : request_.weights;
  if (model.weights.step) {
    overview.weights += fmt::format(", {} training steps", *model.weights.step);
  }
  overview.modalities = modalities_;
  overview.grid = painter_.grid();
  overview.mask = describe_counts(count_labels(condition_.mask), model.labels);
  overview.fit = condition_.fit.summary;
  overview.output =
      exports_brats() ? fmt::format("{}, each volume from 0 to 1, the challenge's labels",
                                    format_dims(kBratsDims))
                      : fmt::format("{} at {}, the mask's grid", format_dims(condition_.mask.dims),
                                    format_spacing(column_norms(condition_.mask.affine)));
  overview.notes = condition_.notes;
  if (model.licence) {
    overview.notes.push_back(fmt::format("the model's licence: {}", *model.licence));
  }
  overview.steps = static_cast<int>(chain.options.timesteps.size());
  overview.sampler = fmt::format(
      "{}, {} of {} timesteps, {}", request_.sampler, overview.steps, chain.schedule.timesteps(),
      noise_ ? fmt::format("noise from {}", request_.noise->filename().string())
             : fmt::format("seed {}", request_.seed));
  overview.precision = request_.precision;
  overview.plan = painter_.plan() != nullptr ? painter_.plan()->name : "";
  overview.isa = name_of(painter_.machine().isa);
  overview.processor = painter_.machine().processor;
  overview.threads = painter_.machine().threads;
  overview.predicted_peak_bytes = report_.predicted_peak_bytes;
  overview.predicted_step_seconds = painter_.session().program().predicted_seconds();
  return overview;
}

Status VolumeJob::paint() {
  const std::vector<float> channels = encode_condition(condition_, painter_.model());
  x_.resize(static_cast<std::size_t>(painter_.session().elements()));
  const auto sampling = Clock::now();
  auto step_start = sampling;
  const auto noise = [&](int draw, std::span<float> out) -> Status {
    if (noise_) {
      return noise_->read(draw, out);
    }
    fill_normal({request_.seed, request_.sample, static_cast<std::uint32_t>(draw)}, out,
                painter_.team());
    return {};
  };
  const int resumed = state_ ? state_->step() : 0;
  const auto after_step = [&](const StepInfo& step) {
    const auto now = Clock::now();
    GenerateProgress progress;
    progress.step = step.index + 1;
    progress.steps = step.count;
    progress.timestep = step.timestep;
    progress.step_seconds = seconds_between(step_start, now);
    progress.elapsed_seconds = seconds_between(sampling, now);
    progress.left_seconds =
        progress.elapsed_seconds / (progress.step - resumed) * (progress.steps - progress.step);
    step_start = now;
    observer_.on_step(progress);
  };
  Status status = painter_.paint(channels, noise, after_step, x_, state_ ? &*state_ : nullptr);
  painted_ = status.ok();
  report_.sample_seconds = seconds_between(sampling, Clock::now());
  return status;
}

Status VolumeJob::write_outputs() {
  for (std::size_t channel = 0; channel < modalities_.size(); ++channel) {
    if (Status status = write_volume(channel); !status) {
      return status;
    }
  }
  if (Status status = write_mask(); !status) {
    return status;
  }
  if (Status status = write_preview(); !status) {
    return status;
  }
  report_.volumes = names_.volumes;
  report_.mask = names_.mask;
  report_.sidecar = names_.sidecar;
  report_.preview = names_.preview;
  report_.peak_bytes = peak_resident_bytes();
  if (Status status = write_sidecar(); !status) {
    return status;
  }
  if (stop_requested(cancel_)) {
    return stopped();
  }
  if (Status status = commit(outputs_->in_order()); !status) {
    return status;
  }
  if (state_) {
    state_->remove();
  }
  report_.total_seconds = seconds_between(start_, Clock::now());
  return {};
}

// What the mask's header says, or what the exported grid's own affine does.
Status VolumeJob::choose_geometry() {
  if (!exports_brats()) {
    geometry_ = condition_.header.geometry;
    return {};
  }
  auto geometry = geometry_from_affine(brats_grid(condition_.mask).affine);
  if (!geometry) {
    return make_error(geometry.error().code,
                      "{}: export: on BraTS's grid it would have {}; correct the mask's affine",
                      request_.mask.string(), geometry.error().message);
  }
  geometry_ = *geometry;
  return {};
}

Status VolumeJob::write_volume(std::size_t channel) {
  const auto voxels = static_cast<std::size_t>(condition_.fit.grid.voxels());
  Volume volume =
      bring_back(condition_.fit, std::span(x_).subspan(channel * voxels, voxels), kLowest);
  if (outputs_->preview) {
    auto picture = render_preview(volume, condition_.mask,
                                  {.tumour_labels = labels_but_brain(painter_.model().labels)});
    if (!picture) {
      return picture.error();
    }
    append_below(preview_, *picture);
  }
  if (exports_brats()) {
    volume = brats_export(std::move(volume));
  }
  auto bytes = encode_nifti(geometry_, volume.dims, volume.data, kDescription);
  if (!bytes) {
    return bytes.error();
  }
  WrittenVolume written;
  written.file = names_.volumes[channel];
  written.modality = modalities_[channel];
  written.voxels_sha256 = sha256_hex(std::as_bytes(std::span(volume.data)));
  auto hash = write_image(outputs_->volumes[channel], *bytes);
  if (!hash) {
    return hash.error();
  }
  written.file_sha256 = std::move(*hash);
  written_.push_back(std::move(written));
  return {};
}

Status VolumeJob::write_mask() {
  if (!outputs_->mask) {
    return {};
  }
  LabelVolume mask = condition_.mask;
  if (exports_brats()) {
    mask = brats_export(std::move(mask));
  }
  auto bytes = encode_nifti(geometry_, mask.dims, mask.data, kDescription);
  if (!bytes) {
    return bytes.error();
  }
  auto hash = write_image(*outputs_->mask, *bytes);
  if (!hash) {
    return hash.error();
  }
  segmentation_ = {*names_.mask, std::move(*hash)};
  return {};
}

Status VolumeJob::write_preview() {
  if (!outputs_->preview) {
    return {};
  }
  const auto png = encode_png(preview_.width, preview_.height, preview_.rgb);
  if (!png) {
    return png.error();
  }
  return outputs_->preview->write(*png);
}

Status VolumeJob::write_sidecar() {
  SidecarFacts facts{request_,
                     painter_.model(),
                     condition_,
                     painter_.session(),
                     painter_.machine(),
                     report_,
                     painter_.chain(),
                     written_,
                     segmentation_,
                     identity_,
                     noise_ ? noise_->sha256() : "",
                     painter_.plan()};
  const std::string sidecar = make_sidecar(facts);
  return outputs_->sidecar.write(std::as_bytes(std::span(sidecar)));
}

}  // namespace mezzotint
