#pragma once

namespace hearth::cpu {

/// The instruction sets for which SIMD kernels are compiled.
enum class IsaLevel : signed char { kGeneric, kAvx2, kAvx512 };

/// A level as a type, to choose among overloads.
template <IsaLevel>
struct AtLevel {};

/// The best level of this build that this processor supports and HEARTH_ISA allows, determined
/// once; throws an Error on x86 processors without AVX2, FMA, BMI, F16C, MOVBE or LZCNT.
IsaLevel isa_level();

/// Whether HEARTH_ISA is set, so that libraries should keep to its level, too.
bool is_isa_limited();

/// Whether this build has code for `level` that this processor can run.
bool supports(IsaLevel level);

/// The level's name: "AVX2", ….
const char* name_of(IsaLevel level);

}  // namespace hearth::cpu
