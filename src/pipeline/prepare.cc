#include "pipeline/prepare.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/cancel.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "base/system.h"
#include "formats/nifti.h"
#include "formats/png.h"
#include "imaging/prepare.h"
#include "imaging/preview.h"
#include "models/recipe.h"
#include "pipeline/condition.h"
#include "pipeline/machine.h"
#include "pipeline/model.h"
#include "pipeline/no_throw.h"
#include "pipeline/outputs.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListed = 8;  // values on the line about the mask as it was

// Of the T1's head; below it, labels cannot be those of a brain.
constexpr double kLeastBrainShare = 0.1;

// The labels as a picture: brain dark grey, what lies in it brighter.
Volume picture_of(const LabelVolume& mask, const LabelSet& labels) {
  std::array<float, 256> grey{};
  const auto count = static_cast<float>(labels.labels.size());
  for (const LabelName& label : labels.labels) {
    grey[static_cast<std::size_t>(label.value)] =
        label.value == labels.brain ? 0.3F : 0.5F + 0.5F * static_cast<float>(label.value) / count;
  }
  Volume picture{static_cast<const Grid&>(mask), {}};
  picture.data.resize(mask.data.size());
  std::transform(mask.data.begin(), mask.data.end(), picture.data.begin(),
                 [&](std::uint8_t label) { return grey[label]; });
  return picture;
}

Volume to_volume(const NiftiImage& image, const Grid& grid) {
  Volume volume{grid, {}};
  volume.data.resize(static_cast<std::size_t>(grid.voxels()));
  image.to_float(volume.data);
  return volume;
}

class PrepareJob {
 public:
  PrepareJob(const PrepareRequest& request, const CancelToken* cancel)
      : request_(request), cancel_(cancel) {}

  Result<PrepareReport> run() {
    for (const auto step : {&PrepareJob::check_request, &PrepareJob::choose_labels,
                            &PrepareJob::read_mask, &PrepareJob::read_t1, &PrepareJob::add_brain,
                            &PrepareJob::add_tumour, &PrepareJob::conclude, &PrepareJob::write}) {
      if (stop_requested(cancel_)) {
        return stopped();
      }
      if (Status status = (this->*step)(); !status) {
        return status.error();
      }
    }
    return report_;
  }

 private:
  [[nodiscard]] std::vector<fs::path> outputs() const {
    std::vector<fs::path> paths{request_.out};
    if (request_.preview) {
      paths.push_back(*request_.preview);
    }
    return paths;
  }

  Status check_request() {
    if (Status status = check_output_names(request_.out, request_.preview); !status) {
      return status;
    }
    if (request_.recipe.has_value() == request_.model.has_value()) {
      return invalid_input("prepare: expected either a recipe or a model");
    }
    std::vector<fs::path> inputs;
    for (const auto& input : {std::optional(request_.mask), request_.t1, request_.tumour}) {
      if (input) {
        const std::vector<fs::path> files = nifti_files(*input);
        inputs.insert(inputs.end(), files.begin(), files.end());
      }
    }
    if (Status status = check_outputs_spare_inputs(outputs(), inputs); !status) {
      return status;
    }
    return check_memory(resident_bytes() + prepare_bytes(request_));
  }

  Status choose_labels() {
    if (request_.model) {
      // Labels are the same whichever network keys without a prefix stand for.
      constexpr std::string_view kVariant = "med-ddpm";
      const auto model = open_model_any_weights(*request_.model, {}, cancel_, kVariant);
      if (!model) {
        return model.error();
      }
      labels_ = model->labels;
      if (Status status = check_outputs_spare_inputs(outputs(), model->files()); !status) {
        return status;
      }
    } else {
      const auto kind = recipe_from_name(*request_.recipe);
      if (!kind || *kind == RecipeKind::kGeneric) {
        return invalid_input("recipe: {} is not whole-head or brats{}", in_quotes(*request_.recipe),
                             kind ? "; for another model pass --model" : "");
      }
      const Recipe& recipe = recipe_of(*kind);
      labels_ = label_set(recipe, static_cast<std::int64_t>(recipe.label_names.size()));
    }
    report_.recipe = labels_.recipe;
    return {};
  }

  Status read_mask() {
    auto image = read_nifti(request_.mask);
    if (!image) {
      return image.error();
    }
    const std::string what = request_.mask.string();
    if (const auto dims = mask_dims(image->header, request_.mask); !dims) {
      return dims.error();
    }
    report_.notes = image->header.notes;
    const ValueTally values = tally_values(*image);
    report_.before = values.describe(kListed);
    for (const auto& [value, count] : values.counts) {
      report_.before_values.push_back({value, count});
    }
    auto reading = request_.label_map ? read_as_stated(*image)
                                      : read_unexplained(*image, values, labels_, what);
    if (!reading) {
      return reading.error();
    }
    mask_ = std::move(reading->mask.volume);
    report_.done = std::move(reading->done);
    append(report_.notes, reading->mask.notes);
    geometry_ = image->header.geometry;
    return create_outputs();
  }

