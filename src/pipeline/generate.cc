#include "mezzotint/generate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/noise.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "base/system.h"
#include "diffusion/sampler.h"
#include "formats/gzip.h"
#include "formats/nifti.h"
#include "formats/png.h"
#include "imaging/preview.h"
#include "pipeline/chain.h"
#include "pipeline/condition.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"
#include "pipeline/no_throw.h"
#include "pipeline/noise_input.h"
#include "pipeline/outputs.h"
#include "pipeline/session.h"
#include "pipeline/sidecar.h"

namespace mezzotint {
namespace {

using Clock = std::chrono::steady_clock;

constexpr float kLowest = -1.0F;  // intensities are -1 (background) to 1
constexpr char kDescription[] = "Synthetic (Mezzotint); not for diagnosis";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status check_request(const GenerateRequest& request) {
  const std::string out = request.out.string();
  if (!out.ends_with(".nii") && !out.ends_with(".nii.gz")) {
    return invalid_input("out: {}: expected a name that ends in .nii or .nii.gz", out);
  }
  if (const auto precision = precision_from_name(request.precision); !precision) {
    return precision.error();
  }
  if (request.preview) {
    if (request.preview->extension() != ".png") {
      return invalid_input("preview: {}: expected a name that ends in .png",
                           request.preview->string());
    }
  }
  return {};
}

class GenerateJob {
 public:
  GenerateJob(const GenerateRequest& request, GenerateObserver& observer, const CancelToken* cancel)
      : request_(request), observer_(observer), cancel_(cancel), start_(Clock::now()) {}

  Result<GenerateReport> run() {
    for (const auto step :
         {&GenerateJob::read_model, &GenerateJob::compile_network, &GenerateJob::read_mask,
          &GenerateJob::prepare, &GenerateJob::sample_volume, &GenerateJob::write_outputs}) {
      if (stop_requested()) {
        return stopped();
      }
      if (Status status = (this->*step)(); !status) {
        return status.error();
      }
    }
    return report_;
  }

 private:
  [[nodiscard]] bool stop_requested() const { return cancel_ != nullptr && cancel_->requested(); }
  [[nodiscard]] static Error stopped() { return {ErrorCode::kCancelled, "stopped on request"}; }

  Status read_model() {
    if (Status status = check_request(request_); !status) {
      return status;
    }
    auto machine = this_machine(request_.threads);
    if (!machine) {
      return machine.error();
    }
    machine_ = std::move(*machine);
    team_ = ThreadTeam(machine_.threads);
    auto model = open_model(request_.model, request_.weights, cancel_);
    if (!model) {
      return model.error();
    }
    model_ = std::move(*model);
    if (Status status = check_outputs_spare_inputs(output_paths(), input_paths()); !status) {
      return status;
    }
    if (model_.config.image_channels != 1) {
      return unsupported(
          "{}: paints {} volumes at once ({}); this version generates one-volume models only",
          model_.path.string(), model_.config.image_channels, model_.recipe->name);
    }
    auto chain = make_chain(request_, model_);
    if (!chain) {
      return chain.error();
    }
    chain_ = std::move(*chain);
    const auto grid = choose_grid(model_, request_.size);
    if (!grid) {
      return grid.error();
    }
    grid_ = *grid;
    return {};
  }

  [[nodiscard]] std::vector<std::filesystem::path> output_paths() const {
    std::vector<std::filesystem::path> paths{request_.out, sidecar_path(request_.out)};
    if (request_.preview) {
      paths.push_back(*request_.preview);
    }
    return paths;
  }

  [[nodiscard]] std::vector<std::filesystem::path> input_paths() const {
    std::vector<std::filesystem::path> paths = model_.files();
    const std::vector<std::filesystem::path> mask = nifti_files(request_.mask);
    paths.insert(paths.end(), mask.begin(), mask.end());
    if (request_.noise) {
      paths.push_back(*request_.noise);
    }
    return paths;
  }

  // Before the mask: a grid beyond the machine's memory is refused, not filled.
  Status compile_network() {
    backend_ = this_backend();
    Plan plan;
    plan.precision = *precision_from_name(request_.precision);  // checked with the request
    SessionOptions options;
    options.machine = machine_;
    options.plan = plan;
    options.grid = grid_;
    options.memory_limit = request_.memory_limit;
    auto session = Session::create(model_.config, *backend_, options);
    if (!session) {
      return session.error();
    }
    session_ = std::move(*session);
    if (request_.noise) {
      auto noise = NoiseFile::open(*request_.noise, session_->elements(), chain_.draws);
      if (!noise) {
        return noise.error();
      }
      noise_ = std::move(*noise);
    }
    return check_memory(predict_peak(), request_.memory_limit, machine_);
  }

