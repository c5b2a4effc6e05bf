// What mezzotint inspect tells of a NIfTI image.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/nifti.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "pipeline/origin.h"

namespace mezzotint {

struct LabelCount {
  std::int64_t value = 0;
  std::int64_t voxels = 0;
};

// More distinct whole numbers than this are no labels: FreeSurfer's segmentations have about 100.
inline constexpr std::size_t kMostLabels = 256;

struct VoxelSummary {
  std::int64_t voxels = 0;
  std::int64_t not_finite = 0;
  double least = 0;  // of the finite values, scaled; 0 without any
  double most = 0;
  // When every value is finite and within 0.001 of a whole number, at most kMostLabels different
  // ones: ascending. Else empty.
  std::vector<LabelCount> labels;
};

// Whether the image will do as a mask.
struct MaskVerdict {
  std::string target;  // "whole-head", "brats", or the file of a model
  bool usable = false;
  // Counts and fit; else the line that `generate` would end with, which gives the `prepare` command
  // where that makes the mask usable.
  std::string detail;
  std::vector<std::string> notes;  // what was assumed or lost, of a model
};

struct ImageSummary {
  NiftiHeader header;
  bool compressed = false;  // the file that was named
  std::uint64_t file_bytes = 0;
  std::string placed_by;    // one line: which of sform, qform and voxel sizes, and why
  std::string orientation;  // "RAS"
  std::array<double, 3> field_mm{};
  std::string sha256;                  // NiftiImage::sha256
  std::optional<VoxelSummary> voxels;  // nothing: they could not be read
  std::vector<MaskVerdict> masks;      // by recipe, then of the model that was asked for
  std::optional<Origin> origin;
};

struct ImageQuestions {
  std::optional<std::filesystem::path> model;
  std::optional<std::string> weights;               // of `model`; default: ema, else model
  std::string variant = "auto";                     // of `model`
  std::optional<std::array<std::int64_t, 3>> size;  // x, y, z; grid of `model`
};

struct ImageAnswer {
  ImageSummary summary;
  // Voxels that cannot be read or exceed the machine's memory; a model that cannot be opened.
  std::optional<Error> problem;
};

// Whether `path`, or the other half of a pair that it names, begins like NIfTI.
[[nodiscard]] bool is_image(const std::filesystem::path& path);

// The errors are those of the header, and kCancelled.
Result<ImageAnswer> inspect_image(const std::filesystem::path& path,
                                  const ImageQuestions& questions, const CancelToken* cancel);

}  // namespace mezzotint
