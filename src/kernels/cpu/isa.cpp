#include "kernels/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <string_view>

#include "hearth/error.h"

namespace hearth::cpu {

namespace {

/// The level that HEARTH_ISA names.
IsaLevel wanted_level() {
  const std::string_view text = std::getenv("HEARTH_ISA");
  const IsaLevel level = text == "avx512" ? IsaLevel::kAvx512 : IsaLevel::kAvx2;
  HEARTH_CHECK(text == "avx2" || text == "avx512", "HEARTH_ISA must be avx2 or avx512, not '", text,
               "'");
  HEARTH_CHECK(supports(level), "HEARTH_ISA=", text, ": this processor or this build has no ",
               name_of(level));
  return level;
}

#if defined(__x86_64__)
/// Whether the processor has F16C, MOVBE and LZCNT, which not every virtual machine shows.
bool has_rest_of_v3() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_F16C) || !(c & bit_MOVBE)) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}
#endif

}  // namespace

bool supports(IsaLevel level) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    has_rest_of_v3();
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

bool is_isa_limited() {
  const char* const text = std::getenv("HEARTH_ISA");
  return text && *text;
}

IsaLevel isa_level() {
  static const IsaLevel level = [] {
    const IsaLevel limit = is_isa_limited() ? wanted_level() : IsaLevel::kAvx512;
    for (const IsaLevel best : {IsaLevel::kAvx512, IsaLevel::kAvx2, IsaLevel::kGeneric})
      if (best <= limit && supports(best)) return best;
    detail::fail<Error>(
        "this processor lacks AVX2, FMA, BMI, F16C, MOVBE or LZCNT, which Hearth needs on x86-64 "
        "(x86-64-v3: Intel Haswell, AMD Zen, or newer)");
  }();
  return level;
}

const char* name_of(IsaLevel level) {
  return level == IsaLevel::kAvx512 ? "AVX-512" : level == IsaLevel::kAvx2 ? "AVX2" : "generic";
}

}  // namespace hearth::cpu
