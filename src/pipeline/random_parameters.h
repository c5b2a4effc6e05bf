// Weights for graphs that have no checkpoint: what is measured does not depend on them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "models/med_ddpm.h"

namespace mezzotint {

// Normal noise, the same for the same keys and seed. Tensors of rank 2 and more have variance
// 1 / (values one output reads), so that activations keep their size from layer to layer (He et
// al., "Delving deep into rectifiers", ICCV 2015). Vectors, biases and those of norms, have
// deviation 0.1; around 1 when their name ends in ".weight".
class RandomParameters final : public ParameterSource {
 public:
  RandomParameters(std::span<const NamedShape> keys, std::uint64_t seed);
  Status read(std::string_view name, std::span<float> out) override;

 private:
  struct Entry {
    std::uint32_t stream = 0;
    std::int64_t elements = 0;
    float scale = 1;
    float mean = 0;
  };
  std::map<std::string, Entry, std::less<>> entries_;
  std::uint64_t seed_;
};

}  // namespace mezzotint
