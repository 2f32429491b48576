#include "hearth/optim/state_dict.h"

namespace hearth::optim {

void StateDict::insert(const std::string& key, IValue value) {
  const auto [entry, is_new] = index_.try_emplace(key, items_.size());
  if (is_new)
    items_.emplace_back(key, std::move(value));
  else
    items_[entry->second].second = std::move(value);
}

const IValue* StateDict::find(const std::string& key) const {
  const auto entry = index_.find(key);
  return entry == index_.end() ? nullptr : &items_[entry->second].second;
}

const IValue& StateDict::at(const std::string& key) const {
  const IValue* value = find(key);
  HEARTH_CHECK(value, "Key '", key, "' is not defined");
  return *value;
}

}  // namespace hearth::optim
