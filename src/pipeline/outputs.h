// The files that generate writes: all of them or none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"
#include "mezzotint/generate.h"
#include "mezzotint/result.h"
#include "models/recipe.h"

namespace mezzotint {

// What a model's image channels show: the recipe's names ("t1", "flair"), else "image1", "image2".
[[nodiscard]] std::vector<std::string> modality_names(const Recipe& recipe, std::int64_t channels);

// Whether a volume may have this name: it ends in .nii or .nii.gz.
[[nodiscard]] bool is_volume_name(const std::filesystem::path& out);
// "scan.nii.gz" -> "scan".
[[nodiscard]] std::string stem_of_volume(const std::filesystem::path& out);
// "scan.nii.gz" and "_t1" -> "scan_t1.nii.gz"; the ending is .nii or .nii.gz.
[[nodiscard]] std::filesystem::path with_suffix(const std::filesystem::path& out,
                                                std::string_view suffix);
// "scan.nii.gz" and "scan.nii" -> "scan.json", in the same folder.
[[nodiscard]] std::filesystem::path sidecar_path(const std::filesystem::path& out);
// kInvalidInput unless `out` ends in .nii or .nii.gz and `preview` in .png.
Status check_output_names(const std::filesystem::path& out,
                          const std::optional<std::filesystem::path>& preview);

// By the name's ending: .nii.gz.
[[nodiscard]] bool is_compressed(const std::filesystem::path& out);

// One image channel: the volume is `out` itself. Several: "<out>_<modality>" each, and the mask
// beside them as "<out>_seg".
struct OutputNames {
  std::vector<std::filesystem::path> volumes;  // in the order of the image channels
  std::optional<std::filesystem::path> mask;
  std::filesystem::path sidecar;
  std::optional<std::filesystem::path> preview;

  [[nodiscard]] std::vector<std::filesystem::path> all() const;
};
[[nodiscard]] OutputNames output_names(const GenerateRequest& request,
                                       std::span<const std::string> modalities);

// --overwrite replaces results, never what they are made from: kInvalidInput when an output is one
// of the inputs, by whatever name.
Status check_outputs_spare_inputs(std::span<const std::filesystem::path> outputs,
                                  std::span<const std::filesystem::path> inputs);

// Writes a whole NIfTI file, compressed where file.path() says so. Returns the SHA-256 of what was
// written.
Result<std::string> write_image(OutputFile& file, std::span<const std::byte> image);

struct Outputs {
  std::vector<OutputFile> volumes;
  std::optional<OutputFile> mask;
  OutputFile sidecar;
  std::optional<OutputFile> preview;

  // Every file that is there, the volumes last.
  [[nodiscard]] std::vector<OutputFile*> in_order();
};

// Created before the work: a full disk or a folder that cannot be written is known at once.
// `voxels` of each volume.
Result<Outputs> create_outputs(const OutputNames& names, bool overwrite, std::int64_t voxels);

// All files under their names, in this order: where the last one is, everything is. When one cannot
// appear, those before it are taken back as they are destroyed (OutputFile::publish()).
Status commit(std::span<OutputFile* const> files);

}  // namespace mezzotint
