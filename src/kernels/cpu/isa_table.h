#pragma once

#include "kernels/cpu/isa.h"

/// The one of name_avx2, name_avx512 and name_generic that this processor can run, of those in this
/// build.
#if defined(HEARTH_CPU_AVX512)
#define HEARTH_ISA_TABLE(name) \
  (hearth::cpu::isa_level() == hearth::cpu::IsaLevel::kAvx512 ? name##_avx512 : name##_avx2)
#elif defined(HEARTH_CPU_AVX2)
#define HEARTH_ISA_TABLE(name) (name##_avx2)
#else
#define HEARTH_ISA_TABLE(name) (name##_generic)
#endif
