#include "hearth/optim/state_dict.h"

namespace hearth::optim {

void StateDict::insert(const std::string& key, IValue value) {
  const auto [place, is_new] = places_.try_emplace(key, items_.size());
  if (is_new)
    items_.emplace_back(key, std::move(value));
  else
    items_[place->second].second = std::move(value);
}

const IValue* StateDict::find(const std::string& key) const {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &items_[place->second].second;
}

const IValue& StateDict::at(const std::string& key) const {
  const IValue* value = find(key);
  HEARTH_CHECK(value, "Key '", key, "' is not defined");
  return *value;
}

}  // namespace hearth::optim
