#include "pipeline/outputs.h"

#include <vector>

#include "base/error.h"
#include "pipeline/sidecar.h"

namespace mezzotint {

bool is_compressed(const std::filesystem::path& out) {
  return out.extension() == ".gz";
}

Status check_outputs_spare_inputs(std::span<const std::filesystem::path> outputs,
                                  std::span<const std::filesystem::path> inputs) {
  for (const std::filesystem::path& output : outputs) {
    for (const std::filesystem::path& input : inputs) {
      std::error_code absent;
      if (std::filesystem::equivalent(output, input, absent)) {
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
  const std::uint64_t raw_bytes = static_cast<std::uint64_t>(voxels) * sizeof(float) + 4096;
  // deflate stores what it cannot compress, at 5 bytes per block of 16 KB or more.
  const std::uint64_t volume_bytes =
      is_compressed(request.out) ? raw_bytes + raw_bytes / 1000 + (64 << 10) : raw_bytes;
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

Status commit(Outputs& outputs) {
  std::vector<OutputFile*> files{&outputs.sidecar, &outputs.volume};
  if (outputs.preview) {
    files.insert(files.begin(), &*outputs.preview);
  }
  for (OutputFile* file : files) {
    if (Status status = file->publish(); !status) {
      return status;
    }
  }
  for (OutputFile* file : files) {
    file->keep();
  }
  return {};
}

}  // namespace mezzotint
