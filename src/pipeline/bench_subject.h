// The network that is benchmarked or dumped, with its inputs: from a checkpoint, or a published
// configuration with random weights.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "mezzotint/result.h"
#include "models/med_ddpm.h"
#include "pipeline/model.h"
#include "pipeline/plan_file.h"

namespace mezzotint {

struct SubjectRequest {
  std::optional<std::filesystem::path> model;  // a checkpoint or a folder
  std::string arch;              // else: "whole-head:64" is the published network at base 64
  std::string weights = "ema";   // ema, model
  std::string variant = "auto";  // auto, med-ddpm
  std::optional<std::array<std::int64_t, 3>> size;  // x, y, z; default: the model's grid
  std::optional<int> timestep;                      // default: the middle of the schedule
  std::uint64_t seed = 0;                           // of random weights and random inputs
  // Safetensors with x [1, C, z, y, x], and optionally condition (likewise) and t [1].
  std::optional<std::filesystem::path> input;
};

// "--model models/demo-brain32 --weights model": names the same network on a command line, in which
// defaults are left out.
[[nodiscard]] std::string network_words(const SubjectRequest& request);

// "whole-head:64" or "brats:64": the recipe's published topology with another number of base
// channels (64 when left out). The list of recipes is in the error.
Result<MedDdpmConfig> config_from_arch(std::string_view arch);

class Subject {
 public:
  // kInvalidInput, too, for words of weights and variant that are none of the choices, though
  // random weights need neither.
  static Result<Subject> open(const SubjectRequest& request);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& hash() const { return hash_; }  // of the weights' origin
  [[nodiscard]] const MedDdpmConfig& config() const { return config_; }
  [[nodiscard]] const std::array<std::int64_t, 3>& grid() const { return grid_; }
  [[nodiscard]] int timestep() const { return timestep_; }
  [[nodiscard]] int timesteps() const { return timesteps_; }  // length of its schedule
  // Null when there is no checkpoint.
  [[nodiscard]] const Model* model() const { return model_.get(); }
  [[nodiscard]] ParameterSource& parameters() { return *parameters_; }
  [[nodiscard]] std::int64_t elements(std::int64_t channels) const {
    return channels * grid_[0] * grid_[1] * grid_[2];
  }

  // What a plan for it must be for.
  [[nodiscard]] PlanSubject plan_subject(Precision precision, Isa isa) const {
    return {name_, hash_, grid_, precision, isa, words_};
  }

  // The files that it reads.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  // [C, z, y, x]; normal noise when no file gave them. make_inputs() comes first.
  Status make_inputs(const ThreadTeam& team);
  [[nodiscard]] const std::vector<float>& x() const { return x_; }
  [[nodiscard]] const std::vector<float>& condition() const { return condition_; }

 private:
  static Result<Subject> open_files(const SubjectRequest& request);
  Status open_input(const std::filesystem::path& path);
  Status read_input(std::string_view name, std::int64_t channels, std::vector<float>& out);

  std::string name_;
  std::string words_;
  std::string hash_;
  MedDdpmConfig config_;
  std::array<std::int64_t, 3> grid_{};
  int timestep_ = 0;
  int timesteps_ = 0;
  std::uint64_t seed_ = 0;
  std::unique_ptr<Model> model_;  // parameters_ may refer to it
  std::unique_ptr<ParameterSource> parameters_;
  std::unique_ptr<TensorFile> input_;
  std::vector<float> x_;
  std::vector<float> condition_;
};

}  // namespace mezzotint