  Result<Reading> read_as_stated(const NiftiImage& image) const {
    const auto map = parse_label_map(*request_.label_map, labels_);
    if (!map) {
      return map.error();
    }
    auto mask = read_labels(image, *map, labels_, request_.mask.string());
    if (!mask) {
      return mask.error();
    }
    return Reading{std::move(*mask),
                   {fmt::format("labels as the map says: {}", *request_.label_map)}};
  }

  Status create_outputs() {
    auto out = OutputFile::create(request_.out, request_.overwrite, 0);
    if (!out) {
      return out.error();
    }
    out_ = std::move(*out);
    if (request_.preview) {
      auto preview = OutputFile::create(*request_.preview, request_.overwrite, 0);
      if (!preview) {
        return preview.error();
      }
      preview_ = std::move(*preview);
    }
    return {};
  }

  // Another image on the mask's grid.
  Result<NiftiImage> read_beside(const fs::path& path) {
    auto image = read_nifti(path);
    if (!image) {
      return image;
    }
    const auto dims = volume_dims(image->header, path.string());
    if (!dims) {
      return dims.error();
    }
    const Grid grid{*dims, image->header.affine};
    if (Status status = check_same_grid(mask_, request_.mask.string(), grid, path.string());
        !status) {
      return status.error();
    }
    for (const std::string& note : image->header.notes) {
      report_.notes.push_back(fmt::format("{}: {}", path.filename().string(), note));
    }
    return image;
  }

  Status read_t1() {
    if (!request_.t1) {
      return {};
    }
    auto t1 = read_beside(*request_.t1);
    if (!t1) {
      return t1.error();
    }
    t1_ = std::move(*t1);
    return {};
  }

  [[nodiscard]] std::int64_t voxels_of(int label) const {
    return count_labels(mask_)[static_cast<std::size_t>(label)];
  }
  [[nodiscard]] std::string brain() const {
    return fmt::format("{} ({})", labels_.brain, label_name(labels_, labels_.brain));
  }

  Status add_brain() {
    if (labels_.brain == 0) {
      return {};
    }
    if (voxels_of(labels_.brain) != 0) {
      return check_brain();
    }
    if (!t1_) {
      if (labels_.needs_brain) {
        return invalid_input(
            "{}: lacks label {}: give the skull-stripped T1 with --t1, from which it is made",
            request_.mask.string(), brain());
      }
      report_.notes.push_back(fmt::format(
          "there is no label {}: the model has seen no such mask; --t1 would add it", brain()));
      return {};
    }
    const auto region = brain_of_t1(*t1_, request_.t1->string());
    if (!region) {
      return region.error();
    }
    if (Status status = check_overlap(*region); !status) {
      return status;
    }
    const std::int64_t filled =
        fill_background(mask_, *region, static_cast<std::uint8_t>(labels_.brain));
    if (filled == 0) {
      return invalid_input("{}: is air wherever {} is background: there is no brain to add",
                           request_.t1->string(), request_.mask.string());
    }
    report_.done.push_back(
        fmt::format("background became {} where {}: {} voxels", brain(), region->rule, filled));
    return {};
  }

  // Labels lie in the head, unless the T1 is another's or turned.
  Status check_overlap(const Region& head) {
    std::int64_t labelled = 0;
    std::int64_t in_air = 0;
    for (std::size_t i = 0; i < mask_.data.size(); ++i) {
      labelled += mask_.data[i] != 0 ? 1 : 0;
      in_air += mask_.data[i] != 0 && head.inside[i] == 0 ? 1 : 0;
    }
    if (in_air * 2 > labelled) {
      return invalid_input(
          "{}: is air at {} of the {} voxels that {} labels: it is of another person, or turned",
          request_.t1->string(), in_air, labelled, request_.mask.string());
    }
    if (in_air != 0) {
      report_.notes.push_back(fmt::format(
          "the T1 is air at {} of the {} voxels that the mask labels", in_air, labelled));
    }
    return {};
  }

  // What alone looks like brain may be the raw label: then it is far too small for the T1's head.
  Status check_brain() const {
    if (!t1_ || !labels_.raw || request_.label_map) {
      return {};
    }
    const auto head = brain_of_t1(*t1_, request_.t1->string());
    const auto labelled = static_cast<double>(mask_.voxels() - voxels_of(0));
    if (!head || labelled >= kLeastBrainShare * static_cast<double>(head->voxels)) {
      return {};
    }
    return invalid_input(
        "{}: its labels cover {:.1f} % of the head in {}, too little for label {}; say what {} "
        "means with --label-map \"{}={}\" or \"{}={}\"",
        request_.mask.string(), 100 * labelled / static_cast<double>(head->voxels),
        request_.t1->string(), brain(), labels_.raw->stored, labels_.raw->stored,
        label_name(labels_, labels_.raw->means), labels_.raw->stored,
        label_name(labels_, labels_.raw->stored));
  }

