#include "hearth/ivalue.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <ostream>
#include <utility>

#include "core/ivalue_variant.h"

namespace hearth {

using detail::DictPtr;
using detail::ListKind;
using detail::ListPtr;
using detail::TuplePtr;

namespace {

/// The names of IValueVariant's types.
constexpr const char* kKinds[] = {"None",   "Tensor", "Bool",        "Int",
                                  "Double", "String", "GenericList", "GenericDict",
                                  "Tuple",  "Device", "Generator",   "ComplexDouble"};
static_assert(std::size(kKinds) == std::variant_size_v<detail::IValueVariant>);

/// The index of T among the types of IValueVariant.
template <class T, size_t index = 0>
constexpr size_t position_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<index, detail::IValueVariant>>)
    return index;
  else
    return position_of<T, index + 1>();
}

template <class T>
std::vector<IValue> as_values(const T& values) {
  return std::vector<IValue>(values.begin(), values.end());
}

}  // namespace

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
IValue::IValue(std::vector<IValue> values, ListKind kind)
    : IValue(std::make_shared<detail::ListContent>(detail::ListContent{std::move(values), kind})) {}
IValue::IValue(const std::vector<int64_t>& values) : IValue(as_values(values), ListKind::kInt) {}
IValue::IValue(IntArrayRef values) : IValue(as_values(values), ListKind::kInt) {}
IValue::IValue(const std::vector<double>& values) : IValue(as_values(values), ListKind::kDouble) {}
IValue::IValue(const std::vector<Tensor>& values) : IValue(as_values(values), ListKind::kTensor) {}
IValue::IValue(std::vector<IValue> values) : IValue(std::move(values), ListKind::kAny) {}
IValue::IValue(ListPtr content) : value_(make(std::move(content))) {}
IValue::IValue(DictPtr content) : value_(make(std::move(content))) {}
IValue::IValue(TuplePtr value) : value_(make(std::move(value))) {}
IValue::IValue(Device value) : value_(make(value)) {}
IValue::IValue(Generator value) : value_(make(std::move(value))) {}

TuplePtr IValue::tuple_of(std::vector<IValue> elements) {
  return ivalue::Tuple::create(std::move(elements));
}
DictPtr IValue::dict_of(std::vector<std::pair<IValue, IValue>> entries) {
  auto dict = std::make_shared<detail::DictContent>();
  for (auto& [key, value] : entries) dict->insert(std::move(key), std::move(value), false);
  return dict;
}

template <class T>
bool IValue::holds() const {
  return value_ && std::holds_alternative<T>(value_->variant);
}

bool IValue::isTensor() const { return holds<Tensor>(); }
bool IValue::isBool() const { return holds<bool>(); }
bool IValue::isInt() const { return holds<int64_t>(); }
bool IValue::isDouble() const { return holds<double>(); }
bool IValue::isString() const { return holds<std::string>(); }
bool IValue::holds_list_of(ListKind kind) const {
  return holds<ListPtr>() && get<ListPtr>()->kind == kind;
}
bool IValue::isIntList() const { return holds_list_of(ListKind::kInt); }
bool IValue::isDoubleList() const { return holds_list_of(ListKind::kDouble); }
bool IValue::isTensorList() const { return holds_list_of(ListKind::kTensor); }
bool IValue::isBoolList() const { return holds_list_of(ListKind::kBool); }
bool IValue::isComplexDoubleList() const { return holds_list_of(ListKind::kComplexDouble); }
bool IValue::isList() const { return holds<ListPtr>(); }
bool IValue::isTuple() const { return holds<TuplePtr>(); }
bool IValue::isGenericDict() const { return holds<DictPtr>(); }
bool IValue::isDevice() const { return holds<Device>(); }
bool IValue::isGenerator() const { return holds<Generator>(); }
bool IValue::isComplexDouble() const { return holds<complex<double>>(); }

const char* IValue::tagKind() const { return kKinds[detail::IValueAccess::variant(*this).index()]; }

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
const ListPtr& IValue::list_content() const { return get<ListPtr>(); }
template <class T>
std::vector<T> IValue::to_vector() const {
  std::vector<T> values;
  values.reserve(list_content()->values.size());
  for (const IValue& item : list_content()->values) values.push_back(item.get<T>());
  return values;
}
std::vector<int64_t> IValue::toIntVector() const { return to_vector<int64_t>(); }
std::vector<double> IValue::toDoubleVector() const { return to_vector<double>(); }
std::vector<Tensor> IValue::toTensorVector() const { return to_vector<Tensor>(); }
GenericList IValue::toList() const { return shared_list<IValue>(); }
const GenericList IValue::toListRef() const { return toList(); }
template <class T>
ValueList<T> IValue::list_of(const char* name) const {
  HEARTH_CHECK(holds_list_of(detail::kind_of<T>), "Expected ", name, " but got ", tagKind());
  return shared_list<T>();
}
ValueList<bool> IValue::toBoolList() const { return list_of<bool>("BoolList"); }
ValueList<int64_t> IValue::toIntList() const { return list_of<int64_t>("IntList"); }
ValueList<double> IValue::toDoubleList() const { return list_of<double>("DoubleList"); }
ValueList<complex<double>> IValue::toComplexDoubleList() const {
  return list_of<complex<double>>("ComplexDoubleList");
}
ValueList<Tensor> IValue::toTensorList() const { return list_of<Tensor>("TensorList"); }
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

DictContent::Item* DictContent::find(const IValue& key) {
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
void print(std::ostream& out, const std::vector<IValue>& values, const char* brackets) {
  out << brackets[0];
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out << ", ";
    out << values[i];
  }
  if (brackets[0] == '(' && values.size() == 1) out << ',';
  out << brackets[1];
}

void print(std::ostream& out, const detail::DictContent& dict) {
  out << '{';
  const char* separator = "";
  for (const auto& [key, value] : dict.items()) {
    out << separator << key << ": " << value;
    separator = ", ";
  }
  out << '}';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  detail::visit_content(
      value, [&](std::monostate) { out << "None"; }, [&](const Tensor& tensor) { out << tensor; },
      [&](bool flag) { out << (flag ? "True" : "False"); },
      [&](int64_t number) { out << number; },  //
      [&](double number) { print(out, number); }, [&](const std::string& text) { out << text; },
      [&](const ListPtr& list) { print(out, list->values, "[]"); },
      [&](const DictPtr& dict) { print(out, *dict); },
      [&](const TuplePtr& tuple) { print(out, tuple->elements(), "()"); },
      [&](Device device) { out << device.str(); }, [&](const Generator&) { out << "Generator"; },
      [&](complex<double> number) { print(out, number); });
  return out;
}

namespace ivalue {

Tuple::Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
std::shared_ptr<const Tuple> Tuple::create(std::vector<IValue> elements) {
  return std::make_shared<const Tuple>(std::move(elements));
}

}  // namespace ivalue

}  // namespace hearth
