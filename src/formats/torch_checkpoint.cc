#include "formats/torch_checkpoint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"
#include "formats/pickle.h"
#include "formats/zip_reader.h"

namespace mezzotint {
namespace {

// A pickle takes about 250 bytes per tensor.
constexpr std::uint64_t kLargestPickle = std::uint64_t{32} << 20;
constexpr std::size_t kMostScalars = 1'000;
// Longer texts at the top level are no names or numbers: skipped, as lists are. One text may be
// given a thousand times.
constexpr std::size_t kLongestScalar = 1'000;
constexpr int kDeepestNesting = 16;
// Shared dictionaries may be met more than once; this ends a walk through ones that contain
// themselves or multiply.
constexpr std::size_t kMostVisits = 1'000'000;

class Archive {
 public:
  Archive(const InputFile& file, std::vector<ZipEntry> entries)
      : file_(file), entries_(std::move(entries)) {
    for (const ZipEntry& entry : entries_) {
      by_name_.emplace(entry.name, &entry);
    }
  }

  // The folder that holds data.pkl, with its slash; torch names it after the file.
  Result<std::string> root() const {
    constexpr std::string_view kPickle = "data.pkl";
    std::vector<std::string> roots;
    for (const ZipEntry& entry : entries_) {
      const std::string_view name = entry.name;
      const std::size_t slash = name.find('/');
      if (slash != std::string_view::npos && name.substr(slash + 1) == kPickle) {
        roots.emplace_back(name.substr(0, slash + 1));
      }
    }
    if (roots.size() == 1) {
      return roots.front();
    }
    const auto is_numpy = [](const ZipEntry& entry) { return entry.name.ends_with(".npy"); };
    if (std::any_of(entries_.begin(), entries_.end(), is_numpy)) {
      return invalid_input(
          "{}: a NumPy archive (.npz), expected a torch checkpoint or safetensors; save the arrays "
          "as safetensors",
          file_.path().string());
    }
    return invalid_input(
        "{}: a zip archive with {} entries `<folder>/data.pkl`, expected one, as torch.save writes",
        file_.path().string(), roots.size());
  }

  [[nodiscard]] const ZipEntry* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  const InputFile& file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string_view, const ZipEntry*> by_name_;
};

class DirectoryBuilder {
 public:
  DirectoryBuilder(const InputFile& file, const Archive& archive, std::string_view root,
                   const Pickle& pickle)
      : where_(file.path().string()), archive_(archive), root_(root), pickle_(pickle) {}

  Result<TensorDirectory> build() {
    const auto* top = as<PickleDict>(pickle_.root);
    if (top == nullptr) {
      return invalid_input(
          "{}: holds a single value, expected a dictionary of tensors (a state_dict) or of such "
          "dictionaries",
          where_);
    }
    for (const auto& [key_node, value] : top->items) {
      const std::string key = key_text(key_node);
      Status status;
      if (as<PickleDict>(value) != nullptr) {
        status = walk(key, "", value, 1);
      } else if (as<PickleTensor>(value) != nullptr) {
        status = add_tensor("", key, value);
      } else {
        status = add_scalar(key, value);
      }
      if (!status) {
        return status.error();
      }
    }
    if (directory_.tensors.empty()) {
      return invalid_input("{}: holds no tensors, expected a checkpoint's weights", where_);
    }
    return std::move(directory_);
  }

 private:
  template <typename T>
  [[nodiscard]] const T* as(PickleNode node) const {
    return std::get_if<T>(&pickle_.nodes[node]);
  }

  [[nodiscard]] std::string key_text(PickleNode node) const {
    const auto* text = as<std::string>(node);
    return text != nullptr ? *text : fmt::format("{}", std::get<std::int64_t>(pickle_.nodes[node]));
  }

  Status walk(const std::string& group, const std::string& prefix, PickleNode dict, int depth) {
    if (depth > kDeepestNesting) {
      return invalid_input("{}: dictionaries nested deeper than {} in {}", where_, kDeepestNesting,
                           in_quotes(group));
    }
    for (const auto& [key_node, value] : as<PickleDict>(dict)->items) {
      if (++visits_ > kMostVisits) {
        return invalid_input("{}: more than {} values in its dictionaries", where_, kMostVisits);
      }
      const bool is_dict = as<PickleDict>(value) != nullptr;
      if (!is_dict && as<PickleTensor>(value) == nullptr) {
        continue;
      }
      const std::string name = prefix + key_text(key_node);
      Status status = name.size() > kLongestTensorName ? too_long(name)
                      : is_dict                        ? walk(group, name + ".", value, depth + 1)
                                                       : add_tensor(group, name, value);
      if (!status) {
        return status;
      }
    }
    return {};
  }

  [[nodiscard]] Error too_long(const std::string& name) const {
    return invalid_input("{}: the name {} has {} bytes, expected at most {}", where_,
                         in_quotes(name), name.size(), kLongestTensorName);
  }

  Status add_scalar(const std::string& key, PickleNode node) {
    std::string text;
    if (const auto* integer = as<std::int64_t>(node)) {
      text = fmt::format("{}", *integer);
    } else if (const auto* real = as<double>(node)) {
      text = fmt::format("{}", *real);
    } else if (const auto* flag = as<bool>(node)) {
      text = *flag ? "true" : "false";
    } else if (const auto* string = as<std::string>(node);
               string != nullptr && string->size() <= kLongestScalar) {
      text = *string;
    } else {
      return {};
    }
    if (directory_.metadata.size() == kMostScalars) {
      return invalid_input("{}: more than {} scalars beside the tensors", where_, kMostScalars);
    }
    if (!directory_.metadata.emplace(key, std::move(text)).second) {
      return invalid_input("{}: {} is there twice", where_, in_quotes(key));
    }
    return {};
  }

