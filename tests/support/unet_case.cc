#include "support/unet_case.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace mezzotint::testing {

namespace fs = std::filesystem;

void PrintTo(const UnetCase& unet_case, std::ostream* out) {
  *out << unet_case.manifest << " " << unet_case.input << " " << unet_case.timesteps;
}

std::vector<UnetCase> unet_cases() {
  std::vector<UnetCase> found;
  for (const fs::path& manifest : fixture_manifests("unet")) {
    const auto fixture = FixtureCase::load(manifest);
    std::set<std::pair<std::string, std::string>> seen;
    for (const FixtureTensor& tensor :
         fixture ? fixture->tensors() : std::vector<FixtureTensor>()) {
      const std::size_t first = tensor.name.find('.');
      const std::size_t second = tensor.name.find('.', first + 1);
      if (second != std::string::npos && tensor.name.ends_with(".truth")) {
        seen.emplace(tensor.name.substr(0, first),
                     tensor.name.substr(first + 1, second - first - 1));
      }
    }
    for (const auto& [input, timesteps] : seen) {
      found.push_back({manifest.string(), input, timesteps});
    }
    if (seen.empty()) {
      found.push_back({manifest.string(), "none", "none"});
    }
  }
  return found.empty() ? std::vector{UnetCase{}} : found;
}

std::string name_of(const UnetCase& unet_case) {
  return unet_case.manifest.empty() ? std::string("absent")
                                    : fs::path(unet_case.manifest).stem().string() + "_" +
                                          unet_case.input + "_" + unet_case.timesteps;
}

std::vector<double> parse_timesteps(std::string_view text) {
  std::vector<double> timesteps;
  while (!text.empty()) {
    int timestep = 0;
    const auto [stop, code] = std::from_chars(text.data() + 1, text.data() + text.size(), timestep);
    if (code != std::errc()) {
      return {};
    }
    timesteps.push_back(timestep);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return timesteps;
}

bool is_result(const UnetCase& unet_case, std::string_view tensor) {
  return tensor.starts_with(unet_case.input + "." + unet_case.timesteps + ".") &&
         tensor.ends_with(".truth");
}

std::string value_name(const UnetCase& unet_case, std::string_view tensor) {
  constexpr std::string_view kSuffix = ".truth";
  constexpr std::string_view kActivation = "act.";
  tensor.remove_prefix(unet_case.input.size() + unet_case.timesteps.size() + 2);
  tensor.remove_suffix(kSuffix.size());
  if (tensor.starts_with(kActivation)) {
    tensor.remove_prefix(kActivation.size());
  }
  return std::string(tensor);
}

std::vector<double> take_channels(std::span<const double> x, const std::vector<std::int64_t>& shape,
                                  std::int64_t begin, std::int64_t end) {
  std::int64_t positions = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) {
    positions *= shape[axis];
  }
  std::vector<double> part;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const auto from = x.begin() + (n * shape[1] + begin) * positions;
    part.insert(part.end(), from, from + (end - begin) * positions);
  }
  return part;
}

Result<fs::path> checkpoint_file(const std::string& relative) {
  const auto folder = find_fixture(relative);
  if (!folder) {
    return Error{ErrorCode::kNotFound, relative + " is not among the fixtures"};
  }
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (entry.path().extension() != ".json") {
      return entry.path();
    }
  }
  return Error{ErrorCode::kNotFound, relative + " holds no checkpoint"};
}

Result<StoredWeights> stored_weights(const nlohmann::json& facts) {
  const std::string weights = facts.at("weights");
  const std::size_t comma = weights.find(", ");
  auto file = checkpoint_file(weights.substr(0, comma));
  if (!file) {
    return file.error();
  }
  return StoredWeights{*file, weights.substr(comma + 2)};
}

}  // namespace mezzotint::testing
