#include "io/pickle_globals.h"

#include <algorithm>
#include <map>

#include "hearth/operators.h"
#include "io/read_tensor.h"

namespace hearth::io {

namespace {

#define HEARTH_TYPE(cpp_type, Name) ScalarType::Name,
constexpr ScalarType kTypes[] = {HEARTH_ALL_DTYPES(HEARTH_TYPE)};
#undef HEARTH_TYPE

/// The dtype of "torch.float32"; Undefined for other names.
ScalarType dtype_of_name(const std::string& name) {
  for (const ScalarType type : kTypes)
    if (name == detail::str("torch.", python_name_of(type))) return type;
  return ScalarType::Undefined;
}

/// The arguments of a function, checked as they are read.
class Arguments {
 public:
  Arguments(const std::string& name, const std::vector<Item>& arguments,
            const PickleOptions& pickle_options, const PickleError& error)
      : items(arguments), options(pickle_options), fail(error), function_(name) {}

  [[noreturn]] void refuse() const {
    fail(detail::str("`", function_, "` has arguments that Hearth does not understand"));
  }
  void expect(bool holds) const {
    if (!holds) refuse();
  }
  const Item& item(size_t i, Item::Kind kind) const {
    expect(i < items.size() && items[i].kind == kind);
    return items[i];
  }
  IValue value(size_t i) const {
    expect(i < items.size());
    return value_of(items[i], fail);
  }
  Tensor tensor(size_t i) const {
    const IValue value = this->value(i);
    expect(value.isTensor());
    return value.toTensor();
  }
  int64_t integer(size_t i) const {
    const IValue value = this->value(i);
    expect(value.isInt());
    return value.toInt();
  }
  bool boolean(size_t i) const {
    const IValue value = this->value(i);
    expect(value.isBool());
    return value.toBool();
  }
  std::vector<int64_t> integers(size_t i) const {
    std::vector<int64_t> numbers;
    for (const Item& item : this->item(i, Item::Kind::kTuple).tuple->items) {
      expect(item.value.isInt());
      numbers.push_back(item.value.toInt());
    }
    return numbers;
  }
  /// Throws unless argument i is missing or an empty dict: hooks cannot be read.
  void expect_empty_dict(size_t i) const {
    if (i >= items.size()) return;
    const IValue dict = value(i);
    expect(dict.isNone() || (dict.isGenericDict() && dict.toGenericDict().empty()));
  }

  const std::vector<Item>& items;
  const PickleOptions& options;
  const PickleError& fail;