  Status add_tensor(const std::string& group, const std::string& name, PickleNode node) {
    const auto& tensor = *as<PickleTensor>(node);
    const auto& storage = *as<PickleStorage>(tensor.storage);
    if (name.size() > kLongestTensorName || group.size() > kLongestTensorName) {
      return too_long(name.size() > kLongestTensorName ? name : group);
    }
    if (directory_.tensors.size() == kMostTensors) {
      return invalid_input("{}: more than {} tensors", where_, kMostTensors);
    }
    if (!names_.emplace(group, name).second) {
      return invalid_input("{}: tensor {} is there twice", where_, full_name(group, name));
    }
    const auto elements = checked_elements(tensor.shape);
    if (!elements || !lies_within(tensor, *elements, storage.elements)) {
      return invalid_input(
          "{}: tensor {} of shape [{}], strides [{}], offset {} leaves its storage of {} elements; "
          "copy or download the file again",
          where_, full_name(group, name), fmt::join(tensor.shape, ", "),
          fmt::join(tensor.strides, ", "), tensor.offset, storage.elements);
    }
    if (*elements > storage.elements) {
      return unsupported(
          "{}: tensor {} repeats its storage's {} elements to {}; save a contiguous copy", where_,
          full_name(group, name), storage.elements, *elements);
    }
    auto index = storage_index(storage);
    if (!index) {
      return index.error();
    }
    directory_.tensors.push_back({group, name, storage.dtype, tensor.shape, *elements});
    directory_.views.push_back({*index, tensor.offset, used_strides(tensor)});
    return {};
  }

  [[nodiscard]] static std::string full_name(const std::string& group, const std::string& name) {
    return group.empty() ? in_quotes(name)
                         : fmt::format("{} in {}", in_quotes(name), in_quotes(group));
  }

  // Whether offset + sum of (shape - 1) * stride is an element of the storage.
  static bool lies_within(const PickleTensor& tensor, std::int64_t elements,
                          std::int64_t storage_elements) {
    if (elements == 0) {
      return true;
    }
    std::optional<std::uint64_t> last = static_cast<std::uint64_t>(tensor.offset);
    for (std::size_t i = 0; i < tensor.shape.size() && last; ++i) {
      const auto step = checked_multiply(static_cast<std::uint64_t>(tensor.shape[i] - 1),
                                         static_cast<std::uint64_t>(tensor.strides[i]));
      last = step ? checked_add(*last, *step) : std::nullopt;
    }
    return last && *last < static_cast<std::uint64_t>(storage_elements);
  }

  // Torch leaves any number as the stride of a dimension of 1.
  static std::vector<std::int64_t> used_strides(const PickleTensor& tensor) {
    std::vector<std::int64_t> strides = tensor.strides;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (tensor.shape[i] == 1) {
        strides[i] = 0;
      }
    }
    return strides;
  }

  Result<std::size_t> storage_index(const PickleStorage& storage) {
    const std::string name = root_ + "data/" + storage.key;
    const ZipEntry* entry = archive_.find(name);
    if (entry == nullptr) {
      return invalid_input("{}: its pickle names the zip entry {}, which is missing", where_,
                           in_quotes(name));
    }
    const auto bytes =
        checked_multiply(static_cast<std::uint64_t>(storage.elements), size_of(storage.dtype));
    if (bytes != entry->size) {
      return invalid_input("{}: zip entry {} has {} bytes, expected {} {} elements", where_,
                           in_quotes(name), entry->size, storage.elements, name_of(storage.dtype));
    }
    const auto [known, is_new] = storages_.emplace(storage.key, directory_.storages.size());
    if (is_new) {
      directory_.storages.push_back({0, entry->offset, entry->size, entry->crc32});
    }
    return known->second;
  }

  std::string where_;
  const Archive& archive_;
  std::string root_;
  const Pickle& pickle_;
  TensorDirectory directory_;
  std::map<std::string, std::size_t> storages_;          // by key
  std::set<std::pair<std::string, std::string>> names_;  // group, name
  std::size_t visits_ = 0;
};

Status check_byte_order(const InputFile& file, const Archive& archive, const std::string& root) {
  const ZipEntry* entry = archive.find(root + "byteorder");
  if (entry == nullptr) {
    return {};  // written before torch 2.1
  }
  auto bytes = read_zip_entry(file, *entry, 16);
  if (!bytes) {
    return bytes.error();
  }
  const std::string_view order(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (order != "little") {
    return unsupported("{}: byte order {}, expected `little`; save it again on such a machine",
                       file.path().string(), in_quotes(order));
  }
  return {};
}

}  // namespace

Result<TensorDirectory> read_torch_directory(const InputFile& file) {
  auto entries = read_zip_directory(file);
  if (!entries) {
    return entries.error();
  }
  const Archive archive(file, std::move(*entries));
  auto root = archive.root();
  if (!root) {
    return root.error();
  }
  if (Status status = check_byte_order(file, archive, *root); !status) {
    return status.error();
  }
  auto bytes = read_zip_entry(file, *archive.find(*root + "data.pkl"), kLargestPickle);
  if (!bytes) {
    return bytes.error();
  }
  auto pickle = read_pickle(*bytes, file.path().string());
  if (!pickle) {
    return pickle.error();
  }
  return DirectoryBuilder(file, archive, *root, *pickle).build();
}

}  // namespace mezzotint
