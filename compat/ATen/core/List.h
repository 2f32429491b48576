#pragma once

#include "ATen/core/jit_type.h"
#include "c10/namespaces.h"
#include "hearth/ivalue_containers.h"

namespace c10 {
template <class T>
using List = hearth::ValueList<T>;
namespace impl {
using GenericList = hearth::GenericList;
}
}  // namespace c10

namespace at {
using c10::List;
}
namespace torch {
using c10::List;
}
