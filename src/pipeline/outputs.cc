#include "pipeline/outputs.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "formats/gzip.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

struct SplitName {
  std::string stem;
  std::string_view ending;
};

SplitName split(const fs::path& out) {
  std::string name = out.filename().string();
  for (const std::string_view ending : {std::string_view(".nii.gz"), std::string_view(".nii")}) {
    if (name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
      return {std::move(name), ending};
    }
  }
  return {std::move(name), ""};
}

// deflate stores what it cannot compress, at 5 bytes per block of 16 KB or more.
std::uint64_t reserved_bytes(const fs::path& file, std::uint64_t content) {
  const std::uint64_t raw = content + 4096;
  return is_compressed(file) ? raw + raw / 1000 + (64 << 10) : raw;
}

}  // namespace

std::vector<std::string> modality_names(const Recipe& recipe, std::int64_t channels) {
  std::vector<std::string> names(recipe.modalities.begin(), recipe.modalities.end());
  if (static_cast<std::int64_t>(names.size()) != channels) {
    names.clear();
    for (std::int64_t i = 1; i <= channels; ++i) {
      names.push_back(fmt::format("image{}", i));
    }
  }
  return names;
}

bool is_volume_name(const fs::path& out) {
  return !split(out).ending.empty();
}

std::string stem_of_volume(const fs::path& out) {
  return split(out).stem;
}

fs::path with_suffix(const fs::path& out, std::string_view suffix) {
  const auto [stem, ending] = split(out);
  return out.parent_path() / fmt::format("{}{}{}", stem, suffix, ending);
}

fs::path sidecar_path(const fs::path& out) {
  return out.parent_path() / (split(out).stem + ".json");
}

Status check_output_names(const fs::path& out, const std::optional<fs::path>& preview) {
  if (!is_volume_name(out)) {
    return invalid_input("out: {}: expected a name that ends in .nii or .nii.gz", out.string());
  }
  if (preview && preview->extension() != ".png") {
    return invalid_input("preview: {}: expected a name that ends in .png", preview->string());
  }
  return {};
}

bool is_compressed(const fs::path& out) {
  return out.extension() == ".gz";
}

std::vector<fs::path> OutputNames::all() const {
  std::vector<fs::path> paths = volumes;
  paths.push_back(sidecar);
  for (const auto& more : {mask, preview}) {
    if (more) {
      paths.push_back(*more);
    }
  }
  return paths;
}

OutputNames output_names(const GenerateRequest& request, std::span<const std::string> modalities) {
  OutputNames names;
  names.sidecar = sidecar_path(request.out);
  names.preview = request.preview;
  if (modalities.size() == 1) {
    names.volumes.push_back(request.out);
    return names;
  }
  for (const std::string& modality : modalities) {
    names.volumes.push_back(with_suffix(request.out, "_" + modality));
  }
  names.mask = with_suffix(request.out, "_seg");
  return names;
}

Status check_outputs_spare_inputs(std::span<const fs::path> outputs,
                                  std::span<const fs::path> inputs) {
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

Result<std::string> write_image(OutputFile& file, std::span<const std::byte> image) {
  Sha256 hash;
  const auto write = [&](std::span<const std::byte> bytes) {
    hash.update(bytes);
    return file.write(bytes);
  };
  if (Status status = is_compressed(file.path()) ? gzip(image, write) : write(image); !status) {
    return status.error();
  }
  return hash.hex();
}

std::vector<OutputFile*> Outputs::in_order() {
  std::vector<OutputFile*> files;
  if (preview) {
    files.push_back(&*preview);
  }
  files.push_back(&sidecar);
  if (mask) {
    files.push_back(&*mask);
  }
  for (OutputFile& volume : volumes) {
    files.push_back(&volume);
  }
  return files;
}

Result<Outputs> create_outputs(const OutputNames& names, bool overwrite, std::int64_t voxels) {
  constexpr std::uint64_t kSidecarBytes = 64 << 10;
  constexpr std::uint64_t kPreviewBytes = 1 << 20;
  const auto count = static_cast<std::uint64_t>(voxels);
  std::vector<OutputFile> volumes;
  for (const fs::path& name : names.volumes) {
    auto volume = OutputFile::create(name, overwrite, reserved_bytes(name, count * sizeof(float)));
    if (!volume) {
      return volume.error();
    }
    volumes.push_back(std::move(*volume));
  }
  auto sidecar = OutputFile::create(names.sidecar, overwrite, kSidecarBytes);
  if (!sidecar) {
    return sidecar.error();
  }
  Outputs outputs{std::move(volumes), std::nullopt, std::move(*sidecar), std::nullopt};
  if (names.mask) {
    auto mask = OutputFile::create(*names.mask, overwrite, reserved_bytes(*names.mask, count));
    if (!mask) {
      return mask.error();
    }
    outputs.mask = std::move(*mask);
  }
  if (names.preview) {
    auto preview =
        OutputFile::create(*names.preview, overwrite, kPreviewBytes * names.volumes.size());
    if (!preview) {
      return preview.error();
    }
    outputs.preview = std::move(*preview);
  }
  return outputs;
}

Status commit(std::span<OutputFile* const> files) {
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
