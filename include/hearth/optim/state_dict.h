#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/ivalue.h"

namespace hearth::optim {

/// The state of an optimizer or a scheduler. Keys are those of Python's nested state_dict(), joined
/// by dots: "state.0.exp_avg", "param_groups.0.lr". A list also has its "size", unlike a tuple.
class HEARTH_API StateDict {
 public:
  using Item = std::pair<std::string, IValue>;  ///< key and value

  void insert(const std::string& key, IValue value);  ///< adds or replaces a value
  const IValue* find(const std::string& key) const;   ///< the value, or null if it does not exist
  const IValue& at(const std::string& key) const;     ///< throws "Key 'x' is not defined"
  const IValue& operator[](const std::string& key) const { return at(key); }
  bool contains(const std::string& key) const { return find(key) != nullptr; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  /// Iterates in the order of insertion.
  std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  std::vector<Item>::const_iterator end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace hearth::optim
