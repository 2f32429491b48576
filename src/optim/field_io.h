#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hearth/io/archive.h"
#include "hearth/optim/fields.h"
#include "hearth/optim/state_dict.h"

namespace hearth::optim {

/// Returns the part of a name before its first dot.
std::string first_name(const std::string& text);

/// Writes fields to a state dict under `prefix` + name.
class DictWriter final : public Fields {
 public:
  explicit DictWriter(StateDict& dict, std::string prefix = {})
      : dict_(dict), prefix_(std::move(prefix)) {}
  void field(const std::string& name, bool& value) override { put(name, value); }
  void field(const std::string& name, int64_t& value) override { put(name, value); }
  void field(const std::string& name, double& value) override { put(name, value); }
  void field(const std::string& name, std::string& value) override { put(name, value); }
  void field(const std::string& name, Tensor& value) override;
  void nested(const std::string& name, const std::function<void(Fields&)>& body) override;
  void none(const std::string& name) override { put(name, {}); }
  bool loading() const override { return false; }
  bool has(const std::string&) const override { return false; }

 private:
  void put(const std::string& name, IValue value) {
    dict_.insert(prefix_ + name, std::move(value));
  }
  StateDict& dict_;
  const std::string prefix_;
};

/// Reads fields from a state dict.
class DictReader final : public Fields {
 public:
  explicit DictReader(const StateDict& dict);
  void field(const std::string& name, bool& value) override;
  void field(const std::string& name, int64_t& value) override;
  void field(const std::string& name, double& value) override;
  void field(const std::string& name, std::string& value) override;
  void field(const std::string& name, Tensor& value) override;
  void nested(const std::string& name, const std::function<void(Fields&)>& body) override;
  bool loading() const override { return true; }
  bool has(const std::string& name) const override;

 private:
  using Keys = std::vector<std::string_view>;
  DictReader(const DictReader& outer, const std::string& name);
  const IValue* find(const std::string& name) const;

  const StateDict& dict_;
  const std::string prefix_;
  const std::shared_ptr<const Keys> sorted_keys_;  // of the whole dict
};

/// Writes fields to an archive.
class ArchiveWriter final : public Fields {
 public:
  explicit ArchiveWriter(serialize::OutputArchive& archive, bool from_serialize = false)
      : is_from_serialize(from_serialize), archive_(archive) {}
  const bool is_from_serialize;  // made by serialize(), so fields() must not call serialize()
  void field(const std::string& name, bool& value) override { archive_.write(name, value); }
  void field(const std::string& name, int64_t& value) override { archive_.write(name, value); }
  void field(const std::string& name, double& value) override { archive_.write(name, value); }
  void field(const std::string& name, std::string& value) override { archive_.write(name, value); }
  void field(const std::string& name, Tensor& value) override;
  void nested(const std::string& name, const std::function<void(Fields&)>& body) override;
  bool loading() const override { return false; }
  bool has(const std::string&) const override { return false; }
  serialize::OutputArchive& archive() { return archive_; }

 private:
  serialize::OutputArchive& archive_;
};

/// Reads fields from an archive.
class ArchiveReader final : public Fields {
 public:
  explicit ArchiveReader(serialize::InputArchive& archive, bool from_serialize = false);
  const bool is_from_serialize;  // as in ArchiveWriter
  void field(const std::string& name, bool& value) override { read(name, value); }
  void field(const std::string& name, int64_t& value) override { read(name, value); }
  void field(const std::string& name, double& value) override { read(name, value); }
  void field(const std::string& name, std::string& value) override { read(name, value); }
  void field(const std::string& name, Tensor& value) override;
  void nested(const std::string& name, const std::function<void(Fields&)>& body) override;
  bool loading() const override { return true; }
  bool has(const std::string& name) const override { return names_.count(name) > 0; }
  bool is_none(const std::string& name) const override;
  serialize::InputArchive& archive() { return archive_; }

 private:
  template <class T>
  void read(const std::string& name, T& value) {
    if (requires_values() || has(name)) archive_.read(name, value);
  }
  serialize::InputArchive& archive_;
  std::unordered_set<std::string> names_;
};

/// Writes the fields of a const object; writers do not change them.
template <class Object>
void write_fields(const Object& object, Fields& f) {
  const_cast<Object&>(object).fields(f);
}

/// Returns the fields of an object as a state dict.
template <class Object>
StateDict dict_of(const Object& object) {
  StateDict dict;
  DictWriter writer(dict);
  write_fields(object, writer);
  return dict;
}

}  // namespace hearth::optim
