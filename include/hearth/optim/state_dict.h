#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/ivalue.h"

namespace hearth::optim {

/// The state of an optimizer or of a scheduler by name, as Python's state_dict() nests it, with
/// dots between the names: "state.0.exp_avg", "param_groups.0.lr".
class HEARTH_API StateDict {
 public:
  using Item = std::pair<std::string, IValue>;

  /// Adds a value, or replaces the one of this name.
  void insert(const std::string& key, IValue value);
  /// The value of this name; null if there is none.
  const IValue* find(const std::string& key) const;
  /// The value of this name; "Key 'x' is not defined" if there is none.
  const IValue& at(const std::string& key) const;
  const IValue& operator[](const std::string& key) const { return at(key); }
  bool contains(const std::string& key) const { return find(key) != nullptr; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  /// In the order in which they were added.
  std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  std::vector<Item>::const_iterator end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace hearth::optim
