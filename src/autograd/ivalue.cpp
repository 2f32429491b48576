#include "hearth/ivalue.h"

#include <cmath>
#include <cstring>
#include <map>
#include <ostream>
#include <utility>
#include <variant>

#include "hearth/ivalue_containers.h"

namespace hearth {

namespace {

/// The names of Variant's types.
constexpr const char* kKinds[] = {"None",       "Tensor",      "Bool",         "Int",
                                  "Double",     "String",      "IntList",      "DoubleList",
                                  "TensorList", "GenericList", "GenericDict",  "Tuple",
                                  "Device",     "Generator",   "ComplexDouble"};
using ListPtr = std::shared_ptr<detail::ListContent>;
using DictPtr = std::shared_ptr<detail::DictContent>;
using TuplePtr = std::shared_ptr<const ivalue::Tuple>;
using Variant = std::variant<std::monostate, Tensor, bool, int64_t, double, std::string,
                             std::vector<int64_t>, std::vector<double>, std::vector<Tensor>,
                             ListPtr, DictPtr, TuplePtr, Device, Generator, complex<double>>;

/// The index of T among the types of Variant.
template <class T, size_t index = 0>
constexpr size_t position_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<index, Variant>>)
    return index;
  else
    return position_of<T, index + 1>();
}

}  // namespace

struct IValue::Value {
  Variant variant;
};

template <class T>
std::shared_ptr<const IValue::Value> IValue::make(T value) {
  return std::make_shared<const Value>(Value{std::move(value)});
}
template HEARTH_API std::shared_ptr<const IValue::Value> IValue::make(int64_t value);
template HEARTH_API std::shared_ptr<const IValue::Value> IValue::make(double value);

IValue::IValue(Tensor value) : value_(make(std::move(value))) {}
IValue::IValue(bool value) : value_(make(value)) {}
IValue::IValue(std::string value) : value_(make(std::move(value))) {}
IValue::IValue(const char* value) : IValue(std::string(value)) {}
IValue::IValue(const Scalar& value)
    : value_(value.isBoolean()         ? make(value.toBool())
             : value.isIntegral(false) ? make(value.toLong())
             : value.isComplex()       ? make(value.toComplexDouble())
                                       : make(value.toDouble())) {}
IValue::IValue(complex<double> value) : value_(make(value)) {}
IValue::IValue(std::vector<int64_t> value) : value_(make(std::move(value))) {}
IValue::IValue(IntArrayRef value) : IValue(value.vec()) {}
IValue::IValue(std::vector<double> value) : value_(make(std::move(value))) {}
IValue::IValue(std::vector<Tensor> value) : value_(make(std::move(value))) {}
IValue::IValue(std::vector<IValue> value)
    : IValue(std::make_shared<detail::ListContent>(std::move(value))) {}
IValue::IValue(ListPtr content) : value_(make(std::move(content))) {}
IValue::IValue(DictPtr content) : value_(make(std::move(content))) {}
IValue::IValue(TuplePtr value) : value_(make(std::move(value))) {}
IValue::IValue(Device value) : value_(make(value)) {}
IValue::IValue(Generator value) : value_(make(std::move(value))) {}

template <class T>
bool IValue::holds() const {
  return value_ && std::holds_alternative<T>(value_->variant);
}

