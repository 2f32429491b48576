#pragma once

#include "c10/core/Storage.h"
#include "c10/core/TensorOptions.h"
#include "c10/util/intrusive_ptr.h"
#include "hearth/tensor_impl_base.h"

namespace c10 {
using TensorImpl = hearth::TensorImplBase;
}
namespace at {
using TensorImpl = hearth::TensorImplBase;
}
namespace torch {
using TensorImpl = hearth::TensorImplBase;
}
