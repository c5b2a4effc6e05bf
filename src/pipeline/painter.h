// A model that paints one volume after another: compiled for one grid at a time, its weights read
// once for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backend/backend.h"
#include "base/thread_team.h"
#include "diffusion/sampler.h"
#include "graph/machine.h"
#include "imaging/label_map.h"
#include "imaging/volume.h"
#include "mezzotint/cancel.h"
#include "mezzotint/generate.h"
#include "pipeline/chain.h"
#include "pipeline/model.h"
#include "pipeline/plan_file.h"
#include "pipeline/run_state.h"
#include "pipeline/session.h"

namespace mezzotint {

class Painter {
 public:
  // The model, the sampler, the machine and its limits are those of `request`, and all of it that
  // does not depend on a mask is checked. Reads no weight. Both arguments must outlive the painter.
  static Result<Painter> open(const GenerateRequest& request, const CancelToken* cancel);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const ThreadTeam& team() const { return team_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Chain& chain() const { return chain_; }
  // What the values of masks mean: the request's map, or the model's own labels.
  [[nodiscard]] const LabelMap& labels() const { return labels_; }
  // The request's; null: the default plan.
  [[nodiscard]] const PlanFile* plan() const { return plan_ ? &*plan_ : nullptr; }
  // What follows describes the grid in use.
  [[nodiscard]] const Dims3& grid() const { return grid_; }
  [[nodiscard]] const Session& session() const { return *session_; }
  [[nodiscard]] bool loaded() const { return loaded_; }
  // The chain as its state file describes it.
  [[nodiscard]] ChainShape chain_shape(std::string identity) const;
  // Floats that paint() holds besides the session: x, the sampler's workspace and the condition.
  [[nodiscard]] std::int64_t painting_floats() const;

  // Compiles for `grid` (x, y, z), unless that is in use already; weights of another grid go first.
  // kResource when it cannot fit, kInvalidInput when the plan is for something else.
  Status use_grid(const Dims3& grid);
  // Reads and packs the weights, unless they are there.
  Status load();
  // Weights that could not be used: no volume can be made with this model.
  [[nodiscard]] bool is_broken() const { return broken_; }

  using AfterStep = std::function<void(const StepInfo& step)>;
  // x: out the clean images [C, z, y, x] of the grid in use, in -1..1. `condition` [labels, z, y,
  // x] as the model expects it; draw 0 of `noise` is x_T. kNumerics names the step and the op that
  // made a value that is not finite.
  //
  // With `state`, the chain goes on from the step that it holds, is saved there when that is due,
  // and also when it fails in a way that another run may mend.
  Status paint(std::span<const float> condition, const NoiseSource& noise,
               const AfterStep& after_step, std::span<float> x, RunState* state);

 private:
  Painter(const GenerateRequest& request, const CancelToken* cancel)
      : request_(&request), cancel_(cancel) {}
  [[nodiscard]] Result<Plan> plan_on(const Dims3& grid) const;
  // SessionOptions::further_bytes
  [[nodiscard]] std::uint64_t further_bytes(const Dims3& grid) const;
  Status evaluate(std::span<const float> condition, std::span<const float> x, const StepInfo& step,
                  std::span<float> eps);

  const GenerateRequest* request_;
  const CancelToken* cancel_;
  Machine machine_;
  ThreadTeam team_;
  Model model_;
  Chain chain_;
  std::optional<PlanFile> plan_;
  std::unique_ptr<Backend> backend_;
  Dims3 grid_{};
  std::optional<Session> session_;
  LabelMap labels_;
  bool loaded_ = false;
  bool broken_ = false;
};

}  // namespace mezzotint
