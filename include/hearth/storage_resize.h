#pragma once

#include "hearth/storage.h"

namespace hearth {

/// Gives the storage a block of `nbytes` in place of its own, with the bytes that fit, as Python's
/// UntypedStorage.resize_ does; 0 frees the memory. Tensors of the storage keep their sizes and may
/// be read again when it is large enough for them.
HEARTH_API void resize_storage_(const Storage& storage, size_t nbytes);

}  // namespace hearth
