// Fields of lists and of values that may be missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/optim/fields.h"

namespace hearth::optim {

/// Visits a list as nested values "size", "0", "1", …. Loading does not read "size", which older
/// versions did not save; a missing list is empty.
template <class T>
void list_field(Fields& fields, const std::string& name, std::vector<T>& values) {
  if (fields.loading()) values.clear();
  if (fields.loading() && !fields.has(name)) return;
  fields.nested(name, [&values](Fields& f) {
    if (f.loading()) {
      for (std::string i = "0"; f.has(i); i = std::to_string(values.size()))
        f.field(i, values.emplace_back());
    }
    if (auto size = int64_t(values.size()); !f.loading()) f.field("size", size);
    for (size_t i = 0; !f.loading() && i < values.size(); ++i)
      f.field(std::to_string(i), values[i]);
  });
}

/// Visits an optional value; nullopt is stored as None, or not at all.
template <class T>
void optional_field(Fields& f, const std::string& name, std::optional<T>& value) {
  if (f.loading()) value.reset();
  if (f.loading() ? !f.has(name) || f.is_none(name) : !value) {
    if (!f.loading()) f.none(name);
    return;
  }
  f.field(name, value ? *value : value.emplace());
}

}  // namespace hearth::optim
