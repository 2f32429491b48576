#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hearth/optim/fields.h"

namespace hearth::app {

/// The value of a flag such as --optimizer: "sgd:momentum=0.9,nesterov", a name and its settings.
struct NamedSettings {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Throws if a setting has no name or appears twice. A setting without a value is "true".
NamedSettings parse_named_settings(const std::string& text);

/// Reads from texts the values that an object lists by optim::Fields. Items of a list are separated
/// by colons: "betas=0.9:0.95".
class SettingFields : public optim::Fields {
 public:
  /// The source's settings may be the values of a `list`, named by their index.
  explicit SettingFields(const NamedSettings& source, std::string list = "");

  using Fields::field;
  void field(const std::string& name, bool& value) override;
  void field(const std::string& name, int64_t& value) override;
  void field(const std::string& name, double& value) override;
  void field(const std::string& name, std::string& value) override;
  void field(const std::string& name, Tensor& value) override;
  void nested(const std::string& name, const std::function<void(Fields&)>& body) override;
  bool loading() const override { return true; }
  bool has(const std::string& name) const override { return text_of(name) != nullptr; }
  bool is_none(const std::string& name) const override;

  /// Throws if the source has a setting that no field has asked for.
  void check_all_known() const;

 private:
  const std::string* text_of(const std::string& name) const;

  std::string shown(const std::string& name) const;  // a setting in errors

  const NamedSettings& source_;
  std::string list_;
  mutable std::vector<std::string> known_;  // the names that were asked for
};

}  // namespace hearth::app