  Status read_mask() {
    if (Status status = check_memory(resident_bytes() + mask_bytes(request_.mask),
                                     request_.memory_limit, machine_);
        !status) {
      return status;
    }
    auto condition = read_condition(request_.mask, model_, grid_);
    if (!condition) {
      return condition.error();
    }
    condition_ = std::move(*condition);
    report_.predicted_peak_bytes = predict_peak();
    return check_memory(report_.predicted_peak_bytes, request_.memory_limit, machine_);
  }

  Status prepare() {
    if (noise_) {
      if (Status status = noise_->load(); !status) {
        return status;
      }
    }
    auto outputs = create_outputs(request_, condition_.mask.voxels());
    if (!outputs) {
      return outputs.error();
    }
    outputs_ = std::move(*outputs);
    observer_.on_overview(overview());
    ModelParameters parameters(model_, cancel_);
    if (Status status = session_->load(parameters); !status) {
      return status;
    }
    report_.load_seconds = seconds_since(start_);
    return {};
  }

  // What the process holds now and what it will add: weights and arena, and beside them either the
  // sampler's arrays (x, eps, workspace, condition, noise) or the result on its way to the file: x,
  // a copy on the model's grid, and on the mask's grid the volume with either the file's bytes or
  // what the preview makes (volume and mask turned, the brain's values). A lower bound until the
  // mask is read.
  std::uint64_t predict_peak() const {
    const std::int64_t elements = session_->elements();
    const std::int64_t grid = Grid{grid_, {}}.voxels();
    std::int64_t sampling = 2 * elements + sampler_workspace_floats(chain_.options, elements) +
                            model_.config.condition_channels * grid;
    if (noise_) {
      sampling += noise_->floats();
    }
    constexpr std::int64_t kFileBytes = 2 * sizeof(float);
    constexpr std::int64_t kPreviewBytes = 3 * sizeof(float) + 1;
    const std::int64_t writing =
        (elements + grid) * static_cast<std::int64_t>(sizeof(float)) +
        condition_.mask.voxels() * (request_.preview ? kPreviewBytes : kFileBytes);
    const std::uint64_t running =
        resident_bytes() + session_->predicted_bytes() +
        static_cast<std::uint64_t>(
            std::max(sampling * static_cast<std::int64_t>(sizeof(float)), writing));
    return std::max(running, peak_resident_bytes());
  }

  GenerateOverview overview() const {
    GenerateOverview overview;
    overview.model = request_.model.string();
    overview.recipe = model_.recipe->name;
    overview.parameters = model_.parameters;
    overview.weights = model_.weights.step ? fmt::format("{}, {} training steps", request_.weights,
                                                         *model_.weights.step)
                                           : request_.weights;
    overview.grid = grid_;
    overview.mask = describe_counts(count_labels(condition_.mask), model_.labels);
    overview.fit = condition_.fit;
    overview.notes = condition_.notes;
    if (model_.licence) {
      overview.notes.push_back(fmt::format("the model's licence: {}", *model_.licence));
    }
    overview.steps = static_cast<int>(chain_.options.timesteps.size());
    overview.sampler = fmt::format(
        "{}, {} of {} timesteps, {}", request_.sampler, overview.steps, chain_.schedule.timesteps(),
        noise_ ? fmt::format("noise from {}", request_.noise->filename().string())
               : fmt::format("seed {}", request_.seed));
    overview.precision = request_.precision;
    overview.isa = name_of(machine_.isa);
    overview.processor = machine_.processor;
    overview.threads = machine_.threads;
    overview.predicted_peak_bytes = report_.predicted_peak_bytes;
    overview.predicted_step_seconds = session_->program().predicted_seconds();
    return overview;
  }

  Status draw(int index, std::span<float> out) {
    if (noise_) {
      return noise_->read(index, out);
    }
    fill_normal({request_.seed, /*sample=*/0, static_cast<std::uint32_t>(index)}, out, team_);
    return {};
  }

