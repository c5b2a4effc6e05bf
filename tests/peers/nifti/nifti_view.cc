// What our reader sees in NIfTI files and what our writer makes of it, for another program to
// judge.
//
//   nifti_view FILE...
//
// One JSON object a line and file: `error`, or `dims`, `type`, `affine` (rows, mm), `source`
// (sform, qform or pixdim), `notes` and, when the image is one volume, `written` true. FILE.f64
// then holds the scaled values (float64, x fastest), FILE.volume.nii what encode_nifti() makes of
// them, and FILE.labels.nii what it makes of the labels 0, 1, ... 255, 0, ...
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "formats/nifti.h"

namespace {

using Json = nlohmann::ordered_json;

bool save(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

Json view(const std::string& path) {
  const auto image = mezzotint::read_nifti(path);
  if (!image) {
    return {{"error", image.error().message}};
  }
  const mezzotint::NiftiHeader& header = image->header;
  std::vector<double> values(static_cast<std::size_t>(image->voxels()));
  image->read_values(0, values);
  Json seen{{"dims", header.dims},     {"type", name_of(header.type)},
            {"affine", header.affine}, {"source", name_of(header.affine_source)},
            {"notes", header.notes},   {"written", false}};
  if (!save(path + ".f64", std::as_bytes(std::span(values)))) {
    return {{"error", "cannot write beside " + path}};
  }
  if (const auto dims = volume_dims(header, path)) {
    std::vector<float> floats(values.size());
    image->to_float(floats);
    std::vector<std::uint8_t> labels(values.size());
    std::iota(labels.begin(), labels.end(), std::uint8_t{0});
    const auto volume = encode_nifti(header.geometry, *dims, floats, "peer");
    const auto mask = encode_nifti(header.geometry, *dims, labels, "peer");
    if (!volume || !save(path + ".volume.nii", *volume) || !mask ||
        !save(path + ".labels.nii", *mask)) {
      return {{"error", "cannot write beside " + path}};
    }
    seen["written"] = true;
  }
  return seen;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    fmt::print("{}\n", view(argv[i]).dump());
  }
  return 0;
}
