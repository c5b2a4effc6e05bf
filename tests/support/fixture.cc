#include "support/fixture.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace mezzotint::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> roots() {
  std::vector<fs::path> found;
  if (auto folder = fixture_folder()) {
    found.push_back(*std::move(folder));
  }
  found.push_back(golden_folder());
  return found;
}

FixtureTensor parse_tensor(const json& entry) {
  FixtureTensor tensor;
  tensor.name = entry.at("name").get<std::string>();
  tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
  tensor.dtype = dtype_from_name(entry.at("dtype").get<std::string>()).value_or(DType::kF32);
  tensor.what = entry.value("what", "");
  tensor.reference_error = entry.value("max_abs_f32_minus_f64", 0.0);
  tensor.max_abs = entry.value("max_abs_f64", 0.0);
  return tensor;
}

}  // namespace

std::optional<fs::path> fixture_folder() {
  const char* named = std::getenv("MEZZOTINT_FIXTURES");
  fs::path folder =
      named != nullptr ? fs::path(named) : fs::path(MEZZOTINT_SOURCE_DIR) / "../shared/fixtures";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return std::nullopt;
  }
  return folder;
}

fs::path golden_folder() {
  return fs::path(MEZZOTINT_SOURCE_DIR) / "tests/goldens";
}

std::optional<fs::path> find_fixture(const std::string& relative) {
  std::error_code ignored;
  for (const fs::path& root : roots()) {
    if (fs::path path = root / relative; fs::exists(path, ignored)) {
      return path;
    }
  }
  return std::nullopt;
}

std::vector<fs::path> fixture_manifests(const std::string& folder) {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& root : roots()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root / folder, error)) {
      if (entry.path().extension() == ".json") {
        by_name.emplace(entry.path().filename().string(), entry.path());
      }
    }
  }
  std::vector<fs::path> manifests;
  for (auto& [name, path] : by_name) {
    manifests.push_back(std::move(path));
  }
  return manifests;
}

Result<FixtureCase> FixtureCase::load(const fs::path& manifest) {
  FixtureCase result;
  std::ifstream stream(manifest);
  try {
    const json content = json::parse(stream);
    result.name_ = content.at("case").get<std::string>();
    result.what_ = content.value("what", "");
    result.facts_ = std::make_shared<const json>(content.value("facts", json::object()));
    for (const json& entry : content.at("tensors")) {
      result.tensors_.push_back(parse_tensor(entry));
    }
  } catch (const json::exception& problem) {
    return invalid_input("{}: not a fixture's manifest: {}", manifest.string(), problem.what());
  }
  auto file = open_tensor_file(fs::path(manifest).replace_extension(".safetensors"));
  if (!file) {
    return file.error();
  }
  result.file_ = *std::move(file);
  return result;
}

const FixtureTensor* FixtureCase::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const FixtureTensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

Result<std::size_t> FixtureCase::locate(std::string_view name) const {
  const FixtureTensor* tensor = find(name);
  const auto index = file_->find("", name);
  if (tensor == nullptr || !index || file_->tensors()[*index].shape != tensor->shape) {
    return invalid_input("{}: no tensor {} with the manifest's shape", file_->path().string(),
                         name);
  }
  return *index;
}

Result<std::vector<float>> FixtureCase::read(std::string_view name) const {
  const Result<std::size_t> index = locate(name);
  if (!index) {
    return index.error();
  }
  std::vector<float> values(static_cast<std::size_t>(file_->tensors()[*index].elements));
  if (Status status = file_->read_float(*index, values); !status) {
    return status.error();
  }
  return values;
}

Result<std::vector<double>> FixtureCase::read_double(std::string_view name) const {
  const Result<std::size_t> index = locate(name);
  if (!index) {
    return index.error();
  }
  if (file_->tensors()[*index].dtype != DType::kF64) {
    const Result<std::vector<float>> narrow = read(name);
    if (!narrow) {
      return narrow.error();
    }
    return std::vector<double>(narrow->begin(), narrow->end());
  }
  std::vector<double> values(static_cast<std::size_t>(file_->tensors()[*index].elements));
  if (Status status = file_->read_bytes(*index, std::as_writable_bytes(std::span(values)));
      !status) {
    return status.error();
  }
  return values;
}

}  // namespace mezzotint::testing