  Status sample_volume() {
    const std::vector<float> channels = encode_condition(condition_, model_);
    const RunOptions run{team_, cancel_, {}};
    if (Status status = session_->set_condition(channels, run); !status) {
      return status;
    }
    const auto elements = static_cast<std::size_t>(session_->elements());
    x_.resize(elements);
    std::vector<float> workspace(
        static_cast<std::size_t>(sampler_workspace_floats(chain_.options, session_->elements())));
    if (Status status = draw(0, x_); !status) {
      return status;
    }
    const auto sampling = Clock::now();
    auto step_start = sampling;
    const auto denoise = [&](std::span<const float> x, int timestep, std::span<float> eps) {
      return evaluate(x, timestep, eps, run);
    };
    const auto after_step = [&](const StepInfo& step, std::span<const float>) -> Status {
      GenerateProgress progress;
      progress.step = step.index + 1;
      progress.steps = step.count;
      progress.timestep = step.timestep;
      progress.step_seconds = seconds_since(step_start);
      progress.elapsed_seconds = seconds_since(sampling);
      progress.left_seconds =
          progress.elapsed_seconds / progress.step * (progress.steps - progress.step);
      step_start = Clock::now();
      ++finished_steps_;
      observer_.on_step(progress);
      return {};
    };
    const auto noise = [&](int index, std::span<float> out) { return draw(index, out); };
    Status status =
        sample(chain_.schedule, chain_.options, denoise, noise, after_step, team_, x_, workspace);
    report_.sample_seconds = seconds_since(sampling);
    return status;
  }

  // A non-finite prediction is looked into: the evaluation runs again with every op checked.
  Status evaluate(std::span<const float> x, int timestep, std::span<float> eps,
                  const RunOptions& run) {
    if (Status status = session_->evaluate(x, timestep, eps, run); !status) {
      return status;
    }
    if (std::all_of(eps.begin(), eps.end(), [](float value) { return std::isfinite(value); })) {
      return {};
    }
    FiniteCheck finite;
    Listener* const listeners[] = {&finite};
    const Status found = session_->evaluate(x, timestep, eps, {team_, cancel_, listeners});
    const std::string where = fmt::format("step {} of {} (t = {})", finished_steps_ + 1,
                                          chain_.options.timesteps.size(), timestep);
    if (found) {
      return make_error(
          ErrorCode::kNumerics,
          "{}: the prediction was not finite, but was when repeated: the memory of this "
          "machine may be faulty",
          where);
    }
    if (found.error().code == ErrorCode::kCancelled) {
      return found;
    }
    return make_error(
        found.error().code,
        "{}: {}; its inputs were finite, so a float32 overflowed: likely the weights of "
        "{} are damaged or its training diverged",
        where, found.error().message, model_.name());
  }

  Status write_outputs() {
    Volume volume = bring_back(condition_, x_, kLowest);
    if (outputs_->preview) {
      if (Status status = write_preview(volume); !status) {
        return status;
      }
    }
    auto bytes = encode_nifti(condition_.header.geometry, volume.dims, volume.data, kDescription);
    if (!bytes) {
      return bytes.error();
    }
    const std::string volume_hash = sha256_hex(std::as_bytes(std::span(volume.data)));
    // Compressing needs the memory that the voxels had.
    volume.data = {};
    if (is_compressed(request_.out)) {
      bytes = gzip(*bytes);
      if (!bytes) {
        return bytes.error();
      }
    }
    if (Status status = outputs_->volume.write(*bytes); !status) {
      return status;
    }
    report_.out = request_.out;
    report_.sidecar = outputs_->sidecar.path();
    report_.preview = request_.preview;
    report_.peak_bytes = peak_resident_bytes();
    const std::string sidecar = make_sidecar(
        {request_, model_, condition_, *session_, machine_, report_, chain_.options.timesteps,
         chain_.schedule.timesteps(), noise_ ? noise_->sha256() : "", volume_hash});
    if (Status status = outputs_->sidecar.write(std::as_bytes(std::span(sidecar))); !status) {
      return status;
    }
    if (stop_requested()) {
      return stopped();
    }
    if (Status status = commit(*outputs_); !status) {
      return status;
    }
    report_.total_seconds = seconds_since(start_);
    return {};
  }

  Status write_preview(const Volume& volume) {
    auto picture = render_preview(volume, condition_.mask);
    if (!picture) {
      return picture.error();
    }
    auto png = encode_png(picture->width, picture->height, picture->rgb);
    if (!png) {
      return png.error();
    }
    return outputs_->preview->write(*png);
  }

  const GenerateRequest& request_;
  GenerateObserver& observer_;
  const CancelToken* cancel_;
  Clock::time_point start_;
  Machine machine_;
  ThreadTeam team_;
  Model model_;
  Chain chain_;
  Dims3 grid_{};
  Condition condition_;
  std::unique_ptr<Backend> backend_;
  std::optional<Session> session_;
  std::optional<NoiseFile> noise_;
  std::optional<Outputs> outputs_;
  std::vector<float> x_;
  int finished_steps_ = 0;
  GenerateReport report_;
};

}  // namespace

Result<GenerateReport> generate(const GenerateRequest& request, GenerateObserver* observer,
                                const CancelToken* cancel) {
  GenerateObserver silent;
  return no_throw([&]() -> Result<GenerateReport> {
    return GenerateJob(request, observer != nullptr ? *observer : silent, cancel).run();
  });
}

}  // namespace mezzotint
