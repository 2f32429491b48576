#include "kernels/cpu/isa.h"

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

}  // namespace

bool supports(IsaLevel level) {
#if defined(__x86_64__)
  // The names are those of the options with which the kernels are compiled.
  if (level == IsaLevel::kAvx2) return __builtin_cpu_supports("x86-64-v3");
#if defined(HEARTH_CPU_AVX512)
  if (level == IsaLevel::kAvx512) return __builtin_cpu_supports("x86-64-v4");
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
