#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "hearth/dtype.h"

/// What Hearth's files on oneDNN share.
namespace hearth::cpu::onednn {

using DataType = dnnl::memory::data_type;

inline dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

inline DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return DataType::f32;
    case kHalf: return DataType::f16;
    case kBFloat16: return DataType::bf16;
    default: return DataType::undef;
  }
}

}  // namespace hearth::cpu::onednn
