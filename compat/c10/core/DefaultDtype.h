#pragma once

#include "c10/core/ScalarType.h"

namespace c10 {
inline hearth::TypeMeta get_default_complex_dtype() {
  return hearth::to_complex(hearth::get_default_dtype());
}
}  // namespace c10
