#include "mezzotint/batch.h"

#include <chrono>
#include <utility>

#include "base/error.h"
#include "pipeline/batch_list.h"
#include "pipeline/no_throw.h"
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

Status make_folder(std::string_view what, const fs::path& folder) {
  if (is_volume_name(folder)) {
    return invalid_input(
        "{}: {}: a folder of masks or several samples make several volumes, which go into a "
        "folder; "
        "pass the name of one",
        what, folder.string());
  }
  std::error_code error;
  fs::create_directory(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return resource_error("{}: {}: cannot make this folder{}{}", what, folder.string(),
                          error ? ": " : "", error ? error.message() : "");
  }
  return {};
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
    auto volumes = list_batch(request_);
    if (!volumes) {
      return volumes.error();
    }
    auto painter = Painter::open(request_.settings, cancel_);
    if (!painter) {
      return painter.error();
    }
    if (Status status = make_folder("out", request_.settings.out); !status) {
      return status.error();
    }
    if (const auto& preview = request_.settings.preview) {
      if (Status status = make_folder("preview", *preview); !status) {
        return status.error();
      }
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
    BatchResult result;
    result.volume = volume;
    if (!made) {
      result.error = made.error().message;
    } else if (*made) {
      result.outcome = BatchOutcome::kMade;
      result.report = std::move(**made);
      ++report_.made;
      made_seconds_ += result.report.total_seconds;
    } else {
      result.outcome = BatchOutcome::kThere;
      ++report_.there;
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
