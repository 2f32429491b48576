#pragma once

#include <type_traits>

#include "kernels/cpu/isa.h"

/// The table for isa_level(): name_avx2, name_avx512 or name_generic.
#if defined(HEARTH_CPU_AVX512)
#define HEARTH_ISA_TABLE(name) \
  (hearth::cpu::isa_level() == hearth::cpu::IsaLevel::kAvx512 ? name##_avx512 : name##_avx2)
#elif defined(HEARTH_CPU_AVX2)
#define HEARTH_ISA_TABLE(name) (static_cast<void>(hearth::cpu::isa_level()), name##_avx2)
#else
#define HEARTH_ISA_TABLE(name) (name##_generic)
#endif

namespace hearth::cpu {

/// The loops for T, float or double, of a table that has both.
template <class T, class Table>
const auto& loops_for(const Table& table) {
  if constexpr (std::is_same_v<T, double>)
    return table.f64;
  else
    return table.f32;
}

}  // namespace hearth::cpu
