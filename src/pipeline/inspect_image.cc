#include "pipeline/inspect_image.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "base/error.h"
#include "base/file.h"
#include "base/system.h"
#include "formats/gzip.h"
#include "imaging/labels.h"
#include "imaging/value_tally.h"
#include "imaging/volume.h"
#include "pipeline/condition.h"
#include "pipeline/inspect_answer.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"

namespace mezzotint {
namespace {

// nifti1.h, NIFTI_XFORM_*.
std::string_view space_of(int code) {
  switch (code) {
    case 1: return "scanner";
    case 2: return "aligned";
    case 3: return "Talairach";
    case 4: return "MNI152";
    case 5: return "template";
    default: return "unknown";
  }
}

std::string form(std::string_view name, int code) {
  return fmt::format("{} (code {}, {})", name, code, space_of(code));
}

// A form that cannot be used has code 0, and the header's notes say so.
std::string placed_by(const NiftiHeader& header) {
  const NiftiGeometry& geometry = header.geometry;
  switch (header.affine_source) {
    case AffineSource::kSform:
      return fmt::format("{}; {}", form("sform", geometry.sform_code),
                         geometry.qform_code > 0 ? fmt::format("the {} comes second",
                                                               form("qform", geometry.qform_code))
                                                 : "no usable qform");
    case AffineSource::kQform:
      return fmt::format("{}; no usable sform", form("qform", geometry.qform_code));
    case AffineSource::kPixdim: return "voxel sizes alone; no usable sform or qform";
  }
  return "";
}

bool may_be_labels(const ValueTally& tally) {
  return tally.all_whole && tally.counts.size() <= kMostLabels;
}

Result<VoxelSummary> summarize(const NiftiImage& image, const CancelToken* cancel) {
  VoxelSummary summary;
  summary.voxels = image.voxels();
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  ValueTally tally;
  std::array<double, 4096> block;
  for (std::int64_t first = 0; first < summary.voxels; first += std::ssize(block)) {
    if (stop_requested(cancel)) {
      return stopped();
    }
    const auto values = std::span(block).first(static_cast<std::size_t>(
        std::min<std::int64_t>(std::ssize(block), summary.voxels - first)));
    image.read_values(first, values);
    for (const double value : values) {
      if (may_be_labels(tally)) {
        tally.add(value);
      }
      if (std::isfinite(value)) {
        least = std::min(least, value);
        most = std::max(most, value);
      } else {
        ++summary.not_finite;
      }
    }
  }
  if (least <= most) {
    summary.least = least;
    summary.most = most;
  }
  if (may_be_labels(tally)) {
    for (const auto& [value, count] : tally.counts) {
      summary.labels.push_back({static_cast<std::int64_t>(value), count});
    }
  }
  return summary;
}

MaskVerdict judge_for_recipe(const NiftiImage& image, RecipeKind kind,
                             const std::filesystem::path& path) {
  const Recipe& recipe = recipe_of(kind);
  const LabelSet set = label_set(recipe, std::ssize(recipe.label_names));
  MaskVerdict verdict{std::string(recipe.name), false, {}, {}};
  if (const auto dims = mask_dims(image.header, path); !dims) {
    verdict.detail = dims.error().message;
    return verdict;
  }
  const auto labels = labels_from_nifti(image, set, path.string());
  verdict.usable = labels.ok();
  if (labels) {
    verdict.detail = describe_counts(count_labels(labels->volume), set);
    verdict.notes = labels->notes;
  } else {
    verdict.detail = labels.error().message;
  }
  return verdict;
}

Result<MaskVerdict> judge_for_model(const std::filesystem::path& path,
                                    const ImageQuestions& questions, const CancelToken* cancel) {
  const auto model =
      open_model_any_weights(*questions.model, questions.weights, cancel, questions.variant);
  if (!model) {
    return model.error();
  }
  GenerateRequest request;
  request.mask = path;
  request.size = questions.size;
  const auto fit = choose_fit(request, *model);
  if (!fit) {
    return fit.error();
  }
  if (Status status = check_memory(resident_bytes() + condition_read_bytes(path, fit->dims));
      !status) {
    return status.error();
  }
  MaskVerdict verdict{questions.model->string(), false, {}, {}};
  const auto condition = read_condition(path, *model, *fit);
  verdict.usable = condition.ok();
  if (condition) {
    verdict.detail =
        fmt::format("{}; {}", describe_counts(count_labels(condition->mask), model->labels),
                    condition->fit.summary);
    verdict.notes = condition->notes;
  } else {
    verdict.detail = condition.error().message;
  }
  if (!questions.weights && model->weights_name != "ema") {
    verdict.notes.push_back("generate needs --weights " + model->weights_name);
  }
  return verdict;
}

void tell_header(NiftiHeader header, ImageSummary& summary) {
  summary.placed_by = placed_by(header);
  summary.orientation = orientation_codes(header.affine);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    summary.field_mm[axis] = static_cast<double>(header.dims[axis]) * header.spacing[axis];
  }
  summary.header = std::move(header);
}

Status read_voxels(const std::filesystem::path& path, ImageSummary& summary,
                   const CancelToken* cancel) {
  if (Status status = check_memory(resident_bytes() + labels_read_bytes(path)); !status) {
    return status;
  }
  const auto image = read_nifti(path);
  if (!image) {
    return image.error();
  }
  summary.sha256 = image->sha256;
  summary.origin = read_origin(path, image->sha256);
  auto voxels = summarize(*image, cancel);
  if (!voxels) {
    return voxels.error();
  }
  summary.voxels = std::move(*voxels);
  for (const RecipeKind recipe : {RecipeKind::kWholeHead, RecipeKind::kBrats}) {
    if (stop_requested(cancel)) {
      return stopped();
    }
    summary.masks.push_back(judge_for_recipe(*image, recipe, path));
  }
  return {};
}

}  // namespace

bool is_image(const std::filesystem::path& path) {
  return std::ranges::any_of(nifti_files(path), [](const std::filesystem::path& half) {
    const auto file = InputFile::open(half);
    const auto start = file ? file->start(kNiftiStartBytes) : file.error();
    return start && is_nifti(*start);
  });
}

Result<ImageAnswer> inspect_image(const std::filesystem::path& path,
                                  const ImageQuestions& questions, const CancelToken* cancel) {
  const auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  const auto start = file->start(kNiftiStartBytes);
  if (!start) {
    return start.error();
  }
  auto header = read_nifti_header(path);
  if (!header) {
    return header.error();
  }
  ImageAnswer answer;
  ImageSummary& summary = answer.summary;
  tell_header(std::move(*header), summary);
  summary.compressed = is_gzip(*start);
  summary.file_bytes = file->size();
  Status status = read_voxels(path, summary, cancel);
  if (status && questions.model) {
    auto verdict = judge_for_model(path, questions, cancel);
    status = verdict ? Status() : Status(verdict.error());
    if (verdict) {
      summary.masks.push_back(std::move(*verdict));
    }
  }
  return with_problem(std::move(answer), status);
}

}  // namespace mezzotint
