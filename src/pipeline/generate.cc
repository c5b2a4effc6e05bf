#include "mezzotint/generate.h"

#include "base/error.h"
#include "pipeline/no_throw.h"
#include "pipeline/outputs.h"
#include "pipeline/painter.h"
#include "pipeline/volume_job.h"

namespace mezzotint {
namespace {

Result<GenerateReport> generate_volume(const GenerateRequest& request, GenerateObserver& observer,
                                       const CancelToken* cancel) {
  std::error_code absent;
  if (std::filesystem::is_directory(request.out, absent)) {
    return invalid_input("out: {}: is a folder; name a file in it, or ask for --samples",
                         request.out.string());
  }
  if (Status status = check_output_names(request.out, request.preview); !status) {
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
