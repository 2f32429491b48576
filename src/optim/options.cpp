// The base classes of options and of parameters' state: cloning, comparison, defaults, archives.
#include "optim/options.h"

#include <typeinfo>
#include <unordered_set>

#include "hearth/operators.h"
#include "optim/adapter.h"
#include "optim/field_io.h"

namespace hearth::optim {

namespace {

constexpr char kStateClass[] = "OptimizerParamState", kOptionsClass[] = "OptimizerOptions";

[[noreturn]] void not_implemented(const char* function, const char* class_name,
                                  const char* advice) {
  hearth::detail::fail<NotImplementedError>(
      function, " has not been implemented for torch::optim::", class_name, ". ", advice);
}
[[noreturn]] void not_cloneable(const char* class_name, const char* base) {
  not_implemented("clone()", class_name,
                  hearth::detail::str("Subclass torch::optim::", base, "<Your", class_name,
                                      "> instead of torch::optim::", class_name,
                                      " to inherit the ability to clone.")
                      .c_str());
}

/// The default fields(): calls the serialize functions, which an object may override instead.
template <class Object>
void fields_by_serialize(Object& object, Fields& f, const char* class_name) {
  if (auto* writer = dynamic_cast<ArchiveWriter*>(&f); writer && !writer->is_from_serialize)
    return static_cast<const Object&>(object).serialize(writer->archive());
  if (auto* reader = dynamic_cast<ArchiveReader*>(&f); reader && !reader->is_from_serialize)
    return object.serialize(reader->archive());
  if (dynamic_cast<Adapter*>(&f)) return;  // state without fields is not adapted
  const char* const function = f.loading()
                                   ? "void serialize(torch::serialize::InputArchive& archive)"
                                   : "void serialize(torch::serialize::OutputArchive& archive)";
  not_implemented(
      function, class_name,
      "You must override fields() or serialize() in your subclass to use save, load and "
      "state dicts.");
}

}  // namespace

OptimizerParamState::~OptimizerParamState() = default;
std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  return std::unique_ptr<OptimizerParamState>(new_copy());
}
OptimizerParamState* OptimizerParamState::new_copy() const {
  not_cloneable(kStateClass, "OptimizerCloneableParamState");
}
void OptimizerParamState::fields(Fields& f) { fields_by_serialize(*this, f, kStateClass); }
void OptimizerParamState::serialize(serialize::InputArchive& archive) {
  ArchiveReader reader(archive, true);
  fields(reader);
}
void OptimizerParamState::serialize(serialize::OutputArchive& archive) const {
  ArchiveWriter writer(archive, true);
  write_fields(*this, writer);
}

bool OptimizerParamState::fits(const std::string&, const Tensor& value, const Tensor& param) const {
  return value.dim() == 0 || value.sizes().equals(param.sizes());
}

OptimizerOptions::~OptimizerOptions() = default;
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  return std::unique_ptr<OptimizerOptions>(new_copy());
}
OptimizerOptions* OptimizerOptions::new_copy() const {
  not_cloneable(kOptionsClass, "OptimizerCloneableOptions");
}
hearth::detail::OwnedPtr<OptimizerOptions> OptimizerOptions::unset() const { return {}; }
void OptimizerOptions::fields(Fields& f) { fields_by_serialize(*this, f, kOptionsClass); }
void OptimizerOptions::serialize(serialize::InputArchive& archive) {
  ArchiveReader reader(archive, true);
  reader.require_values(false);
  fields(reader);
}
void OptimizerOptions::serialize(serialize::OutputArchive& archive) const {
  ArchiveWriter writer(archive, true);
  write_fields(*this, writer);
}
double OptimizerOptions::get_lr() const {
  not_implemented("double get_lr()", kOptionsClass, "Override it in your subclass.");
}
void OptimizerOptions::set_lr(double) {
  not_implemented("void set_lr(double)", kOptionsClass, "Override it in your subclass.");
}
std::optional<double> OptimizerOptions::get_momentum() const { return std::nullopt; }
void OptimizerOptions::set_momentum(double) {
  not_implemented("void set_momentum(double)", kOptionsClass, "Override it in your subclass.");
}

namespace {

bool same_value(const IValue& a, const IValue& b) {
  if (a.isTensor() && b.isTensor()) return a.toTensor().equal(b.toTensor());
  if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isDouble() && b.isDouble()) return a.toDouble() == b.toDouble();
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  return a.isString() && b.isString() && a.toStringRef() == b.toStringRef();
}

template <class Object>
bool same(const Object& a, const Object& b) {
  const StateDict left = dict_of(a), right = dict_of(b);
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left) {
    const IValue* other = right.find(key);
    if (!other || !same_value(value, *other)) return false;
  }
  return true;
}

}  // namespace

bool same_fields(const OptimizerOptions& a, const OptimizerOptions& b) { return same(a, b); }
bool same_fields(const OptimizerParamState& a, const OptimizerParamState& b) { return same(a, b); }

void apply_defaults(OptimizerOptions& options, const OptimizerOptions& defaults) {
  const hearth::detail::OwnedPtr<OptimizerOptions> unset = options.unset();
  if (!unset || typeid(options) != typeid(defaults)) return;
  const StateDict initial = dict_of(*unset);
  StateDict merged = dict_of(options);
  // Names without suffixes, because a pair of numbers is one option.
  std::unordered_set<std::string> set_by_user;
  for (const auto& [key, value] : merged)
    if (const IValue* unset_value = initial.find(key);
        !unset_value || !same_value(*unset_value, value))
      set_by_user.insert(first_name(key));
  for (const auto& [key, value] : dict_of(defaults))
    if (set_by_user.count(first_name(key)) == 0) merged.insert(key, value);
  DictReader reader(merged);
  options.fields(reader);
}

}  // namespace hearth::optim
