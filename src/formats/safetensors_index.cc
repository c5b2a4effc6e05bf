#include "formats/safetensors_index.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "formats/safetensors.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kLargestIndex = std::uint64_t{32} << 20;
constexpr int kDeepestNesting = 16;
constexpr std::size_t kLongestFileName = 255;
// All stay open while the model is read; systems allow 1024 open files.
constexpr std::size_t kMostShards = 512;
constexpr std::string_view kMapKey = "weight_map";

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestFileName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// Receives the index's JSON piece by piece and keeps the map alone.
class IndexHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool has_map() const { return has_map_; }
  [[nodiscard]] std::map<std::string, std::string>& shard_of() { return shard_of_; }

  bool start_object(std::size_t /*elements*/) override {
    if (is_map_value()) {
      has_map_ = true;
      in_map_ = true;
    }
    return open();
  }
  bool end_object() override {
    if (depth_ == 2) {
      in_map_ = false;
    }
    return close();
  }
  bool start_array(std::size_t /*elements*/) override { return other() && open(); }
  bool end_array() override { return close(); }

  bool key(std::string& text) override {
    if (in_map_) {
      return start_entry(text);
    }
    if (depth_ == 1) {
      is_map_key_ = text == kMapKey;
      return !(is_map_key_ && has_map_) || fail("`weight_map` is there twice");
    }
    return true;
  }

  bool string(std::string& text) override {
    if (!in_map_) {
      return other();
    }
    if (!is_plain_file_name(text)) {
      return fail(fmt::format("{} is in {}, expected the name of a file in the same folder",
                              in_quotes(name_), in_quotes(text)));
    }
    if (shards_.insert(text).second && shards_.size() > kMostShards) {
      return fail(fmt::format("it names more than {} shards", kMostShards));
    }
    shard_of_[name_] = std::move(text);
    return true;
  }

  bool null() override { return other(); }
  bool boolean(bool /*value*/) override { return other(); }
  bool number_integer(std::int64_t /*value*/) override { return other(); }
  bool number_unsigned(std::uint64_t /*value*/) override { return other(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return other(); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return other(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return fail(fmt::format("it is not JSON at byte {}", position));
  }

 private:
  // Whether the value that begins now is the map.
  [[nodiscard]] bool is_map_value() const { return depth_ == 1 && is_map_key_; }

  bool open() {
    if (in_map_ && depth_ == 2) {
      return fail(fmt::format("{} is in an object, expected a file name", in_quotes(name_)));
    }
    return ++depth_ <= kDeepestNesting ||
           fail(fmt::format("it is nested deeper than {}", kDeepestNesting));
  }
  bool close() {
    --depth_;
    return true;
  }
  // A value that is neither the map nor a shard's name.
  bool other() {
    if (in_map_) {
      return fail(fmt::format("{} is in no file, expected a file name", in_quotes(name_)));
    }
    return !is_map_value() || fail("`weight_map` is no object");
  }

  bool start_entry(std::string& name) {
    if (name.size() > kLongestTensorName) {
      return fail(fmt::format("the name {} has {} bytes, more than {}", in_quotes(name),
                              name.size(), kLongestTensorName));
    }
    if (shard_of_.size() == kMostTensors) {
      return fail(fmt::format("it has more than {} tensors", kMostTensors));
    }
    name_ = std::move(name);
    return shard_of_.emplace(name_, "").second || fail(in_quotes(name_) + " is there twice");
  }

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  int depth_ = 0;
  bool is_map_key_ = false;
  bool has_map_ = false;
  bool in_map_ = false;
  std::string name_;
  std::set<std::string> shards_;
  std::map<std::string, std::string> shard_of_;
  std::string problem_;
};

class ShardReader {
 public:
  ShardReader(const InputFile& index, std::map<std::string, std::string> shard_of)
      : index_(index), shard_of_(std::move(shard_of)) {}

  Result<ShardedSafetensors> read() {
    std::map<std::string, std::size_t> shards;  // to the number of tensors that they should hold
    for (const auto& [tensor, shard] : shard_of_) {
      ++shards[shard];
    }
    for (const auto& [name, tensors] : shards) {
      if (Status status = add(name, tensors); !status) {
        return status.error();
      }
    }
    return std::move(sharded_);
  }

 private:
  Status add(const std::string& name, std::size_t expected_tensors) {
    auto file = InputFile::open(index_.path().parent_path() / name);
    if (!file && file.error().code == ErrorCode::kNotFound) {
      return invalid_input("{}: its shard {} is missing; copy or download all of them",
                           index_.path().string(), in_quotes(name));
    }
    if (!file) {
      return file.error();
    }
    const auto start = file->start(kProbeBytes);
    if (start && tensor_format(*start) == kTorch) {
      return unsupported(
          "{}: its shard {} is a torch checkpoint, expected safetensors; save the model as "
          "safetensors or in one file",
          index_.path().string(), in_quotes(name));
    }
    auto shard = read_safetensors_directory(*file);
    if (!shard) {
      return shard.error();
    }
    if (Status status = check_tensors(name, *shard, expected_tensors); !status) {
      return status;
    }
    sharded_.shards.push_back(std::move(*file));
    append(*shard);
    return {};
  }

  Status check_tensors(const std::string& name, const TensorDirectory& shard,
                       std::size_t expected) const {
    for (const TensorInfo& tensor : shard.tensors) {
      const auto found = shard_of_.find(tensor.name);
      if (found == shard_of_.end()) {
        return invalid_input("{}: its shard {} also holds {}, which the index does not list",
                             index_.path().string(), in_quotes(name), in_quotes(tensor.name));
      }
      if (found->second != name) {
        return invalid_input("{}: {} is in its shard {}, but listed in {}", index_.path().string(),
                             in_quotes(tensor.name), in_quotes(name), in_quotes(found->second));
      }
    }
    if (shard.tensors.size() == expected) {
      return {};
    }
    std::set<std::string_view> held;
    for (const TensorInfo& tensor : shard.tensors) {
      held.insert(tensor.name);
    }
    for (const auto& [tensor, listed_in] : shard_of_) {
      if (listed_in == name && !held.contains(tensor)) {
        return invalid_input("{}: {} is listed in its shard {}, which does not hold it",
                             index_.path().string(), in_quotes(tensor), in_quotes(name));
      }
    }
    return {};
  }

  void append(TensorDirectory& shard) {
    TensorDirectory& whole = sharded_.directory;
    for (TensorView& view : shard.views) {
      view.storage += whole.storages.size();
    }
    for (TensorStorage& storage : shard.storages) {
      storage.file = sharded_.shards.size();
    }
    std::move(shard.tensors.begin(), shard.tensors.end(), std::back_inserter(whole.tensors));
    std::move(shard.views.begin(), shard.views.end(), std::back_inserter(whole.views));
    std::move(shard.storages.begin(), shard.storages.end(), std::back_inserter(whole.storages));
    whole.metadata.merge(shard.metadata);
  }

  const InputFile& index_;
  std::map<std::string, std::string> shard_of_;
  ShardedSafetensors sharded_;
};

}  // namespace

Result<std::map<std::string, std::string>> read_weight_map(const InputFile& index) {
  const auto refused = [&](std::string_view what) {
    return invalid_input("{}: no index of safetensors shards: {}; expected JSON with `weight_map`",
                         index.path().string(), what);
  };
  if (index.size() > kLargestIndex) {
    return refused(fmt::format("{} bytes, more than {}", index.size(), kLargestIndex));
  }
  std::vector<char> text(index.size());
  if (Status status = index.read_at(0, std::as_writable_bytes(std::span(text))); !status) {
    return status.error();
  }
  IndexHandler handler;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) {
    return refused(handler.problem());
  }
  if (!handler.has_map() || handler.shard_of().empty()) {
    return refused("its `weight_map` is missing or empty");
  }
  return std::move(handler.shard_of());
}

Result<ShardedSafetensors> read_sharded_safetensors(const InputFile& index) {
  auto shard_of = read_weight_map(index);
  if (!shard_of) {
    return shard_of.error();
  }
  return ShardReader(index, std::move(*shard_of)).read();
}

}  // namespace mezzotint
