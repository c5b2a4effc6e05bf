#include "pipeline/bench_subject.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/noise.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "formats/tensor_file.h"
#include "pipeline/condition.h"
#include "pipeline/no_throw.h"
#include "pipeline/random_parameters.h"

namespace mezzotint {
namespace {

constexpr int kPublishedTimesteps = 250;
constexpr std::int64_t kPublishedBase = 64;
constexpr std::uint32_t kXStream = 0;
constexpr std::uint32_t kConditionStream = 1;

MedDdpmConfig published(RecipeKind recipe, std::int64_t base) {
  MedDdpmConfig config;
  config.recipe = recipe;
  config.image_channels = recipe == RecipeKind::kBrats ? 4 : 1;
  config.condition_channels = recipe == RecipeKind::kBrats ? 4 : 2;
  config.in_channels = config.image_channels + config.condition_channels;
  config.out_channels = config.image_channels;
  config.base_channels = base;
  config.res_blocks = recipe == RecipeKind::kBrats ? 2 : 1;
  config.channel_multiplier = {1, 1, 2, 3, 4};
  if (recipe == RecipeKind::kWholeHead) {
    config.attention_levels = {3};
  }
  return config;
}

}  // namespace

std::string network_words(const SubjectRequest& request) {
  const SubjectRequest standard;
  std::string words = request.model ? "--model " + shell_word(request.model->string())
                                    : "--arch " + shell_word(request.arch);
  if (request.weights != standard.weights) {
    words += " --weights " + shell_word(request.weights);
  }
  if (request.variant != standard.variant) {
    words += " --variant " + shell_word(request.variant);
  }
  if (!request.model && request.seed != standard.seed) {
    words += fmt::format(" --seed {}", request.seed);
  }
  return words;
}

Result<MedDdpmConfig> config_from_arch(std::string_view arch) {
  const std::size_t colon = std::min(arch.find(':'), arch.size());
  const auto recipe = recipe_from_name(arch.substr(0, colon));
  std::int64_t base = kPublishedBase;
  bool base_ok = true;
  if (colon != arch.size()) {
    const char* const end = arch.data() + arch.size();
    const auto [next, error] = std::from_chars(arch.data() + colon + 1, end, base);
    base_ok = error == std::errc{} && next == end && base > 0;
  }
  if (!recipe || *recipe == RecipeKind::kGeneric || !base_ok) {
    return invalid_input(
        "arch: {} is neither whole-head nor brats, perhaps with base channels: whole-head:32",
        in_quotes(arch));
  }
  const MedDdpmConfig config = published(*recipe, base);
  if (const auto keys = med_ddpm_keys(config); !keys) {
    return invalid_input("arch: {}: {}", arch, keys.error().message);
  }
  return config;
}

Result<Subject> Subject::open(const SubjectRequest& request) {
  return no_throw([&] { return open_files(request); });
}

Result<Subject> Subject::open_files(const SubjectRequest& request) {
  if (Status status = check_weight_words(request.weights, request.variant); !status) {
    return status.error();
  }
  Subject subject;
  subject.seed_ = request.seed;
  subject.words_ = network_words(request);
  int timesteps = kPublishedTimesteps;
  if (request.model) {
    auto model = open_model(*request.model, request.weights, nullptr, request.variant);
    if (!model) {
      return model.error();
    }
    subject.model_ = std::make_unique<Model>(std::move(*model));
    subject.name_ = subject.model_->name();
    subject.hash_ = subject.model_->sha256;
    subject.config_ = subject.model_->config;
    const auto grid = choose_grid(*subject.model_, request.size);
    if (!grid) {
      return grid.error();
    }
    subject.grid_ = *grid;
    timesteps = subject.model_->timesteps.value_or(timesteps);
    subject.parameters_ = std::make_unique<ModelParameters>(*subject.model_);
  } else {
    auto config = config_from_arch(request.arch);
    if (!config) {
      return config.error();
    }
    subject.config_ = std::move(*config);
    subject.name_ = fmt::format("{} with random weights, seed {}", request.arch, request.seed);
    subject.hash_ = sha256_hex(std::as_bytes(std::span(subject.name_)));
    subject.grid_ = request.size.value_or(recipe_of(subject.config_.recipe).grid_xyz);
    const auto keys = med_ddpm_keys(subject.config_);
    subject.parameters_ = std::make_unique<RandomParameters>(*keys, request.seed);
  }
  subject.timesteps_ = timesteps;
  subject.timestep_ = request.timestep.value_or(timesteps / 2);
  if (request.input) {
    if (Status status = subject.open_input(*request.input); !status) {
      return status.error();
    }
  }
  if (subject.timestep_ < 0 || subject.timestep_ >= timesteps) {
    return invalid_input("timestep: {} is not between 0 and {}", subject.timestep_, timesteps - 1);
  }
  return subject;
}

std::vector<std::filesystem::path> Subject::files() const {
  std::vector<std::filesystem::path> files;
  if (model_ != nullptr) {
    files = model_->files();
  }
  if (input_ != nullptr) {
    files.push_back(input_->path());
  }
  return files;
}

Status Subject::open_input(const std::filesystem::path& path) {
  auto file = open_tensor_file(path);
  if (!file) {
    return file.error();
  }
  input_ = std::move(*file);
  if (!input_->find("", "x")) {
    return invalid_input("{}: has no tensor x [1, {}, z, y, x]", path.string(),
                         config_.image_channels);
  }
  const auto t = input_->find("", "t");
  if (!t) {
    return {};
  }
  float value = -1;
  if (input_->tensors()[*t].elements == 1) {
    if (Status status = input_->read_float(*t, {&value, 1}); !status) {
      return status;
    }
  }
  if (!(value >= 0 && value < 0x1p24F) || value != std::floor(value)) {
    return invalid_input("{}: t must be one whole number, the timestep", path.string());
  }
  timestep_ = static_cast<int>(value);
  return {};
}

Status Subject::read_input(std::string_view name, std::int64_t channels, std::vector<float>& out) {
  const TensorInfo& info = input_->tensors()[*input_->find("", name)];
  const std::vector<std::int64_t> expected{1, channels, grid_[2], grid_[1], grid_[0]};
  if (info.shape != expected) {
    return invalid_input("{}: {} is {}, this model and size need {}", input_->path().string(), name,
                         Shape(info.shape).to_string(), Shape(expected).to_string());
  }
  return input_->read_float(*input_->find("", name), out);
}

Status Subject::make_inputs(const ThreadTeam& team) {
  const auto fill = [&](std::string_view name, std::int64_t channels, std::uint32_t stream,
                        std::vector<float>& out) -> Status {
    out.resize(static_cast<std::size_t>(elements(channels)));
    if (input_ != nullptr && input_->find("", name)) {
      return read_input(name, channels, out);
    }
    fill_normal({seed_, 0, stream}, out, team);
    return {};
  };
  if (Status status = fill("x", config_.image_channels, kXStream, x_); !status) {
    return status;
  }
  return fill("condition", config_.condition_channels, kConditionStream, condition_);
}

}  // namespace mezzotint
