#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "formats/tensor_file.h"
#include "graph/types.h"
#include "pipeline/dump.h"
#include "pipeline/relative_l2.h"

namespace mezzotint {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) {
      words.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return words;
}

// Names of `file`: those that a metadata "order" lists first, in its order, the rest as stored.
std::vector<std::string> names_in_order(const TensorFile& file, const std::string& order) {
  std::vector<std::string> names;
  std::set<std::string, std::less<>> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) {
      names.push_back(name);
    }
  };
  // What went in comes before what came out of it.
  for (const char* input : {"x", "condition", "t"}) {
    if (file.find("", input)) {
      add(input);
    }
  }
  for (const std::string& name : words_of(order)) {
    if (file.find("", name)) {
      add(name);
    }
  }
  for (const TensorInfo& info : file.tensors()) {
    add(info.name);
  }
  return names;
}

std::string order_of(const TensorFile& a, const TensorFile& b) {
  for (const TensorFile* file : {&a, &b}) {
    const auto found = file->metadata().find("order");
    if (found != file->metadata().end()) {
      return found->second;
    }
  }
  return "";
}

Result<TensorDifference> compare(const std::string& name, TensorFile& a, TensorFile& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TensorDifference difference{name, 0, 0, ""};
  const std::size_t in_a = *a.find("", name);
  const std::size_t in_b = *b.find("", name);
  const Shape shape_a(a.tensors()[in_a].shape);
  const Shape shape_b(b.tensors()[in_b].shape);
  if (shape_a != shape_b) {
    difference.note = fmt::format("shapes {} and {}", shape_a.to_string(), shape_b.to_string());
  }
  // Programs that fold a volume's axes into one have the same elements in the same order.
  if (a.tensors()[in_a].elements != b.tensors()[in_b].elements) {
    difference.relative_l2 = kInfinity;
    difference.max_error = kInfinity;
    return difference;
  }
  std::vector<float> values(static_cast<std::size_t>(a.tensors()[in_a].elements));
  std::vector<float> truth(values.size());
  if (Status status = a.read_float(in_a, values); !status) {
    return status.error();
  }
  if (Status status = b.read_float(in_b, truth); !status) {
    return status.error();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(static_cast<double>(values[i]) - truth[i]);
    difference.max_error = std::max(difference.max_error, std::isfinite(error) ? error : kInfinity);
  }
  difference.relative_l2 = relative_l2(values, truth);
  if (!std::isfinite(difference.max_error)) {
    difference.note = "not finite";
  }
  return difference;
}

}  // namespace

const TensorDifference* DumpDifference::first() const {
  const auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const TensorDifference& difference) { return difference.relative_l2 > tolerance; });
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<const TensorDifference*> DumpDifference::worst(std::size_t count) const {
  std::vector<const TensorDifference*> sorted;
  for (const TensorDifference& difference : tensors) {
    sorted.push_back(&difference);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TensorDifference* a, const TensorDifference* b) {
                     return a->relative_l2 > b->relative_l2;
                   });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

Result<DumpDifference> diff_dumps(const std::filesystem::path& a, const std::filesystem::path& b,
                                  double tolerance) {
  if (!(tolerance >= 0)) {
    return invalid_input("tolerance: {} is not zero or more", tolerance);
  }
  auto file_a = open_tensor_file(a);
  if (!file_a) {
    return file_a.error();
  }
  auto file_b = open_tensor_file(b);
  if (!file_b) {
    return file_b.error();
  }
  const std::string order = order_of(**file_a, **file_b);
  DumpDifference result;
  result.tolerance = tolerance;
  for (const std::string& name : names_in_order(**file_a, order)) {
    if (!(*file_b)->find("", name)) {
      result.only_in_a.push_back(name);
      continue;
    }
    auto difference = compare(name, **file_a, **file_b);
    if (!difference) {
      return difference.error();
    }
    result.tensors.push_back(std::move(*difference));
  }
  for (const TensorInfo& info : (*file_b)->tensors()) {
    if (!(*file_a)->find("", info.name)) {
      result.only_in_b.push_back(info.name);
    }
  }
  if (result.tensors.empty()) {
    return invalid_input("{} and {}: no tensor is in both, so there is nothing to compare",
                         a.string(), b.string());
  }
  return result;
}

}  // namespace mezzotint
