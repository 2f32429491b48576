#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "hearth/dtype.h"
#include "hearth/error.h"
#include "kernels/cpu/isa.h"

/// Shared by the files that call oneDNN.
namespace hearth::cpu::onednn {

using DataType = dnnl::memory::data_type;

/// With HEARTH_ISA=avx2, tells oneDNN to use no newer instructions; throws if oneDNN has been used.
inline void limit_instructions() {
  [[maybe_unused]] static const bool once = [] {
    if (!is_isa_limited() || isa_level() != IsaLevel::kAvx2) return false;
    HEARTH_CHECK(dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) == dnnl::status::success,
                 "HEARTH_ISA=avx2: this process has used oneDNN before, so it cannot be limited");
    return true;
  }();
}

inline dnnl::engine& engine() {
  static auto& cpu = *[] {
    limit_instructions();
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);  // never destroyed
  }();
  return cpu;
}

/// Throws OutOfMemoryError if the process cannot get the memory that oneDNN may need to compile
/// code: oneDNN itself crashes when that allocation fails.
void check_free_memory();

inline DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return DataType::f32;
    case kHalf: return DataType::f16;
    case kBFloat16: return DataType::bf16;
    default: return DataType::undef;
  }
}

}  // namespace hearth::cpu::onednn