bool IValue::isTensor() const { return holds<Tensor>(); }
bool IValue::isBool() const { return holds<bool>(); }
bool IValue::isInt() const { return holds<int64_t>(); }
bool IValue::isDouble() const { return holds<double>(); }
bool IValue::isString() const { return holds<std::string>(); }
bool IValue::holds_list_of(char kind) const {
  return holds<ListPtr>() && get<ListPtr>()->kind == kind;
}
bool IValue::isIntList() const {
  return holds<std::vector<int64_t>>() || holds_list_of(detail::kind_of<int64_t>);
}
bool IValue::isDoubleList() const {
  return holds<std::vector<double>>() || holds_list_of(detail::kind_of<double>);
}
bool IValue::isTensorList() const {
  return holds<std::vector<Tensor>>() || holds_list_of(detail::kind_of<Tensor>);
}
bool IValue::isBoolList() const { return holds_list_of(detail::kind_of<bool>); }
bool IValue::isComplexDoubleList() const { return holds_list_of(detail::kind_of<complex<double>>); }
bool IValue::isList() const {
  return holds<ListPtr>() || isIntList() || isDoubleList() || isTensorList();
}
bool IValue::isTuple() const { return holds<TuplePtr>(); }
bool IValue::isGenericDict() const { return holds<DictPtr>(); }
bool IValue::isDevice() const { return holds<Device>(); }
bool IValue::isGenerator() const { return holds<Generator>(); }
bool IValue::isComplexDouble() const { return holds<complex<double>>(); }

const char* IValue::tagKind() const {
  return isList() ? "GenericList" : kKinds[value_ ? value_->variant.index() : 0];
}

template <class T>
const T& IValue::get() const {
  HEARTH_CHECK(holds<T>(), "Expected ", kKinds[position_of<T>()], " but got ", tagKind());
  return *std::get_if<T>(&value_->variant);
}

Tensor IValue::toTensor() const { return get<Tensor>(); }
bool IValue::toBool() const { return get<bool>(); }
int64_t IValue::toInt() const { return get<int64_t>(); }
double IValue::toDouble() const { return get<double>(); }
const std::string& IValue::toStringRef() const { return get<std::string>(); }
complex<double> IValue::toComplexDouble() const { return get<complex<double>>(); }
Scalar IValue::toScalar() const {
  HEARTH_CHECK(isScalar(), "IValue is not a Scalar");
  if (isBool()) return toBool();
  if (isInt()) return toInt();
  if (isDouble()) return toDouble();
  return toComplexDouble();
}
template <class T>
std::vector<T> IValue::to_vector() const {
  if (!holds<ListPtr>()) return get<std::vector<T>>();
  std::vector<T> values;
  for (const IValue& item : get<ListPtr>()->values) values.push_back(item.get<T>());
  return values;
}
std::vector<int64_t> IValue::toIntVector() const { return to_vector<int64_t>(); }
std::vector<double> IValue::toDoubleVector() const { return to_vector<double>(); }
std::vector<Tensor> IValue::toTensorVector() const { return to_vector<Tensor>(); }
GenericList IValue::toList() const {
  const auto copy = [](const auto& values) {
    std::vector<IValue> items(values.begin(), values.end());
    return GenericList(std::make_shared<detail::ListContent>(
        std::move(items), detail::kind_of<std::decay_t<decltype(values[0])>>));
  };
  if (holds<std::vector<int64_t>>()) return copy(get<std::vector<int64_t>>());
  if (holds<std::vector<double>>()) return copy(get<std::vector<double>>());
  if (holds<std::vector<Tensor>>()) return copy(get<std::vector<Tensor>>());
  return GenericList(get<ListPtr>());
}
GenericDict IValue::toGenericDict() const { return GenericDict(get<DictPtr>()); }
TuplePtr IValue::toTuple() const { return get<TuplePtr>(); }
const ivalue::Tuple& IValue::toTupleRef() const { return *get<TuplePtr>(); }
Device IValue::toDevice() const { return get<Device>(); }
Generator IValue::toGenerator() const { return get<Generator>(); }

