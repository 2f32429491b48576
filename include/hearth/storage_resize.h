#pragma once

#include "hearth/storage.h"

namespace hearth {

/// Replaces the storage's memory by `nbytes` bytes and copies the contents that fit, as Python's
/// UntypedStorage.resize_ does; 0 frees the memory. The storage's tensors keep their sizes; they
/// must not be read while the storage is too small for them.
HEARTH_API void resize_storage_(const Storage& storage, size_t nbytes);

}  // namespace hearth