  Status add_tumour() {
    if (!request_.tumour) {
      return {};
    }
    const std::string what = request_.tumour->string();
    if (labels_.tumour == 0) {
      return invalid_input(
          "tumour: {} models have no single label for all tumour, expected its parts in the mask "
          "({})",
          labels_.recipe, list_labels(labels_));
    }
    const auto image = read_beside(*request_.tumour);
    if (!image) {
      return image.error();
    }
    const auto region = region_of_mask(*image, what);
    if (!region) {
      return region.error();
    }
    const auto label = static_cast<std::uint8_t>(labels_.tumour);
    const std::int64_t outside = fill_background(mask_, *region, label);
    if (outside == region->voxels) {
      return invalid_input("{}: lies wholly outside {}: it is of another person, or turned", what,
                           request_.mask.string());
    }
    for (std::size_t i = 0; i < mask_.data.size(); ++i) {
      if (region->inside[i] != 0) {
        mask_.data[i] = label;
      }
    }
    if (labels_.brain != 0 &&
        std::ranges::find(mask_.data, static_cast<std::uint8_t>(labels_.brain)) ==
            mask_.data.end()) {
      return invalid_input("{}: covers all of {}, no brain is left: are the two exchanged?", what,
                           request_.mask.string());
    }
    report_.done.push_back(fmt::format("{} of {} became {} ({}): {} voxels", region->rule,
                                       request_.tumour->filename().string(), labels_.tumour,
                                       label_name(labels_, labels_.tumour), region->voxels));
    if (outside != 0) {
      report_.notes.push_back(
          fmt::format("{} voxels of the tumour lie outside the brain of the mask", outside));
    }
    return {};
  }

  Status conclude() {
    const LabelCounts counts = count_labels(mask_);
    report_.after = describe_counts(counts, labels_);
    report_.after_labels.push_back({0, label_name(labels_, 0), counts[0]});
    for (const LabelName& label : labels_.labels) {
      report_.after_labels.push_back(
          {label.value, label.name, counts[static_cast<std::size_t>(label.value)]});
    }
    if (look_raw(counts, labels_)) {
      report_.notes.push_back(fmt::format(
          "without a label {}, these labels look raw: give generate --label-map \"{}\" with them",
          labels_.raw->means, map_as_stored(counts)));
    }
    return {};
  }

  Status write_mask() {
    auto bytes = encode_nifti(geometry_, mask_.dims, std::span<const std::uint8_t>(mask_.data), "");
    if (!bytes) {
      return make_error(bytes.error().code, "{}: {}", request_.out.string(), bytes.error().message);
    }
    const auto hash = write_image(*out_, *bytes);
    return hash ? Status() : Status(hash.error());
  }

  Status write() {
    if (Status status = write_mask(); !status) {
      return status;
    }
    if (preview_) {
      if (Status status = write_preview(); !status) {
        return status;
      }
    }
    std::vector<OutputFile*> files{&*out_};
    if (preview_) {
      files.insert(files.begin(), &*preview_);
    }
    if (Status status = commit(files); !status) {
      return status;
    }
    report_.out = request_.out;
    report_.preview = request_.preview;
    return {};
  }

  Status write_preview() {
    PreviewOptions options;
    options.tumour_labels = labels_but_brain(labels_);
    if (!t1_) {
      options.window = IntensityWindow{0, 1};
    }
    const auto picture =
        render_preview(t1_ ? to_volume(*t1_, mask_) : picture_of(mask_, labels_), mask_, options);
    if (!picture) {
      return picture.error();
    }
    const auto png = encode_png(picture->width, picture->height, picture->rgb);
    if (!png) {
      return png.error();
    }
    return preview_->write(*png);
  }

  static void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  const PrepareRequest& request_;
  const CancelToken* cancel_;
  LabelSet labels_;
  LabelVolume mask_;
  NiftiGeometry geometry_;
  std::optional<NiftiImage> t1_;
  std::optional<OutputFile> out_;
  std::optional<OutputFile> preview_;
  PrepareReport report_;
};

}  // namespace

std::uint64_t prepare_bytes(const PrepareRequest& request) {
  // On the mask's grid: the picture's volume, itself and the mask turned, the brain's values.
  constexpr std::uint64_t kPreviewBytes = 3 * sizeof(float) + 1;
  const NiftiMemory mask = nifti_memory(request.mask);
  const NiftiMemory t1 = request.t1 ? nifti_memory(*request.t1) : NiftiMemory{};
  const NiftiMemory tumour = request.tumour ? nifti_memory(*request.tumour) : NiftiMemory{};
  const std::uint64_t labels = mask.voxels;
  const std::uint64_t writing = labels * (request.preview ? kPreviewBytes : 1);
  return std::max({mask.reading, mask.image + 2 * labels,
                   labels + std::max(t1.reading, t1.image + t1.voxels),
                   labels + t1.image + std::max(tumour.reading, tumour.image + tumour.voxels),
                   labels + t1.image + writing});
}

Result<PrepareReport> prepare(const PrepareRequest& request, const CancelToken* cancel) {
  return no_throw([&]() -> Result<PrepareReport> { return PrepareJob(request, cancel).run(); });
}

}  // namespace mezzotint
