#include "mezzotint/batch.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/nifti.h"
#include "pipeline/batch_list.h"
#include "pipeline/no_throw.h"
#include "pipeline/output_folder.h"
#include "pipeline/outputs.h"
#include "pipeline/painter.h"
#include "pipeline/volume_job.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<OutputFolder> make_folder(std::string_view what, const fs::path& folder) {
  if (is_volume_name(folder)) {
    return invalid_input(
        "{}: {}: a folder of masks or several samples make several volumes, which go into a "
        "folder; pass the name of one",
        what, folder.string());
  }
  return OutputFolder::make(what, folder);
}

GenerateRequest request_for(const GenerateRequest& settings, const BatchVolume& volume) {
  GenerateRequest request = settings;
  request.mask = volume.mask;
  request.out = volume.out;
  request.sample = volume.sample;
  if (settings.preview) {
    request.preview = *settings.preview / (stem_of_volume(volume.out) + ".png");
  }
  return request;
}

class Batch {
 public:
  Batch(const BatchRequest& request, BatchObserver& observer, const CancelToken* cancel)
      : request_(request), observer_(observer), cancel_(cancel) {}

  Result<BatchReport> run() {
    const auto volumes = list_batch(request_);
    if (!volumes) {
      return volumes.error();
    }
    auto painter = Painter::open(request_.settings, cancel_);
    if (!painter) {
      return painter.error();
    }
    if (Status status = spare_masks(*volumes, painter->model()); !status) {
      return status.error();
    }
    const auto out = make_folder("out", request_.settings.out);
    if (!out) {
      return out.error();
    }
    std::optional<OutputFolder> pictures;
    if (const auto& preview = request_.settings.preview) {
      auto made = make_folder("preview", *preview);
      if (!made) {
        return made.error();
      }
      pictures = std::move(*made);
    }
    for (const BatchVolume& volume : *volumes) {
      if (Status status = make(*painter, volume); !status) {
        return status.error();
      }
    }
    report_.total_seconds = seconds_since(start_);
    return report_;
  }

 private:
  // No volume may replace a mask that is yet to be read. A volume's own inputs are compared by its
  // job, whatever their names; here names are, since there may be thousands of each.
  Status spare_masks(const std::vector<BatchVolume>& volumes, const Model& model) const {
    if (!request_.settings.overwrite) {
      return {};
    }
    std::set<fs::path> masks;
    std::error_code absent;
    for (const BatchVolume& volume : volumes) {
      for (const fs::path& file : nifti_files(volume.mask)) {
        masks.insert(fs::canonical(file, absent));
      }
    }
    const std::vector<std::string> modalities =
        modality_names(*model.recipe, model.config.image_channels);
    for (const BatchVolume& volume : volumes) {
      const OutputNames names = output_names(request_for(request_.settings, volume), modalities);
      for (const fs::path& file : names.all()) {
        const fs::path there = fs::canonical(file, absent);
        if (!absent && masks.count(there) > 0) {
          return invalid_input(
              "{}: is a mask of this batch and would be overwritten: choose another folder",
              file.string());
        }
      }
    }
    return {};
  }

  // An error ends the batch; a volume's failure does not.
  Status make(Painter& painter, const BatchVolume& volume) {
    observer_.on_volume(volume);
    const GenerateRequest request = request_for(request_.settings, volume);
    auto made = no_throw(
        [&]() { return VolumeJob(painter, request, observer_, cancel_).run_unless_there(); });
    if (!made && made.error().code == ErrorCode::kCancelled) {
      return make_error(ErrorCode::kCancelled, "{}; {} of {} volumes are there",
                        made.error().message, report_.made + report_.there, volume.count);
    }
    if (!made && painter.is_broken()) {
      return made.error();
    }
    BatchResult result;
    result.volume = volume;
    if (!made) {
      result.error = made.error();
    } else if (*made) {
      result.outcome = BatchOutcome::kMade;
      result.report = std::move(**made);
      ++report_.made;
      made_seconds_ += result.report.total_seconds;
    } else {
      result.outcome = BatchOutcome::kThere;
      ++report_.there;
      std::error_code absent;
      if (request.preview && !fs::exists(*request.preview, absent)) {
        result.note = fmt::format("without {}, which is made with its volume only",
                                  request.preview->string());
      }
    }
    if (report_.made > 0) {
      result.left_seconds = made_seconds_ / report_.made * (volume.count - volume.index - 1);
    }
    observer_.on_result(result);
    if (result.outcome == BatchOutcome::kFailed) {
      report_.failures.push_back(std::move(result));
    }
    return {};
  }

  const BatchRequest& request_;
  BatchObserver& observer_;
  const CancelToken* cancel_;
  Clock::time_point start_ = Clock::now();
  double made_seconds_ = 0;
  BatchReport report_;
};

}  // namespace

Result<BatchReport> generate_batch(const BatchRequest& request, BatchObserver* observer,
                                   const CancelToken* cancel) {
  BatchObserver silent;
  return no_throw([&]() -> Result<BatchReport> {
    return Batch(request, observer != nullptr ? *observer : silent, cancel).run();
  });
}

}  // namespace mezzotint
