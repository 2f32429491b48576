#pragma once

#include "c10/namespaces.h"
#include "hearth/tensor.h"

// LibTorch's deprecated conversions.
namespace hearth {

#define HEARTH_CAST(Type)                                                     \
  inline Tensor _cast_##Type(const Tensor& self, bool non_blocking = false) { \
    return self.to(k##Type, non_blocking);                                    \
  }
HEARTH_CAST(Byte)
HEARTH_CAST(Char)
HEARTH_CAST(Short)
HEARTH_CAST(Int)
HEARTH_CAST(Long)
HEARTH_CAST(Half)
HEARTH_CAST(Float)
HEARTH_CAST(Double)
#undef HEARTH_CAST

}  // namespace hearth
