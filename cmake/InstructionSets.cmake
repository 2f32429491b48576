# Compiler flags per source, mostly of kernels. A SIMD kernel has one translation unit per instruction set, marked by
# its name: *_avx2.cpp, *_avx512.cpp, *_generic.cpp.

# hearth_select_instruction_sets(<sources> <definitions>): removes the units of instruction sets that this build does not
# have from the list <sources>, sets the flags of the kernels in it (for a sanitizer also of core and autograd), and sets
# <definitions> to a preprocessor definition for each of AVX2 and AVX-512 that the build has.
function(hearth_select_instruction_sets sources definitions)
  set(kept ${${sources}})
  set(defined)
  # By default, g++ contracts products and sums across expressions, but clang++ only within one.
  set(math_flags -fno-math-errno -fno-trapping-math -ffp-contract=fast)
  set(unit_flags -O2 ${math_flags} -Wno-psabi)
  if(HEARTH_SANITIZE STREQUAL "address")
    # At -O2, or with use-after-scope checks, each of these files compiles for most of a minute. g++ contracts products
    # and sums only with -fexpensive-optimizations; without contraction, random numbers would differ from PyTorch's.
    list(APPEND unit_flags -O1 -fexpensive-optimizations -fno-sanitize-address-use-after-scope)
  elseif(HEARTH_SANITIZE STREQUAL "thread")
    list(APPEND math_flags -O1)
  endif()

  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(FILTER kept EXCLUDE REGEX "_generic\\.cpp$")
    list(APPEND defined HEARTH_CPU_AVX2=1)
    set(avx512 ${HEARTH_AVX512})
    if(avx512 STREQUAL "NATIVE")
      file(STRINGS /proc/cpuinfo avx512 LIMIT_COUNT 1 REGEX "^flags.* avx512vl( |$)")
    elseif(NOT avx512 MATCHES "^(ON|OFF)$")
      message(FATAL_ERROR "HEARTH_AVX512 is '${avx512}', not ON, OFF or NATIVE")
    endif()
    if(avx512)
      list(APPEND defined HEARTH_CPU_AVX512=1)
    else()
      list(FILTER kept EXCLUDE REGEX "_avx512\\.cpp$")
    endif()
  else()
    list(FILTER kept EXCLUDE REGEX "_avx(2|512)\\.cpp$")
  endif()

  foreach(source IN LISTS kept)
    if(source MATCHES "src/kernels/cpu/.*_avx2\\.cpp$")
      set(flags -march=x86-64-v3 ${unit_flags})
    elseif(source MATCHES "src/kernels/cpu/.*_avx512\\.cpp$")
      set(flags -march=x86-64-v4 -mprefer-vector-width=512 ${unit_flags})
    elseif(source MATCHES "src/kernels/cpu/.*_generic\\.cpp$")
      set(flags ${unit_flags})
    elseif(source MATCHES "^src/kernels/cpu/")
      set(flags ${math_flags})
    elseif(HEARTH_SANITIZE AND source MATCHES "^src/(core|autograd)/")
      set(flags -O1)  # every op call runs this code
    else()
      continue()
    endif()
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS "${flags}" SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
  set(${sources} ${kept} PARENT_SCOPE)
  set(${definitions} ${defined} PARENT_SCOPE)
endfunction()
