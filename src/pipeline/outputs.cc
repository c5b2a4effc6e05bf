#include "pipeline/outputs.h"

#include <vector>

#include "base/error.h"
#include "pipeline/sidecar.h"

namespace mezzotint {

bool is_compressed(const std::filesystem::path& out) {
  return out.extension() == ".gz";
}

Status check_outputs_spare_inputs(const GenerateRequest& request, const Model& model) {
  namespace fs = std::filesystem;
  std::vector<fs::path> outputs{request.out, sidecar_path(request.out)};
  std::vector<fs::path> inputs{request.mask, model.file};
  if (!model.card.empty()) {
    inputs.push_back(model.card);
  }
  if (request.preview) {
    outputs.push_back(*request.preview);
  }
  if (request.noise) {
    inputs.push_back(*request.noise);
  }
  for (const fs::path& output : outputs) {
    for (const fs::path& input : inputs) {
      std::error_code absent;
      if (fs::equivalent(output, input, absent)) {
        return invalid_input("{}: is read and would be overwritten: choose another name",
                             output.string());
      }
    }
  }
  return {};
}

Result<Outputs> create_outputs(const GenerateRequest& request, std::int64_t voxels) {
  constexpr std::uint64_t kSidecarBytes = 64 << 10;
  constexpr std::uint64_t kPreviewBytes = 1 << 20;
  const std::uint64_t volume_bytes = static_cast<std::uint64_t>(voxels) * sizeof(float) + 4096;
  auto volume = OutputFile::create(request.out, request.overwrite, volume_bytes);
  if (!volume) {
    return volume.error();
  }
  auto sidecar = OutputFile::create(sidecar_path(request.out), request.overwrite, kSidecarBytes);
  if (!sidecar) {
    return sidecar.error();
  }
  Outputs outputs{std::move(*volume), std::move(*sidecar), std::nullopt};
  if (request.preview) {
    auto preview = OutputFile::create(*request.preview, request.overwrite, kPreviewBytes);
    if (!preview) {
      return preview.error();
    }
    outputs.preview = std::move(*preview);
  }
  return outputs;
}

}  // namespace mezzotint
