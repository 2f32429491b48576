#pragma once

#include <string>

#include "core/tensor_impl.h"

namespace hearth {

/// The last part of an error about two different dtypes: " (input is Float [3, 4], weight is Double
/// [5, 4]; convert one of them, as with input.to(kDouble))".
std::string dtypes_text(const char* first, const TensorImpl& a, const char* second,
                        const TensorImpl& b);

}  // namespace hearth