namespace detail {

namespace {

/// Returns a sort key: the type of a Dict's key, and its value.
std::pair<int, std::string> order_of(const IValue& key) {
  if (key.isString()) return {0, key.toStringRef()};
  if (key.isInt()) return {1, str(key.toInt())};
  if (key.isBool()) return {2, str(key.toBool())};
  HEARTH_CHECK(key.isDouble(),
               "the key of a Dict must be a string, an int, a double or a bool, not a ",
               key.tagKind());
  HEARTH_CHECK(!std::isnan(key.toDouble()), "the key of a Dict must not be NaN");
  char bytes[sizeof(double)];
  const double value = key.toDouble() + 0.0;  // -0 and 0 are one key
  std::memcpy(bytes, &value, sizeof value);
  return {3, std::string(bytes, sizeof value)};
}

}  // namespace

/// The positions of keys. Not a hash table: those are slow for keys that a hostile file has chosen.
struct DictContent::Index : std::map<std::pair<int, std::string>, size_t> {};

DictContent::DictContent() : index_(std::make_shared<Index>()) {}

const DictContent::Item* DictContent::find(const IValue& key) const {
  const auto found = index_->find(order_of(key));
  return found == index_->end() ? nullptr : &items_[found->second];
}

bool DictContent::insert(IValue key, IValue value, bool replace) {
  const auto [entry, is_new] = index_->try_emplace(order_of(key), items_.size());
  if (is_new)
    items_.emplace_back(std::move(key), std::move(value));
  else if (replace)
    items_[entry->second].second = std::move(value);
  return is_new;
}

bool DictContent::erase(const IValue& key) {
  const auto found = index_->find(order_of(key));
  if (found == index_->end()) return false;
  const size_t position = found->second;
  index_->erase(found);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
  for (auto& [order, index] : *index_) index -= index > position;
  return true;
}

}  // namespace detail

namespace {

void print(std::ostream& out, const IValue& value) { out << value; }
void print(std::ostream& out, bool value) { out << (value ? "True" : "False"); }
void print(std::ostream& out, int64_t value) { out << value; }
void print(std::ostream& out, const std::string& value) { out << value; }
void print(std::ostream& out, const Tensor& value) { out << value; }

/// Prints whole numbers with a point: "2.".
void print(std::ostream& out, double value) {
  const std::string text = detail::str(value);
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  out << text << (is_whole ? "." : "");
}

/// Prints "1.+2.j".
void print(std::ostream& out, complex<double> value) {
  print(out, value.real());
  out << (value.imag() >= 0 ? '+' : '-');
  print(out, std::abs(value.imag()));
  out << 'j';
}

/// Prints the values between the two brackets; a tuple of one value has a comma.
template <class T>
void print(std::ostream& out, const std::vector<T>& values, const char* brackets = "[]") {
  out << brackets[0];
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out << ", ";
    print(out, values[i]);
  }
  if (brackets[0] == '(' && values.size() == 1) out << ',';
  out << brackets[1];
}

void print(std::ostream& out, const GenericDict& dict) {
  out << '{';
  const char* separator = "";
  for (const auto& item : dict) {
    out << separator << item.key() << ": " << item.value();
    separator = ", ";
  }
  out << '}';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isTensor())
    print(out, value.toTensor());
  else if (value.isBool())
    print(out, value.toBool());
  else if (value.isInt())
    print(out, value.toInt());
  else if (value.isDouble())
    print(out, value.toDouble());
  else if (value.isString())
    print(out, value.toStringRef());
  else if (value.isIntList())
    print(out, value.toIntVector());
  else if (value.isDoubleList())
    print(out, value.toDoubleVector());
  else if (value.isTensorList())
    print(out, value.toTensorVector());
  else if (value.isList())
    print(out, value.toList().vec());
  else if (value.isTuple())
    print(out, value.toTupleRef().elements(), "()");
  else if (value.isGenericDict())
    print(out, value.toGenericDict());
  else if (value.isDevice())
    out << value.toDevice().str();
  else if (value.isComplexDouble())
    print(out, value.toComplexDouble());
  else if (value.isGenerator())
    out << "Generator";
  else
    out << "None";
  return out;
}

namespace ivalue {

Tuple::Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
std::shared_ptr<const Tuple> Tuple::create(std::vector<IValue> elements) {
  return std::make_shared<const Tuple>(std::move(elements));
}

}  // namespace ivalue

}  // namespace hearth
