#include "pipeline/noise_input.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace mezzotint {
namespace {

Status check_finite(const std::filesystem::path& path, const char* name,
                    std::span<const float> values) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    return invalid_input("{}: {} holds {} at element {}", path.string(), name, *bad,
                         bad - values.begin());
  }
  return {};
}

}  // namespace

Result<NoiseFile> NoiseFile::open(const std::filesystem::path& path, std::int64_t elements,
                                  int draws) {
  auto file = open_tensor_file(path);
  if (!file) {
    return file.error();
  }
  NoiseFile noise;
  noise.file_ = std::move(*file);
  const auto initial = noise.file_->find("", "x_T");
  if (!initial) {
    return invalid_input("{}: has no tensor x_T, the initial noise", path.string());
  }
  noise.initial_ = *initial;
  const TensorInfo& info = noise.file_->tensors()[*initial];
  if (info.elements != elements) {
    return invalid_input("{}: x_T has {} values, the model's grid needs {}", path.string(),
                         info.elements, elements);
  }
  if (draws > 0) {
    noise.noise_ = noise.file_->find("", "noise");
    const std::int64_t have = noise.noise_ ? noise.file_->tensors()[*noise.noise_].elements : 0;
    if (have % elements != 0 || have / elements < draws) {
      return invalid_input(
          "{}: this sampler draws noise {} times: expected a tensor noise [{}, 1, C, z, y, x] with "
          "{} values or more, it has {}",
          path.string(), draws, draws, elements * draws, have);
    }
  }
  auto hash = noise.file_->sha256();
  if (!hash) {
    return hash.error();
  }
  noise.sha256_ = std::move(*hash);
  return noise;
}

std::int64_t NoiseFile::floats() const {
  return file_->tensors()[initial_].elements +
         (noise_ ? file_->tensors()[*noise_].elements : std::int64_t{0});
}

Status NoiseFile::load() {
  std::vector<float> probe(static_cast<std::size_t>(file_->tensors()[initial_].elements));
  if (Status status = read(0, probe); !status) {
    return status;
  }
  if (Status status = check_finite(file_->path(), "x_T", probe); !status) {
    return status;
  }
  if (noise_) {
    draws_.resize(static_cast<std::size_t>(file_->tensors()[*noise_].elements));
    if (Status status = file_->read_float(*noise_, draws_); !status) {
      return status;
    }
    if (Status status = check_finite(file_->path(), "noise", draws_); !status) {
      return status;
    }
  }
  return {};
}

Status NoiseFile::read(int draw, std::span<float> out) {
  if (draw == 0) {
    return file_->read_float(initial_, out);
  }
  const std::size_t first = static_cast<std::size_t>(draw - 1) * out.size();
  if (first + out.size() > draws_.size()) {
    return invalid_input("{}: has no noise for draw {}", file_->path().string(), draw);
  }
  std::memcpy(out.data(), draws_.data() + first, out.size_bytes());
  return {};
}

}  // namespace mezzotint
