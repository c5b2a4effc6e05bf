#include "cli/cli_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "base/noise.h"
#include "diffusion/schedule.h"
#include "formats/safetensors.h"
#include "support/random_fill.h"

namespace mezzotint::testing {
namespace {

namespace fs = std::filesystem;

void save_tensors(const fs::path& path, const std::vector<TensorToWrite>& tensors) {
  auto file = OutputFile::create(path, /*overwrite=*/true, 0);
  check(file.ok() && write_safetensors(*file, tensors, {}).ok() && file->commit().ok(),
        "a test's tensors cannot be written");
}

std::size_t elements_of(const std::vector<std::int64_t>& shape) {
  std::size_t elements = 1;
  for (const std::int64_t dim : shape) {
    elements *= static_cast<std::size_t>(dim);
  }
  return elements;
}

// Biases near 0, norms' scales near 1, matrices and kernels by their fan-in.
std::vector<float> random_weight(const NamedShape& key, std::uint64_t seed) {
  const std::size_t elements = elements_of(key.shape);
  const auto count = static_cast<std::int64_t>(elements);
  if (key.shape.size() == 1) {
    return key.name.ends_with(".bias") ? random_floats(count, seed, -0.1F, 0.1F)
                                       : random_floats(count, seed, 0.8F, 1.2F);
  }
  const double fan_in =
      static_cast<double>(elements) / static_cast<double>(std::max<std::int64_t>(key.shape[0], 1));
  const auto range = static_cast<float>(1 / std::sqrt(fan_in));
  return random_floats(count, seed, -range, range);
}

MedDdpmConfig tiny_network(RecipeKind recipe) {
  const auto images = static_cast<std::int64_t>(recipe_of(recipe).modalities.size());
  const auto labels = static_cast<std::int64_t>(recipe_of(recipe).label_names.size());
  return {.recipe = recipe,
          .in_channels = images + labels,
          .image_channels = images,
          .condition_channels = labels,
          .out_channels = images,
          .base_channels = 32,
          .res_blocks = 1,
          .channel_multiplier = {1, 1},
          .attention_levels = {},
          .heads = 1};
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = ::testing::TempDir() + "mezzotint_cli_XXXXXX";
  check(::mkdtemp(pattern.data()) != nullptr, "no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::map<std::string, std::string> TemporaryFolder::content() const {
  std::map<std::string, std::string> entries;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
    entries[fs::relative(entry.path(), path_).string()] =
        entry.is_regular_file() ? read_text(entry.path()) : "";
  }
  return entries;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

RandomModel::RandomModel(const MedDdpmConfig& config, int timesteps) {
  auto wanted = med_ddpm_keys(config);
  check(wanted.ok(), "the network exists");
  keys = std::move(*wanted);
  std::uint64_t seed = 0;
  for (const NamedShape& key : keys) {
    values[key.name] = random_weight(key, ++seed);
  }
  const auto schedule = cosine_schedule(timesteps);
  check(schedule.ok(), "the schedule exists");
  keys.push_back({"betas", {timesteps}});
  values["betas"] = {schedule->betas.begin(), schedule->betas.end()};
}

void RandomModel::save(const fs::path& path) const {
  std::vector<TensorToWrite> tensors;
  for (const NamedShape& key : keys) {
    tensors.push_back(
        {key.name, DType::kF32, key.shape, std::as_bytes(std::span(values.at(key.name)))});
  }
  save_tensors(path, tensors);
}

std::vector<float>& RandomModel::at(const std::string& key) {
  return values.at(key);
}

void RandomModel::remove(const std::string& key) {
  std::erase_if(keys, [&](const NamedShape& entry) { return entry.name == key; });
}

void RandomModel::add(const std::string& key, const std::vector<std::int64_t>& shape) {
  remove(key);
  keys.push_back({key, shape});
  values[key].assign(elements_of(shape), 0.0F);
}

TinyModel::TinyModel(RecipeKind recipe) : RandomModel(tiny_network(recipe), kTimesteps) {}

std::vector<std::uint8_t> head_labels(const Dims3& dims) {
  std::vector<std::uint8_t> labels;
  for (std::int64_t z = 0; z < dims[2]; ++z) {
    for (std::int64_t y = 0; y < dims[1]; ++y) {
      for (std::int64_t x = 0; x < dims[0]; ++x) {
        const bool brain = x > 0 && y > 0 && z > 0 && x < dims[0] - 2 && y < dims[1] - 1;
        const bool tumour = brain && x < dims[0] / 2 && y < dims[1] / 3 && z > dims[2] / 2;
        labels.push_back(tumour ? 2 : (brain ? 1 : 0));
      }
    }
  }
  return labels;
}

std::vector<std::uint8_t> brats_labels(const Dims3& dims) {
  std::vector<std::uint8_t> labels = head_labels(dims);
  std::uint8_t tumour = 0;
  for (std::uint8_t& label : labels) {
    if (label == 2) {
      label = static_cast<std::uint8_t>(1 + tumour++ % 3);
    } else if (label == 1) {
      label = 4;
    }
  }
  return labels;
}

NiftiBuilder head_mask(const Dims3& dims) {
  NiftiBuilder mask;
  mask.dims({dims[0], dims[1], dims[2]}).pixdim(1, 2).pixdim(2, 2).pixdim(3, 2).units(2);
  mask.sform(1, Affine{{{2, 0, 0, -7}, {0, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}});
  mask.voxels(head_labels(dims));
  return mask;
}

NiftiBuilder brats_mask(const Dims3& dims) {
  NiftiBuilder mask = head_mask(dims);
  mask.pixdim(1, 1).pixdim(2, 1).pixdim(3, 1).sform(1, identity_affine());
  mask.voxels(brats_labels(dims));
  return mask;
}

void save_seed_noise(const fs::path& path, std::uint64_t seed, const Dims3& dims, int draws) {
  const auto voxels = static_cast<std::size_t>(dims[0] * dims[1] * dims[2]);
  std::vector<float> initial(voxels);
  fill_normal({seed, 0, 0}, 0, initial);
  std::vector<float> later(voxels * static_cast<std::size_t>(draws));
  for (std::uint32_t draw = 0; draw < static_cast<std::uint32_t>(draws); ++draw) {
    fill_normal({seed, 0, draw + 1}, 0, std::span(later).subspan(draw * voxels, voxels));
  }
  std::vector<TensorToWrite> tensors{
      {"x_T", DType::kF32, {1, 1, dims[2], dims[1], dims[0]}, std::as_bytes(std::span(initial))}};
  if (draws > 0) {
    tensors.push_back({"noise",
                       DType::kF32,
                       {draws, 1, 1, dims[2], dims[1], dims[0]},
                       std::as_bytes(std::span(later))});
  }
  save_tensors(path, tensors);
}

}  // namespace mezzotint::testing
