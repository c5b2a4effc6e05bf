#include "formats/pickle.h"

#include <bit>
#include <optional>

#include "base/error.h"
#include "base/quote.h"
#include "formats/byte_reader.h"
#include "formats/pickle_vocabulary.h"
#include "formats/tensor_file.h"

namespace mezzotint {
namespace {

constexpr std::size_t kMostOpcodes = std::size_t{1} << 20;  // about 20,000 tensors
constexpr std::size_t kLongestString = std::size_t{64} << 10;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestKey = 64;  // of a storage; torch counts them in decimal

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::string_view where)
      : reader_(bytes), where_(where) {}

  Result<Pickle> run() {
    const auto proto = reader_.read<std::uint8_t>();
    const auto version = reader_.read<std::uint8_t>();
    if (proto != kProto || !version) {
      return damaged("it does not begin as a pickle does");
    }
    if (*version != 2) {
      return invalid_input(
          "{}: uses pickle protocol {}, expected 2; save it again with torch.save's default "
          "pickle_protocol",
          where_, *version);
    }
    for (std::size_t count = 0; count < kMostOpcodes; ++count) {
      const auto opcode = reader_.read<std::uint8_t>();
      if (!opcode) {
        return damaged("it ends without a stop");
      }
      if (*opcode == kStop) {
        if (stack_.size() != 1 || !marks_.empty() || reader_.remaining() != 0) {
          return damaged("it does not stop with exactly one value");
        }
        pickle_.root = stack_.back();
        return std::move(pickle_);
      }
      if (Status status = step(*opcode); !status) {
        return status.error();
      }
    }
    return invalid_input("{}: more than {} pickle opcodes, far beyond any checkpoint", where_,
                         kMostOpcodes);
  }

 private:
  [[nodiscard]] Error damaged(std::string_view what) const {
    return invalid_input("{}: damaged pickle at byte {}: {}; copy or download the file again",
                         where_, reader_.position(), what);
  }

  Status step(std::uint8_t opcode) {
    switch (opcode) {
      case kNone: return push(PickleNone{});
      case kNewTrue: return push(true);
      case kNewFalse: return push(false);
      case kBinInt: return push_integer<std::int32_t>();
      case kBinInt1: return push_integer<std::uint8_t>();
      case kBinInt2: return push_integer<std::uint16_t>();
      case kLong1: return push_long();
      case kBinFloat: return push_float();
      case kBinUnicode: return push_string();
      case kGlobal: return push_global();
      case kMark: marks_.push_back(stack_.size()); return {};
      case kEmptyTuple: return push(PickleSequence{{}, true});
      case kEmptyList: return push(PickleSequence{});
      case kEmptyDict: return push(PickleDict{});
      case kTuple: return close_tuple();
      case kTuple1: return make_tuple(1);
      case kTuple2: return make_tuple(2);
      case kTuple3: return make_tuple(3);
      case kAppend: return append(1);
      case kAppends: return append_marked();
      case kSetItem: return set_items(2);
      case kSetItems: return set_marked_items();
      case kBinPut: return put(reader_.read<std::uint8_t>());
      case kLongBinPut: return put(reader_.read<std::uint32_t>());
      case kBinGet: return get(reader_.read<std::uint8_t>());
      case kLongBinGet: return get(reader_.read<std::uint32_t>());
      case kReduce: return reduce();
      case kBuild: return build();
      case kBinPersId: return load_storage();
      default:
        return invalid_input(
            "{}: pickle opcode 0x{:02x} at byte {} is none that torch.save writes for tensors and "
            "plain containers; nothing in the file was executed",
            where_, opcode, reader_.position() - 1);
    }
  }

  // ---- The stack: what lies below the last mark is out of reach. ----

  [[nodiscard]] std::size_t reachable() const {
    return stack_.size() - (marks_.empty() ? 0 : marks_.back());
  }

  [[nodiscard]] Error underflow() const { return damaged("an opcode finds too few values"); }

  Status push(PickleValue value) {
    stack_.push_back(static_cast<PickleNode>(pickle_.nodes.size()));
    pickle_.nodes.push_back(std::move(value));
    return {};
  }

  // Takes the upper `count` values off the stack, in order. The caller has checked reachable().
  std::vector<PickleNode> pop(std::size_t count) {
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleNode> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    return values;
  }

