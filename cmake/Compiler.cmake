# Build type, output folders, compiler cache, packed relocations, warnings, sanitizers, precompiled headers, visibility.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT HEARTH_SANITIZE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  # One folder for libraries and programs, because the core searches for its plugins in its own folder.
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# CCACHE_BASEDIR and CCACHE_NOHASHDIR let several checkouts share one cache. With CCACHE_DEPEND, ccache takes the headers
# from the compiler's list of dependencies, instead of preprocessing each source first. For precompiled headers, ccache
# requires CCACHE_SLOPPINESS.
find_program(HEARTH_CCACHE ccache)
mark_as_advanced(HEARTH_CCACHE)
if(HEARTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${HEARTH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

# Whether the linker can pack relative relocations, and this machine's C library reads them, as glibc does since 2.36.
# Older versions refuse to load such a library.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:-z,pack-relative-relocs)
check_cxx_source_compiles([[
  #include <features.h>
  static_assert(__GLIBC_PREREQ(2, 36));
  int main() {}
]] HEARTH_CAN_PACK_RELOCATIONS FAIL_REGEX "relocs ignored|unknown -z")  # only warnings
unset(CMAKE_REQUIRED_LINK_OPTIONS)
option(HEARTH_PACK_RELOCATIONS "A library smaller by a twentieth, which needs glibc 2.36" ${HEARTH_CAN_PACK_RELOCATIONS})

# Warnings are errors by default only with the compiler that CI uses, because other compilers have other warnings.
set(werror OFF)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(werror ON)
endif()
option(HEARTH_WERROR "Treat warnings as errors" ${werror})

add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>
  $<$<AND:$<BOOL:${HEARTH_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)

if(HEARTH_SANITIZE STREQUAL "address")
  set(sanitizer_flags
      -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(HEARTH_SANITIZE STREQUAL "thread")
  set(sanitizer_flags -fsanitize=thread)
elseif(HEARTH_SANITIZE)
  message(FATAL_ERROR "HEARTH_SANITIZE is '${HEARTH_SANITIZE}', not empty, 'address' or 'thread'")
endif()
if(HEARTH_SANITIZE)
  add_link_options(${sanitizer_flags})
endif()

# hearth_sanitize(<target> <sanitizer>...): compiles the target with the build's sanitizer if it is one of these. Other
# targets are compiled as in a release build, so that the compiler cache already has them.
function(hearth_sanitize target)
  if(HEARTH_SANITIZE AND HEARTH_SANITIZE IN_LIST ARGN)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    # -O0, because sanitized code compiles slowly; InstructionSets.cmake raises this for core, autograd and some kernels.
    target_compile_options(${target} PRIVATE -O0 -g1 ${sanitizer_flags})
  endif()
endfunction()

# hearth_precompile(<target> <arguments of target_precompile_headers>...): precompiles headers for a target with many
# sources.
function(hearth_precompile target)
  target_precompile_headers(${target} ${ARGN})
  # ccache requires -fpch-preprocess. With the --param options, GCC never collects garbage, which would search all of the
  # precompiled headers each time: an eighth less time at -O0, a sixth more memory. If headers are precompiled or many
  # sources are compiled as one, the three warnings have false alarms in std::string.
  set(flags -fpch-preprocess --param=ggc-min-expand=10000 --param=ggc-min-heapsize=2000000
      -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:${flags}>")
endfunction()

function(hearth_hide_symbols target)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
