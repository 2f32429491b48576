#include "optim/field_io.h"

#include <algorithm>

#include "hearth/operators.h"
#include "optim/field_lists.h"

namespace hearth::optim {

Fields::~Fields() = default;
void Fields::none(const std::string&) {}
bool Fields::is_none(const std::string&) const { return false; }

std::string first_name(const std::string& text) { return text.substr(0, text.find('.')); }

void Fields::field(const std::string& name, std::tuple<double, double>& values) {
  nested(name, [&values](Fields& f) {
    f.field("0", std::get<0>(values));
    f.field("1", std::get<1>(values));
  });
}

void Fields::field(const std::string& name, std::vector<double>& values) {
  list_field(*this, name, values);
}
void Fields::field(const std::string& name, std::vector<int64_t>& values) {
  list_field(*this, name, values);
}

void DictWriter::field(const std::string& name, Tensor& value) {
  if (value.defined()) put(name, value);
}

void DictWriter::nested(const std::string& name, const std::function<void(Fields&)>& body) {
  DictWriter inner(dict_, prefix_ + name + ".");
  body(inner);
}

namespace {

std::shared_ptr<const std::vector<std::string_view>> sorted_keys(const StateDict& dict) {
  auto keys = std::make_shared<std::vector<std::string_view>>();
  keys->reserve(dict.size());
  for (const auto& item : dict) keys->push_back(item.first);
  std::sort(keys->begin(), keys->end());
  return keys;
}

}  // namespace

DictReader::DictReader(const StateDict& dict) : dict_(dict), sorted_keys_(sorted_keys(dict)) {}

DictReader::DictReader(const DictReader& outer, const std::string& name)
    : dict_(outer.dict_), prefix_(outer.prefix_ + name + "."), sorted_keys_(outer.sorted_keys_) {
  require_values(outer.requires_values());
}

bool DictReader::has(const std::string& name) const {
  if (const IValue* value = dict_.find(prefix_ + name)) return !value->isNone();
  const std::string child_prefix = prefix_ + name + ".";
  const auto next = std::lower_bound(sorted_keys_->begin(), sorted_keys_->end(), child_prefix);
  return next != sorted_keys_->end() && next->starts_with(child_prefix);
}

/// Returns the stored value. If it is missing, throws if values are required, else returns null.
const IValue* DictReader::find(const std::string& name) const {
  return requires_values() ? &dict_.at(prefix_ + name) : dict_.find(prefix_ + name);
}

namespace {

/// Returns a number that may be stored as a tensor, as Python's optimizers store step counts, or as
/// an integer.
double number_in(const IValue& stored) {
  if (stored.isInt()) return double(stored.toInt());
  return stored.toTensor().item().toDouble();
}

}  // namespace

void DictReader::field(const std::string& name, bool& value) {
  if (const IValue* stored = find(name)) value = stored->toBool();
}
void DictReader::field(const std::string& name, int64_t& value) {
  if (const IValue* stored = find(name))
    value = stored->isTensor() ? int64_t(number_in(*stored)) : stored->toInt();
}
void DictReader::field(const std::string& name, double& value) {
  if (const IValue* stored = find(name))
    value = stored->isTensor() || stored->isInt() ? number_in(*stored) : stored->toDouble();
}
void DictReader::field(const std::string& name, std::string& value) {
  if (const IValue* stored = find(name)) value = stored->toStringRef();
}
void DictReader::field(const std::string& name, Tensor& value) {
  const IValue* stored = dict_.find(prefix_ + name);
  value = stored && !stored->isNone() ? stored->toTensor() : Tensor();
}

void DictReader::nested(const std::string& name, const std::function<void(Fields&)>& body) {
  if (!requires_values() && !has(name)) return;
  HEARTH_CHECK(has(name), "Key '", prefix_, name, "' is not defined");
  DictReader inner(*this, name);
  body(inner);
}

void ArchiveWriter::field(const std::string& name, Tensor& value) {
  if (value.defined()) archive_.write(name, value, /*is_buffer=*/true);
}

void ArchiveWriter::nested(const std::string& name, const std::function<void(Fields&)>& body) {
  serialize::OutputArchive archive;
  ArchiveWriter inner(archive);
  body(inner);
  archive_.write(name, archive);
}

ArchiveReader::ArchiveReader(serialize::InputArchive& archive, bool from_serialize)
    : is_from_serialize(from_serialize), archive_(archive) {
  for (const std::string& key : archive.keys()) names_.insert(first_name(key));
}

void ArchiveReader::field(const std::string& name, Tensor& value) {
  value = Tensor();
  if (!has(name) || archive_.try_read(name, value, /*is_buffer=*/true)) return;
  double number = 0;  // Python's LBFGS stores H_diag as 1 after its first iteration
  if (archive_.try_read(name, number))
    value = full({}, number, kFloat);
  else
    archive_.read(name, value, /*is_buffer=*/true);
}

bool ArchiveReader::is_none(const std::string& name) const {
  IValue value;
  return archive_.try_read(name, value) && value.isNone();
}

void ArchiveReader::nested(const std::string& name, const std::function<void(Fields&)>& body) {
  if (!requires_values() && !has(name)) return;
  serialize::InputArchive archive;
  archive_.read(name, archive);
  ArchiveReader inner(archive);
  inner.require_values(requires_values());
  body(inner);
}

}  // namespace hearth::optim
