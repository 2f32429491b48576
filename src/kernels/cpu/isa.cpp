#include "kernels/cpu/isa.h"

#include "hearth/error.h"

namespace hearth::cpu {

bool supports(IsaLevel level) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (level == IsaLevel::kAvx2) return avx2;
#if defined(HEARTH_CPU_AVX512)
  if (level == IsaLevel::kAvx512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return false;
#else
  return level == IsaLevel::kGeneric;
#endif
}

IsaLevel isa_level() {
  static const IsaLevel level = [] {
    for (const IsaLevel best : {IsaLevel::kAvx512, IsaLevel::kAvx2, IsaLevel::kGeneric})
      if (supports(best)) return best;
    detail::fail<Error>(
        "this processor lacks AVX2, FMA or BMI instructions, which Hearth needs on x86-64 "
        "(x86-64-v3: Intel Haswell, AMD Zen, or newer)");
  }();
  return level;
}

const char* name_of(IsaLevel level) {
  return level == IsaLevel::kAvx512 ? "AVX-512" : level == IsaLevel::kAvx2 ? "AVX2" : "generic";
}

}  // namespace hearth::cpu
