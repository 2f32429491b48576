#include "io/pickle_reader.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "io/pickle_globals.h"
#include "io/pickle_opcodes.h"

namespace hearth::io {

namespace {

using namespace pickle;

constexpr uint32_t kMaxReadDepth = 256;
constexpr int kNewestProtocol = 5;
// A pickle may have kMaxValuesPerByte values for each of its bytes, and always kMinValueLimit. A
// value counts once for each path to it, which limits the time of code that visits all paths.
constexpr uint64_t kMinValueLimit = 1 << 16, kMaxValuesPerByte = 64;

/// The machine that runs a pickle. A container can change only until something else refers to it:
/// it leaves the stack, or is fetched from the memo. So no container can contain itself.
class Machine {
 public:
  Machine(std::string_view pickle, const PickleOptions& options)
      : pickle_(pickle),
        options_(options),
        fail_(options.name, position_),
        max_values_(std::max(kMinValueLimit, kMaxValuesPerByte * pickle.size())) {}

  IValue run() {
    for (;;) {
      const auto op = read_number<uint8_t>();
      if (op == kStop) return value_of(pop(), fail_);
      if (!run_number(op) && !run_string(op) && !run_memo(op) && !run_container(op) &&
          !run_call(op))
        fail(detail::str("it has the instruction ", int(op),
                         ", which files of tensors do not need"));
    }
  }

 private:
  /// The state of a list or dict.
  struct Container {
    bool is_fixed = false;  // something refers to it, so it must not change any more
    uint32_t depth = 1;     // of nested containers and tuples
    uint64_t count = 1;     // as in Item
  };

  [[noreturn]] void fail(const std::string& message) const { fail_(message); }

