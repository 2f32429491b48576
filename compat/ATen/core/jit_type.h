#pragma once

#include "c10/namespaces.h"
#include "hearth/value_list.h"

namespace c10 {

// The types that programs give the constructors of GenericList and GenericDict.
#define HEARTH_ELEMENT_TYPE(Name)                   \
  struct Name {                                     \
    static hearth::ElementType get() { return {}; } \
  };
HEARTH_ELEMENT_TYPE(AnyType)
HEARTH_ELEMENT_TYPE(BoolType)
HEARTH_ELEMENT_TYPE(FloatType)
HEARTH_ELEMENT_TYPE(IntType)
HEARTH_ELEMENT_TYPE(StringType)
HEARTH_ELEMENT_TYPE(TensorType)
#undef HEARTH_ELEMENT_TYPE

}  // namespace c10
