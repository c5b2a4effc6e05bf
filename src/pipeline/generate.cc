#include "mezzotint/generate.h"

#include "base/error.h"
#include "pipeline/no_throw.h"
#include "pipeline/painter.h"
#include "pipeline/volume_job.h"

namespace mezzotint {
namespace {

Status check_request(const GenerateRequest& request) {
  const std::string out = request.out.string();
  if (!out.ends_with(".nii") && !out.ends_with(".nii.gz")) {
    return invalid_input("out: {}: expected a name that ends in .nii or .nii.gz", out);
  }
  if (request.preview && request.preview->extension() != ".png") {
    return invalid_input("preview: {}: expected a name that ends in .png",
                         request.preview->string());
  }
  if (!(request.checkpoint_seconds >= 0)) {
    return invalid_input("checkpoint seconds: {}: expected 0 (never) or more",
                         request.checkpoint_seconds);
  }
  return {};
}

Result<GenerateReport> generate_volume(const GenerateRequest& request, GenerateObserver& observer,
                                       const CancelToken* cancel) {
  if (Status status = check_request(request); !status) {
    return status.error();
  }
  auto painter = Painter::open(request, cancel);
  if (!painter) {
    return painter.error();
  }
  return VolumeJob(*painter, request, observer, cancel).run();
}

}  // namespace

Result<GenerateReport> generate(const GenerateRequest& request, GenerateObserver* observer,
                                const CancelToken* cancel) {
  GenerateObserver silent;
  return no_throw([&]() -> Result<GenerateReport> {
    return generate_volume(request, observer != nullptr ? *observer : silent, cancel);
  });
}

}  // namespace mezzotint