  std::string_view read_bytes(uint64_t bytes) {
    if (bytes > pickle_.size() - position_) fail("the pickle is truncated");
    const std::string_view taken = pickle_.substr(position_, bytes);
    position_ += bytes;
    return taken;
  }
  template <class T>
  T read_number() {
    T value;
    std::memcpy(&value, read_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string read_line() {
    const size_t end = pickle_.find('\n', position_);
    if (end == std::string_view::npos) fail("the pickle is truncated");
    const std::string text(read_bytes(end - position_));
    read_bytes(1);
    return text;
  }

  void push(Item item) { stack_.push_back(std::move(item)); }
  void push(IValue value) {
    Item item;
    item.value = std::move(value);
    push(std::move(item));
  }
  void push_container(IValue value, bool is_object = false) {
    Item item;
    item.value = std::move(value);
    item.is_new = true;
    item.is_object = is_object;
    containers_.emplace_back();
    item.container = static_cast<uint32_t>(containers_.size());
    push(std::move(item));
  }

  Item pop() {
    if (stack_.empty() || stack_.back().kind == Item::Kind::kMark) fail("the stack is empty");
    Item item = std::move(stack_.back());
    stack_.pop_back();
    close(item);
    return item;
  }
  std::vector<Item> pop_to_mark() {
    size_t begin = stack_.size();
    while (begin > 0 && stack_[begin - 1].kind != Item::Kind::kMark) --begin;
    if (begin == 0) fail("expected a mark on the stack");
    std::vector<Item> items;
    for (size_t i = begin; i < stack_.size(); ++i) items.push_back(std::move(stack_[i]));
    stack_.resize(begin - 1);
    for (Item& item : items) close(item);
    return items;
  }
  std::vector<Item> pop_some(size_t num_items) {
    std::vector<Item> items(num_items);
    for (size_t i = num_items; i-- > 0;) items[i] = pop();
    return items;
  }
  /// Ends the changes of an item that leaves the stack, if it is a container.
  static void close(Item& item) { item.is_new = false; }

  /// The container on top of the stack, which may still change.
  Item& open_top() {
    if (stack_.empty() || !stack_.back().is_new)
      fail("expected a new list or dict, as Python writes them");
    const uint32_t container = stack_.back().container;
    if (container > 0 && containers_[container - 1].is_fixed)
      fail("a list or dict changes after it was used, perhaps because it contains itself");
    return stack_.back();
  }
  uint32_t depth_of(const Item& item) const {
    return item.container > 0 ? containers_[item.container - 1].depth : item.depth;
  }
  uint64_t count_of(const Item& item) const {
    return item.container > 0 ? containers_[item.container - 1].count : item.count;
  }
  /// Adds the items of a container or tuple to its depth and count; throws beyond the limits.
  void count_items(const std::vector<Item>& items, uint32_t& depth, uint64_t& values) const {
    for (const Item& item : items) {
      depth = std::max(depth, depth_of(item) + 1);
      values += count_of(item);
      if (depth > kMaxReadDepth) fail("its values are nested too deeply");
      if (values > max_values_) fail("it repeats values too often");
    }
  }
  void count_into(const Item& target, const std::vector<Item>& items) {
    Container& container = containers_[target.container - 1];
    count_items(items, container.depth, container.count);
  }

  void push_tuple(std::vector<Item> items) {
    Item item;
    item.kind = Item::Kind::kTuple;
    count_items(items, item.depth, item.count);
    item.tuple = std::make_shared<TupleItems>(TupleItems{std::move(items)});
    push(std::move(item));
  }
  void append(const std::vector<Item>& items) {
    Item& target = open_top();
    if (!target.value.isList()) fail("expected a list");
    count_into(target, items);
    const GenericList list = target.value.toList();
    for (const Item& item : items) list.push_back(value_of(item, fail_));
  }
  void set_items(const std::vector<Item>& items) {
    Item& target = open_top();
    if (!target.value.isGenericDict() || items.size() % 2 != 0)
      fail("expected a dict, and a value for each key");
    count_into(target, items);
    const GenericDict dict = target.value.toGenericDict();
    for (size_t i = 0; i < items.size(); i += 2) {
      const IValue key = value_of(items[i], fail_);
      if (!key.isString() && !key.isInt() && !key.isBool() && !key.isDouble())
        fail(detail::str("the key of a dict is a ", key.tagKind()));
      dict.insert_or_assign(key, value_of(items[i + 1], fail_));
    }
  }

  IValue integer(uint64_t bytes) {
    const std::string_view text = read_bytes(bytes);
    if (bytes > sizeof(int64_t))
      fail(detail::str("an int of ", bytes, " bytes does not fit 64 bits"));
    uint64_t value = !text.empty() && text.back() < 0 ? ~uint64_t{0} : 0;
    std::memcpy(&value, text.data(), bytes);
    return static_cast<int64_t>(value);
  }
  double big_endian_double() {
    std::string bytes(read_bytes(sizeof(double)));
    std::reverse(bytes.begin(), bytes.end());
    double value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  /// The functions run_number to run_call run the instructions of one kind each; they return false
  /// for other instructions.
  bool run_number(uint8_t op) {
    switch (op) {
      case kNone: push(IValue()); break;
      case kTrue: push(true); break;
      case kFalse: push(false); break;
      case kInt1: push(read_number<uint8_t>()); break;
      case kInt2: push(read_number<uint16_t>()); break;
      case kInt4: push(read_number<int32_t>()); break;
      case kLong1: push(integer(read_number<uint8_t>())); break;
      case kLong4: push(integer(read_number<uint32_t>())); break;
      case kFloat8: push(big_endian_double()); break;
      default: return false;
    }
    return true;
  }

  bool run_string(uint8_t op) {
    uint64_t bytes = 0;
    switch (op) {
      case kUnicode1:
      case kString1: bytes = read_number<uint8_t>(); break;
      case kUnicode4:
      case kString4: bytes = read_number<uint32_t>(); break;
      case kUnicode8: bytes = read_number<uint64_t>(); break;
      default: return false;
    }
    push(std::string(read_bytes(bytes)));
    return true;
  }

  bool run_memo(uint8_t op) {
    switch (op) {
      case kGet1: get_memo(read_number<uint8_t>()); break;
      case kGet4: get_memo(read_number<uint32_t>()); break;
      case kPut1: put_memo(read_number<uint8_t>()); break;
      case kPut4: put_memo(read_number<uint32_t>()); break;
      case kMemoize: put_memo(static_cast<uint32_t>(memo_.size())); break;
      case kProtocol:
        if (read_number<uint8_t>() > kNewestProtocol) fail("its protocol is newer than 5");
        break;
      case kFrame: read_number<uint64_t>(); break;
      default: return false;
    }
    return true;
  }
  void get_memo(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail(detail::str("the memo has no ", key));
    if (const uint32_t container = found->second.container; container > 0)
      containers_[container - 1].is_fixed = true;
    push(found->second);
  }
  void put_memo(uint32_t key) {
    if (stack_.empty() || stack_.back().kind == Item::Kind::kMark) fail("the stack is empty");
    Item item = stack_.back();
    item.is_new = false;
    memo_.insert_or_assign(key, std::move(item));
  }

  bool run_container(uint8_t op) {
    switch (op) {
      case kMark: push_mark(); break;
      case kEmptyDict: push_container(GenericDict()); break;
      case kEmptyList: push_container(GenericList()); break;
      case kEmptyTuple: push_tuple({}); break;
      case kTuple: push_tuple(pop_to_mark()); break;
      case kTuple1: push_tuple(pop_some(1)); break;
      case kTuple2: push_tuple(pop_some(2)); break;
      case kTuple3: push_tuple(pop_some(3)); break;
      case kAppend: append(pop_some(1)); break;
      case kAppends: append(pop_to_mark()); break;
      case kSetItem: set_items(pop_some(2)); break;
      case kSetItems: set_items(pop_to_mark()); break;
      case kPop: pop(); break;
      case kPopMark: pop_to_mark(); break;
      default: return false;
    }
    return true;
  }
  void push_mark() {
    Item item;
    item.kind = Item::Kind::kMark;
    push(std::move(item));
  }

  bool run_call(uint8_t op) {
    switch (op) {
      case kGlobal: {
        const std::string module = read_line();
        push_global(module + "." + read_line());
        break;
      }
      case kStackGlobal: {
        const std::vector<Item> names = pop_some(2);
        if (!names[0].value.isString() || !names[1].value.isString()) fail("expected two names");
        push_global(names[0].value.toStringRef() + "." + names[1].value.toStringRef());
        break;
      }
      case kReduce:
      case kNewObject: call(op == kNewObject); break;
      case kBuild: build(); break;
      case kPersistentId: push_storage(); break;
      default: return false;
    }
    return true;
  }

  static bool is_class(const std::string& name) { return name.starts_with("__torch__."); }
  void push_global(std::string name) {
    if (is_class(name) && !options_.reads_objects)
      fail("it is a file of TorchScript: hearth::io::load_jit_parameters reads its tensors");
    if (is_missing_dtype(name))
      fail(detail::str("it names the dtype `", name, "`, which Hearth does not have"));
    if (!is_class(name) && !is_known_global(name))
      fail(
          detail::str("Hearth builds tensors, numbers, strings, lists, tuples and dicts, and "
                      "refuses to call `",
                      name, "`"));
    Item item;
    item.kind = Item::Kind::kGlobal;
    item.global = std::move(name);
    push(std::move(item));
  }

  void call(bool makes_object) {
    const Item arguments = pop(), function = pop();
    if (arguments.kind != Item::Kind::kTuple || function.kind != Item::Kind::kGlobal)
      fail("expected a function and its arguments");
    if (is_class(function.global)) {
      if (!makes_object) fail(detail::str("it calls `", function.global, "`"));
      return push_container(GenericDict(), /*is_object=*/true);
    }
    IValue result = call_global(function.global, arguments.tuple->items, options_, fail_);
    if (result.isGenericDict() && arguments.tuple->items.empty())
      return push_container(std::move(result));
    Item item;
    item.value = std::move(result);
    item.depth = arguments.depth;
    item.count = arguments.count;
    push(std::move(item));
  }

  /// Sets the state of an object; ignores the state of a dict, which is an OrderedDict's metadata.
  void build() {
    const Item state = pop();
    const Item& target = open_top();
    if (!target.value.isGenericDict()) fail("only objects and dicts have a state");
    const IValue value = value_of(state, fail_);
    if (!target.is_object) return;
    count_into(target, {state});
    const GenericDict attributes = target.value.toGenericDict();
    if (!value.isGenericDict()) {
      attributes.insert_or_assign("state", value);
      return;
    }
    for (const auto& item : value.toGenericDict())
      attributes.insert_or_assign(item.key(), item.value());
  }

  /// Replaces the tuple ("storage", class, key, location, numel) by the storage.
  void push_storage() {
    const Item id = pop();
    if (id.kind != Item::Kind::kTuple || id.tuple->items.size() < 5) fail("expected a storage");
    const std::vector<Item>& parts = id.tuple->items;
    const bool has_item_types = parts[1].kind == Item::Kind::kGlobal && parts[2].value.isString() &&
                                parts[3].value.isString() && parts[4].value.isInt();
    if (!has_item_types || !parts[0].value.isString() || parts[0].value.toStringRef() != "storage")
      fail("expected a storage");
    const ScalarType type = dtype_of_storage(parts[1].global);
    if (type == ScalarType::Undefined) fail(detail::str("`", parts[1].global, "` is no storage"));
    Item item;
    item.kind = Item::Kind::kStorage;
    item.value = options_.storage(
        {type, parts[2].value.toStringRef(), parts[3].value.toStringRef(), parts[4].value.toInt()});
    push(std::move(item));
  }

  std::string_view pickle_;
  const PickleOptions& options_;
  PickleError fail_;
  uint64_t max_values_;
  size_t position_ = 0;
  std::vector<Item> stack_;
  std::vector<Container> containers_;  // by number, from 1
  std::map<uint32_t, Item> memo_;
};

}  // namespace

IValue unpickle(std::string_view pickle, const PickleOptions& options) {
  return Machine(pickle, options).run();
}

}  // namespace hearth::io