  // The number of values above the last mark, which is removed.
  std::optional<std::size_t> pop_mark() {
    if (marks_.empty()) {
      return std::nullopt;
    }
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  template <typename T>
  [[nodiscard]] T* as(PickleNode node) {
    return std::get_if<T>(&pickle_.nodes[node]);
  }

  [[nodiscard]] const PickleSequence* tuple(PickleNode node) {
    const auto* sequence = as<PickleSequence>(node);
    return sequence != nullptr && sequence->is_tuple ? sequence : nullptr;
  }

  // ---- Scalars ----

  template <typename T>
  Status push_integer() {
    const auto value = reader_.read<T>();
    return value ? push(static_cast<std::int64_t>(*value)) : Status(damaged("an integer is cut"));
  }

  Status push_long() {
    const auto size = reader_.read<std::uint8_t>();
    const auto bytes = size ? reader_.take(*size) : std::nullopt;
    if (!bytes) {
      return damaged("an integer is cut");
    }
    if (bytes->size() > sizeof(std::int64_t)) {
      return invalid_input("{}: an integer of {} bytes, expected at most 8", where_, bytes->size());
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes->size(); ++i) {
      value |= std::to_integer<std::uint64_t>((*bytes)[i]) << (8 * i);
    }
    const std::size_t unused = 64 - 8 * bytes->size();
    if (unused == 64) {
      return push(std::int64_t{0});
    }
    // The top byte carries the sign.
    return push(static_cast<std::int64_t>(value << unused) >> unused);
  }

  Status push_float() {
    const auto bytes = reader_.take(sizeof(double));
    if (!bytes) {
      return damaged("a float is cut");
    }
    std::uint64_t bits = 0;
    for (const std::byte byte : *bytes) {  // big-endian, alone among the opcodes
      bits = (bits << 8) | std::to_integer<std::uint64_t>(byte);
    }
    return push(std::bit_cast<double>(bits));
  }

  Status push_string() {
    const auto size = reader_.read<std::uint32_t>();
    if (!size) {
      return damaged("a string is cut");
    }
    if (*size > kLongestString) {
      return invalid_input("{}: a string of {} bytes, expected at most {}", where_, *size,
                           kLongestString);
    }
    const auto text = reader_.text(*size);
    return text ? push(std::string(*text)) : Status(damaged("a string is cut"));
  }

  std::optional<std::string> line() {
    std::string text;
    while (text.size() <= kLongestName) {
      const auto byte = reader_.read<char>();
      if (!byte) {
        return std::nullopt;
      }
      if (*byte == '\n') {
        return text;
      }
      text += *byte;
    }
    return std::nullopt;
  }

  Status push_global() {
    const auto module = line();
    const auto name = module ? line() : std::nullopt;
    if (!name) {
      return damaged("a name is cut or too long");
    }
    const auto known = find_pickle_name(*module, *name);
    if (!known && names_other_tensor(*module, *name)) {
      return unsupported(
          "{}: names {}, a kind of tensor that is not read (complex, float8, unsigned, sparse and "
          "quantized ones are such); nothing in the file was executed. Save dense tensors of "
          "float64, float32, float16 or bfloat16",
          where_, in_quotes(*module + "." + *name));
    }
    if (!known) {
      return invalid_input(
          "{}: names {}, which is not a tensor or a plain container; nothing in the file was "
          "executed. Save a dictionary of tensors only (a state_dict)",
          where_, in_quotes(*module + "." + *name));
    }
    return push(*known);
  }

  // ---- Containers ----

  Status make_tuple(std::size_t count) {
    if (reachable() < count) {
      return underflow();
    }
    return push(PickleSequence{pop(count), true});
  }

  Status close_tuple() {
    const auto count = pop_mark();
    return count ? make_tuple(*count) : underflow();
  }

  Status append(std::size_t count) {
    if (reachable() < count + 1) {
      return underflow();
    }
    const auto values = pop(count);
    auto* list = as<PickleSequence>(stack_.back());
    if (list == nullptr || list->is_tuple) {
      return damaged("values are appended to something else than a list");
    }
    list->items.insert(list->items.end(), values.begin(), values.end());
    return {};
  }

  Status append_marked() {
    const auto count = pop_mark();
    return count ? append(*count) : underflow();
  }

  Status set_items(std::size_t count) {
    if (reachable() < count + 1) {
      return underflow();
    }
    const auto values = pop(count);
    auto* dict = as<PickleDict>(stack_.back());
    if (dict == nullptr || count % 2 != 0) {
      return damaged("items are set in something else than a dictionary");
    }
    for (std::size_t i = 0; i < count; i += 2) {
      if (as<std::string>(values[i]) == nullptr && as<std::int64_t>(values[i]) == nullptr) {
        return invalid_input("{}: a dictionary key is neither a string nor an integer", where_);
      }
      dict->items.emplace_back(values[i], values[i + 1]);
    }
    return {};
  }

  Status set_marked_items() {
    const auto count = pop_mark();
    return count ? set_items(*count) : underflow();
  }

  // ---- Memo: Python numbers its entries in order, so an index beyond the next one is damage. ----

  template <typename T>
  Status put(std::optional<T> index) {
    if (!index || *index > memo_.size() || reachable() == 0) {
      return damaged("a value is remembered out of order");
    }
    if (*index == memo_.size()) {
      memo_.push_back(stack_.back());
    } else {
      memo_[*index] = stack_.back();
    }
    return {};
  }

  template <typename T>
  Status get(std::optional<T> index) {
    if (!index || *index >= memo_.size()) {
      return damaged("a value is recalled that was never remembered");
    }
    stack_.push_back(memo_[*index]);
    return {};
  }

  // ---- What Python would call, and this machine only recognises. ----

  Status reduce() {
    if (reachable() < 2) {
      return underflow();
    }
    const auto values = pop(2);
    const auto* name = as<PickleName>(values[0]);
    const auto* arguments = tuple(values[1]);
    if (name == nullptr || arguments == nullptr) {
      return invalid_input(
          "{}: calls something that is not a tensor or a plain container; nothing in the file was "
          "executed",
          where_);
    }
    const std::vector<PickleNode> items = arguments->items;
    switch (name->global) {
      case PickleGlobal::kOrderedDict:
        return items.empty() ? push(PickleDict{}) : Status(bad_call("an OrderedDict"));
      case PickleGlobal::kRebuildTensor: return rebuild_tensor(items);
      case PickleGlobal::kRebuildParameter:
        if (items.empty() || as<PickleTensor>(items[0]) == nullptr) {
          return bad_call("a parameter");
        }
        stack_.push_back(items[0]);
        return {};
      case PickleGlobal::kSize:
        if (items.size() != 1 || tuple(items[0]) == nullptr) {
          return bad_call("a torch.Size");
        }
        stack_.push_back(items[0]);
        return {};
      case PickleGlobal::kStorageType:
      case PickleGlobal::kDType: break;
    }
    return bad_call("a storage or a dtype");
  }

  [[nodiscard]] Error bad_call(std::string_view what) const {
    return damaged(fmt::format("{} is built from other values than torch.save writes", what));
  }

  // Arguments: storage, offset, shape, strides, requires_grad, hooks[, metadata].
  Status rebuild_tensor(const std::vector<PickleNode>& items) {
    if (items.size() != 6 && items.size() != 7) {
      return bad_call("a tensor");
    }
    const auto* offset = as<std::int64_t>(items[1]);
    auto shape = counts(items[2]);
    auto strides = counts(items[3]);
    if (as<PickleStorage>(items[0]) == nullptr || offset == nullptr || !shape || !strides ||
        shape->size() != strides->size()) {
      return bad_call("a tensor");
    }
    if (*offset < 0) {
      return damaged(fmt::format("a tensor begins at element {} of its storage", *offset));
    }
    if (items.size() == 7 && !is_empty_dict(items[6])) {
      return unsupported(
          "{}: a tensor waits for an operation (a conjugate or a negation) that its stored values "
          "lack; save its clone()",
          where_);
    }
    return push(PickleTensor{items[0], *offset, std::move(*shape), std::move(*strides)});
  }

  [[nodiscard]] bool is_empty_dict(PickleNode node) {
    const auto* dict = as<PickleDict>(node);
    return dict != nullptr && dict->items.empty();
  }

  // A tuple of non-negative integers.
  std::optional<std::vector<std::int64_t>> counts(PickleNode node) {
    const auto* sequence = tuple(node);
    if (sequence == nullptr || sequence->items.size() > kMostDimensions) {
      return std::nullopt;
    }
    std::vector<std::int64_t> values;
    for (const PickleNode item : sequence->items) {
      const auto* value = as<std::int64_t>(item);
      if (value == nullptr || *value < 0) {
        return std::nullopt;
      }
      values.push_back(*value);
    }
    return values;
  }

  // An OrderedDict's attributes (torch's `_metadata`) say nothing about its items.
  Status build() {
    if (reachable() < 2) {
      return underflow();
    }
    pop(1);
    if (as<PickleDict>(stack_.back()) == nullptr) {
      return damaged("attributes are set on something else than a dictionary");
    }
    return {};
  }

  // Persistent id: ("storage", type, key, location, elements).
  Status load_storage() {
    if (reachable() < 1) {
      return underflow();
    }
    const PickleNode id = pop(1)[0];
    const auto* fields = tuple(id);
    if (fields == nullptr || fields->items.size() != 5) {
      return bad_call("a storage");
    }
    const auto* kind = as<std::string>(fields->items[0]);
    const auto* type = as<PickleName>(fields->items[1]);
    const auto* key = as<std::string>(fields->items[2]);
    const auto* elements = as<std::int64_t>(fields->items[4]);
    if (kind == nullptr || *kind != "storage" || type == nullptr ||
        type->global != PickleGlobal::kStorageType || key == nullptr || elements == nullptr ||
        *elements < 0 || key->size() > kLongestKey) {
      return bad_call("a storage");
    }
    return push(PickleStorage{*key, type->dtype, *elements});
  }

  ByteReader reader_;
  std::string_view where_;
  Pickle pickle_;
  std::vector<PickleNode> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleNode> memo_;
};

}  // namespace

Result<Pickle> read_pickle(std::span<const std::byte> bytes, std::string_view where) {
  return Machine(bytes, where).run();
}

}  // namespace mezzotint
