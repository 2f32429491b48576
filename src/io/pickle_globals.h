#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/pickle_item.h"
#include "io/pickle_reader.h"

namespace hearth::io {

/// Throws errors about a pickle, with the position of its reader.
class PickleError {
 public:
  PickleError(const std::string& file, const size_t& position) : file_(file), position_(position) {}
  [[noreturn]] void operator()(const std::string& message) const {
    detail::fail<Error>("cannot read '", file_, "': at byte ", position_,
                        " of its pickle: ", message);
  }

 private:
  const std::string& file_;
  const size_t& position_;
};

/// Rebuilds tensors whose storages are bytes; its last but one argument is the dtype.
inline constexpr const char* kRebuildWithDtype = "torch._utils._rebuild_tensor_v3";
/// The class of storages that are bytes.
inline constexpr const char* kUntypedStorage = "torch.storage.UntypedStorage";

/// Whether a pickle may name this class or function.
bool is_known_global(const std::string& name);
/// Whether this is the name of a dtype of PyTorch that Hearth does not have, such as torch.qint8.
bool is_missing_dtype(const std::string& name);
/// Calls a function with the items of a tuple.
IValue call_global(const std::string& name, const std::vector<Item>& arguments,
                   const PickleOptions& options, const PickleError& fail);

/// The dtype of "torch.FloatStorage", Byte for "torch.storage.UntypedStorage"; Undefined for other
/// names.
ScalarType dtype_of_storage(const std::string& name);
/// Returns "torch.FloatStorage".
std::string storage_of_dtype(ScalarType type);

/// The item as a value; throws if it contains a class, function or storage. A dtype becomes its
/// name.
IValue value_of(const Item& item, const PickleError& fail);

}  // namespace hearth::io
