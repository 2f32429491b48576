#pragma once

#include <optional>
#include <string_view>

#include "hearth/tensor.h"

namespace hearth::io {

/// A vector of `size` elements in the memory of a file. Changes are written to the file only if
/// `shared`; then the file is created, or grows, if needed.
HEARTH_API Tensor from_file(std::string_view filename, std::optional<bool> shared = {},
                            std::optional<int64_t> size = 0, TensorOptions options = {});

}  // namespace hearth::io
