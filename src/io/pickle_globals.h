#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/pickle_item.h"

namespace hearth::io {

/// Throws errors about a pickle, with the place where its reader is.
class PickleError {
 public:
  PickleError(const std::string& file, const size_t& at) : file_(file), at_(at) {}
  [[noreturn]] void operator()(const std::string& what) const {
    detail::fail<Error>("cannot read '", file_, "': at byte ", at_, " of its pickle: ", what);
  }

 private:
  const std::string& file_;
  const size_t& at_;
};

/// Whether a pickle may name this class or function.
bool is_known_global(const std::string& name);
/// Calls a function with the items of a tuple.
IValue call_global(const std::string& name, const std::vector<Item>& arguments,
                   const PickleError& fail);

/// The dtype of "torch.FloatStorage"; Undefined for other names.
ScalarType dtype_of_storage(const std::string& name);
/// "torch.FloatStorage".
std::string storage_of_dtype(ScalarType type);

/// The item as a value; throws if it contains a class or function. A dtype becomes its name.
IValue value_of(const Item& item, const PickleError& fail);

}  // namespace hearth::io
