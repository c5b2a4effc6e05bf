// The Med-DDPM family: the guided-diffusion UNet in 3D, conditioned on a label mask by channel
// concatenation (Dorjsembe et al., "Conditional Diffusion Models for Semantic 3D Brain MRI
// Synthesis", IEEE JBHI 2024).
//
// Level l works on the grid divided by 2^l with base_channels * channel_multiplier[l] channels and
// res_blocks residual blocks (one more in the decoder). Everything but the number of heads can be
// read from a checkpoint's key names and shapes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "models/recipe.h"

namespace mezzotint {

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
  friend bool operator==(const NamedShape&, const NamedShape&) = default;
};

struct MedDdpmConfig {
  RecipeKind recipe = RecipeKind::kGeneric;
  std::int64_t in_channels = 0;  // image_channels + condition_channels
  std::int64_t image_channels = 0;
  std::int64_t condition_channels = 0;
  std::int64_t out_channels = 0;  // == image_channels
  std::int64_t base_channels = 0;
  std::int64_t res_blocks = 0;
  std::vector<std::int64_t> channel_multiplier;  // per level
  // Levels with attention after each residual block, ascending; 3 is downsampling by 8. The middle
  // block always has it.
  std::vector<int> attention_levels;
  std::int64_t heads = 1;  // not in a checkpoint; the published models have 1

  [[nodiscard]] int levels() const { return static_cast<int>(channel_multiplier.size()); }
  // Every side of the grid must be a multiple of this.
  [[nodiscard]] std::int64_t size_multiple() const { return std::int64_t{1} << (levels() - 1); }
  friend bool operator==(const MedDdpmConfig&, const MedDdpmConfig&) = default;
};

// From the UNet's keys, without prefix and without schedule buffers. kInvalidInput, without the
// file's name: not such a checkpoint at all, or keys missing, extra or of the wrong shape, all in
// one line with the first three of each.
// The network of the reference repository's fast-sampling folder differs only in strides, which
// leave no trace in shapes: select_weights() tells it by how its keys are stored.
Result<MedDdpmConfig> detect_med_ddpm(std::span<const NamedShape> keys);

// Keys and shapes of a checkpoint of this configuration, as stored: the 1x1x1 convolutions of
// attention have rank 3. In the order of the graph's parameters. kInvalidInput for a configuration
// that cannot exist.
Result<std::vector<NamedShape>> med_ddpm_keys(const MedDdpmConfig& config);

// The UNet for a grid of `size_dhw` voxels (D, H, W).
//   inputs  x [N, image_channels, D, H, W] (rate step), condition [N, condition_channels, D, H, W]
//           (rate volume), t [N] (rate step; the timestep 0 .. T-1, unscaled), all float32
//           row-major
//   output  eps [N, out_channels, D, H, W]: the predicted noise
// Ops bear the paths of their weights; aliases name every module of the reference that has a
// result. kInvalidInput when a side is no multiple of config.size_multiple(): the line gives the
// nearest that are.
Result<Graph> build_med_ddpm(const MedDdpmConfig& config, std::int64_t batch,
                             std::array<std::int64_t, 3> size_dhw);

// What a file holds of one set of weights.
struct MedDdpmWeights {
  std::vector<NamedShape> keys;                             // plain UNet keys, in file order
  std::map<std::string, std::size_t, std::less<>> tensors;  // key -> index into file.tensors()
  std::map<std::string, std::size_t, std::less<>> buffers;  // the same for schedule buffers
  std::optional<std::int64_t> timesteps;                    // T, the length of `betas`
  std::optional<std::int64_t> step;                         // training steps done
};

// Which network UNet keys stand for that lack the trainer's prefix under a group: the reference's
// fast-sampling network is stored so. kAuto refuses to guess.
enum class NetworkVariant : std::uint8_t { kAuto, kMedDdpm };
// "auto", "med-ddpm".
Result<NetworkVariant> variant_from_name(std::string_view name);

// `group` is "ema" or "model"; a file without groups (plain UNet keys) has one set, which serves
// either. Keys may carry the trainer's prefix "denoise_fn.", DataParallel's "module.", or both in
// either order. kNotFound when the group is missing; kUnsupported for weights that are integers,
// and for plain keys under a group unless the variant says what they are.
Result<MedDdpmWeights> select_weights(const TensorFile& file, std::string_view group,
                                      NetworkVariant variant = NetworkVariant::kAuto);

}  // namespace mezzotint