 private:
  const std::string& function_;
};

/// Applies the changes that argument 6 names: PyTorch stores a lazy conjugate or negative as it was
/// before, with {"conj": True} or {"neg": True}.
Tensor with_lazy_changes(const Arguments& args, Tensor tensor, int64_t stored) {
  const IValue changes = args.value(6);
  if (changes.isNone() || (changes.isGenericDict() && changes.toGenericDict().empty()))
    return tensor;
  args.expect(changes.isGenericDict() && tensor.scalar_type() != kBool);
  // The result is a copy, which an expanded view of a small storage would make huge.
  args.expect(tensor.numel() <= stored);
  for (const auto& change : changes.toGenericDict()) {
    const IValue name = change.key(), holds = change.value();
    args.expect(name.isString() && holds.isBool());
    const bool conjugates = name.toStringRef() == "conj";
    args.expect(conjugates || name.toStringRef() == "neg");
    if (holds.toBool()) tensor = conjugates ? tensor.conj() : tensor.neg();
  }
  return tensor;
}

/// The tensor over `base` whose storage is argument 0.
Tensor rebuild_over(const Tensor& base, const Arguments& args) {
  Tensor tensor;
  try {
    tensor = tensor_over(base, args.integers(2), args.integers(3), args.integer(1));
  } catch (const Error& error) {
    args.fail(error.what());
  }
  args.expect_empty_dict(5);
  return tensor;
}

Tensor with_requires_grad(const Arguments& args, const Tensor& tensor) {
  const bool requires_grad = args.items.size() > 4 && args.boolean(4);
  return requires_grad && is_differentiable(tensor.scalar_type()) ? tensor.requires_grad_()
                                                                  : tensor;
}

/// Arguments: storage, offset, sizes, strides, requires_grad, hooks, metadata.
IValue rebuild_tensor(const Arguments& args) {
  const Tensor base = args.item(0, Item::Kind::kStorage).value.toTensor();
  if (base.scalar_type() == kByte && args.options.give_dtype) args.options.give_dtype(base, kByte);
  Tensor tensor = rebuild_over(base, args);
  if (args.items.size() > 6) tensor = with_lazy_changes(args, tensor, base.numel());
  return with_requires_grad(args, tensor);
}

/// For dtypes without a class of storages in Python. Arguments: those of rebuild_tensor, with the
/// dtype before the metadata, which are ignored.
IValue rebuild_tensor_with_dtype(const Arguments& args) {
  const Tensor bytes = args.item(0, Item::Kind::kStorage).value.toTensor();
  const ScalarType type = dtype_of_name(args.item(6, Item::Kind::kGlobal).global);
  args.expect(type != ScalarType::Undefined && bytes.scalar_type() == kByte);
  const auto size = static_cast<int64_t>(element_size(type));
  args.expect(bytes.is_meta() || bytes.numel() % size == 0);
  if (args.options.give_dtype) args.options.give_dtype(bytes, type);
  return with_requires_grad(args, rebuild_over(bytes.view(type), args));
}

/// Arguments: tensor, requires_grad, hooks, and perhaps attributes, which are ignored.
IValue rebuild_parameter(const Arguments& args) {
  const Tensor parameter = args.tensor(0).detach();
  args.expect_empty_dict(2);
  return args.boolean(1) && is_differentiable(parameter.scalar_type()) ? parameter.requires_grad_()
                                                                       : parameter;
}

/// Arguments: function, class, the function's arguments, attributes, which are ignored.
IValue rebuild_from_type(const Arguments& args) {
  const std::string& type = args.item(1, Item::Kind::kGlobal).global;
  args.expect(type == "torch.Tensor" || type == "torch.nn.parameter.Parameter");
  return call_global(args.item(0, Item::Kind::kGlobal).global,
                     args.item(2, Item::Kind::kTuple).tuple->items, args.options, args.fail);
}

/// Arguments: dtype, sizes, strides, requires_grad.
IValue rebuild_meta_tensor(const Arguments& args) {
  const ScalarType type = dtype_of_name(args.item(0, Item::Kind::kGlobal).global);
  args.expect(type != ScalarType::Undefined);
  const Tensor base = empty({0}, TensorOptions(type).device(kMeta));
  const Tensor tensor = tensor_over(base, args.integers(1), args.integers(2), 0);
  return args.boolean(3) && is_differentiable(type) ? tensor.requires_grad_() : tensor;
}

/// Arguments: none, a dict, or a list of pairs.
IValue make_dict(const Arguments& args) {
  const GenericDict dict;
  if (args.items.empty()) return dict;
  const IValue pairs = args.value(0);
  if (pairs.isGenericDict()) return pairs;
  args.expect(pairs.isList());
  for (const IValue& pair : pairs.toList().vec()) {
    args.expect(pair.isTuple() || pair.isList());
    const std::vector<IValue> items =
        pair.isTuple() ? pair.toTupleRef().elements() : pair.toList().vec();
    args.expect(items.size() == 2);
    dict.insert_or_assign(items[0], items[1]);
  }
  return dict;
}

IValue make_device(const Arguments& args) {
  const IValue type = args.value(0);
  args.expect(type.isString());
  std::string name = type.toStringRef();
  if (args.items.size() > 1) name += detail::str(":", args.integer(1));
  return Device(name);
}

IValue make_size(const Arguments& args) {
  const IValue sizes = args.value(0);
  args.expect(sizes.isTuple() || sizes.isList());
  return sizes.isTuple() ? sizes : IValue(ivalue::Tuple::create(sizes.toList().vec()));
}

IValue make_list(const Arguments& args) {
  const IValue list = args.value(0);
  args.expect(list.isList());
  return list;
}

IValue make_bool_list(const Arguments& args) {
  std::vector<bool> flags;
  for (const IValue& item : make_list(args).toList().vec()) {
    args.expect(item.isBool());
    flags.push_back(item.toBool());
  }
  return flags;
}

/// Arguments: text and encoding. Python writes bytes as the characters 0 to 255.
IValue make_bytes(const Arguments& args) {
  const IValue text = args.value(0), encoding = args.value(1);
  args.expect(text.isString() && encoding.isString());
  const std::string& name = encoding.toStringRef();
  args.expect(name == "latin1" || name == "latin-1");
  std::string bytes;
  const std::string& utf8 = text.toStringRef();
  for (size_t i = 0; i < utf8.size(); ++i) {
    auto byte = static_cast<uint8_t>(utf8[i]);
    if (byte >= 0x80) {  // two bytes: 1100001x 10xxxxxx
      args.expect((byte & 0xfe) == 0xc2 && ++i < utf8.size() && (utf8[i] & 0xc0) == 0x80);
      byte = static_cast<uint8_t>(byte << 6 | (utf8[i] & 0x3f));
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

/// Arguments: none, bytes, or those of make_bytes.
IValue make_bytearray(const Arguments& args) {
  if (args.items.empty()) return std::string();
  if (args.items.size() > 1) return make_bytes(args);
  const IValue bytes = args.value(0);
  args.expect(bytes.isString());
  return bytes;
}

/// Arguments: the real and the imaginary part.
IValue make_complex(const Arguments& args) {
  const IValue real = args.value(0), imag = args.value(1);
  args.expect(real.isDouble() && imag.isDouble());
  return complex<double>(real.toDouble(), imag.toDouble());
}

using Function = IValue (*)(const Arguments&);
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> by_name = {
      {"torch._utils._rebuild_tensor", rebuild_tensor},
      {"torch._utils._rebuild_tensor_v2", rebuild_tensor},
      {kRebuildWithDtype, rebuild_tensor_with_dtype},
      {"torch._utils._rebuild_parameter", rebuild_parameter},
      {"torch._utils._rebuild_parameter_with_state", rebuild_parameter},
      {"torch._utils._rebuild_meta_tensor_no_storage", rebuild_meta_tensor},
      {"torch._tensor._rebuild_from_type_v2", rebuild_from_type},
      {"collections.OrderedDict", make_dict},
      {"collections.Counter", make_dict},
      {"torch.Size", make_size},
      {"torch.device", make_device},
      {"__builtin__.set", make_list},
      {"builtins.set", make_list},
      {"_codecs.encode", make_bytes},
      {"__builtin__.bytearray", make_bytearray},
      {"builtins.bytearray", make_bytearray},
      {"__builtin__.complex", make_complex},
      {"builtins.complex", make_complex},
      {"torch.jit._pickle.build_intlist",
       [](const Arguments& args) { return IValue(make_list(args).toIntVector()); }},
      {"torch.jit._pickle.build_doublelist",
       [](const Arguments& args) { return IValue(make_list(args).toDoubleVector()); }},
      {"torch.jit._pickle.build_tensorlist",
       [](const Arguments& args) { return IValue(make_list(args).toTensorVector()); }},
      {"torch.jit._pickle.build_boollist", make_bool_list},
      {"torch.jit._pickle.restore_type_tag", [](const Arguments& args) { return args.value(0); }},
  };
  return by_name;
}

}  // namespace

bool is_missing_dtype(const std::string& name) {
  if (dtype_of_name(name) != ScalarType::Undefined) return false;
  constexpr std::string_view kDigits = "0123456789";
  const size_t digit = name.find_first_of(kDigits);
  const std::string letters = name.substr(0, digit);
  for (const char* kind : {"int", "uint", "float", "complex", "bcomplex", "bits", "qint", "quint"})
    if (letters == detail::str("torch.", kind)) return digit != std::string::npos;
  return false;
}

bool is_known_global(const std::string& name) {
  return functions().contains(name) || dtype_of_storage(name) != ScalarType::Undefined ||
         dtype_of_name(name) != ScalarType::Undefined || name == "torch.Tensor" ||
         name == "torch.nn.parameter.Parameter";
}

IValue call_global(const std::string& name, const std::vector<Item>& arguments,
                   const PickleOptions& options, const PickleError& fail) {
  const auto found = functions().find(name);
  if (found == functions().end()) fail(detail::str("it calls `", name, "`, which is no function"));
  return found->second(Arguments(name, arguments, options, fail));
}

std::string storage_of_dtype(ScalarType type) {
  return detail::str("torch.", name_of(type), "Storage");
}

ScalarType dtype_of_storage(const std::string& name) {
  if (name == kUntypedStorage) return kByte;
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](ScalarType type) { return name == storage_of_dtype(type); });
  return found == std::end(kTypes) ? ScalarType::Undefined : *found;
}

IValue value_of(const Item& item, const PickleError& fail) {
  if (item.kind == Item::Kind::kValue) return item.value;
  if (item.kind == Item::Kind::kGlobal && dtype_of_name(item.global) != ScalarType::Undefined)
    return item.global;
  if (item.kind != Item::Kind::kTuple)
    fail(detail::str("expected a value, but there is ",
                     item.kind == Item::Kind::kGlobal ? "`" + item.global + "`" : "a storage"));
  if (item.tuple->value.isNone()) {
    std::vector<IValue> values;
    for (const Item& part : item.tuple->items) values.push_back(value_of(part, fail));
    item.tuple->value = ivalue::Tuple::create(std::move(values));
  }
  return item.tuple->value;
}

}  // namespace hearth::io
