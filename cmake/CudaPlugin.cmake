# The CUDA plugin, libhearth_cuda.so: all code that uses CUDA, except the plugin for NCCL. The core does not link it,
# but loads it at run time.

file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     src/kernels/cuda/*.cu src/kernels/cuda/*.cpp)
hearth_add_units(plugin_sources src/kernels/cuda/pointwise_@family@.cu.in)

# hearth_resolve_cuda_autos(): sets cuda_archs and cuda_compile_only; AUTO depends on whether this machine has a GPU.
macro(hearth_resolve_cuda_autos)
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE ignored)
  if(gpus MATCHES "^GPU ")
    set(auto_archs native)
    set(auto_compile_only OFF)
  else()
    set(auto_archs 90-virtual)
    set(auto_compile_only ON)
  endif()
  string(REGEX REPLACE "^AUTO$" ${auto_archs} cuda_archs "${HEARTH_CUDA_ARCHS}")
  string(REGEX REPLACE "^AUTO$" ${auto_compile_only} cuda_compile_only "${HEARTH_CUDA_COMPILE_ONLY}")
endmacro()

# hearth_find_cuda(<missing>): enables CUDA and finds its libraries, or sets <missing> to a sentence that names the
# missing tool.
macro(hearth_find_cuda missing)
  set(${missing} "")
  find_program(HEARTH_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME
               PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(HEARTH_NVCC)
  if(NOT HEARTH_NVCC)
    set(${missing} "nvcc was not found")
  else()
    set(CMAKE_CUDA_COMPILER ${HEARTH_NVCC} CACHE FILEPATH "")
    set(CMAKE_CUDA_ARCHITECTURES ${cuda_archs})
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    # CMake 3.25 does not know that nvcc takes -std=c++20.
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
  endif()
endmacro()

# hearth_find_cudnn(): finds the headers of cuDNN and selects plugin_sources accordingly. The plugin
# loads the library at run time.
function(hearth_find_cudnn)
  find_path(HEARTH_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(HEARTH_CUDNN_INCLUDE_DIR)
  if(HEARTH_CUDNN_INCLUDE_DIR)
    list(FILTER plugin_sources EXCLUDE REGEX "_without_cudnn\\.cpp$")
    add_library(hearth_cudnn INTERFACE)
    target_include_directories(hearth_cudnn SYSTEM INTERFACE ${HEARTH_CUDNN_INCLUDE_DIR})
  else()
    message(STATUS "The CUDA plugin has no convolutions: cuDNN's headers were not found")
    list(FILTER plugin_sources EXCLUDE REGEX "_cudnn\\.cpp$")  # also *_without_cudnn.cpp, added again below
    list(FILTER plugin_sources EXCLUDE REGEX "(cudnn_graph|attention_graph)\\.cpp$")
    list(APPEND plugin_sources src/kernels/cuda/conv_without_cudnn.cpp
         src/kernels/cuda/attention_without_cudnn.cpp)
  endif()
  set(plugin_sources ${plugin_sources} PARENT_SCOPE)
endfunction()

# hearth_find_cupti(): finds the headers of CUPTI, for profiles. The plugin loads the library at run time.
function(hearth_find_cupti)
  find_path(HEARTH_CUPTI_INCLUDE_DIR cupti.h
            HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
  mark_as_advanced(HEARTH_CUPTI_INCLUDE_DIR)
  if(HEARTH_CUPTI_INCLUDE_DIR)
    add_library(hearth_cupti INTERFACE)
    target_include_directories(hearth_cupti SYSTEM INTERFACE ${HEARTH_CUPTI_INCLUDE_DIR})
  else()
    message(STATUS "The CUDA plugin records no profiles of GPUs: CUPTI's headers were not found")
  endif()
endfunction()

# hearth_require_header(<header> <regex> <what>): if the toolkit lacks <header>, leaves out the sources that match
# <regex>; a call of <what> then throws a NotImplementedError.
function(hearth_require_header header regex what)
  find_path(HEARTH_FOLDER_OF_${header} ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(HEARTH_FOLDER_OF_${header})
  if(NOT HEARTH_FOLDER_OF_${header})
    message(STATUS "The CUDA plugin has no ${what}: ${header} was not found")
    list(FILTER plugin_sources EXCLUDE REGEX "${regex}")
    set(plugin_sources ${plugin_sources} PARENT_SCOPE)
  endif()
endfunction()

function(hearth_add_cuda_plugin)
  hearth_pass_hash(HEARTH_SEAM_HASH ${seam_hash} src/kernels/cuda/plugin.cpp)
  hearth_find_cudnn()
  hearth_find_cupti()
  hearth_require_header(cufft.h "/fft[_.a-z]*$" "Fourier transforms")
  hearth_require_header(cusolverDn.h "cusolver" "linear algebra")
  # g++ 12 crashes on a group of the C++ sources, which declare weak functions.
  set(kernel_sources ${plugin_sources})
  list(FILTER kernel_sources INCLUDE REGEX "\\.cu$")
  list(REMOVE_ITEM plugin_sources ${kernel_sources})
  hearth_group_sources(kernel_sources)
  add_library(hearth_cuda MODULE ${plugin_sources} ${kernel_sources})
  set_target_properties(hearth_cuda PROPERTIES
    CUDA_STANDARD 20 CXX_STANDARD 20
    # dlopen searches these folders for cuDNN, too.
    BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
  hearth_hide_symbols(hearth_cuda)
  target_include_directories(hearth_cuda PRIVATE src)
  target_compile_options(hearth_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--threads=2>)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    target_compile_options(hearth_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
  if(cuda_compile_only)
    target_compile_definitions(hearth_cuda PRIVATE HEARTH_CUDA_COMPILE_ONLY=1)
    target_compile_options(hearth_cuda PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O1;--Ofast-compile=max>)
  endif()
  target_link_libraries(hearth_cuda PRIVATE
    hearth hearth_warnings CUDA::cudart CUDA::cublasLt ${CMAKE_DL_LIBS}
    $<TARGET_NAME_IF_EXISTS:hearth_cudnn> $<TARGET_NAME_IF_EXISTS:hearth_cupti>)
  target_link_options(hearth_cuda PRIVATE LINKER:-z,defs)
endfunction()

if(plugin_sources AND NOT HEARTH_CUDA STREQUAL "OFF")
  hearth_resolve_cuda_autos()
  hearth_find_cuda(cuda_missing)
  if(NOT cuda_missing)
    hearth_add_cuda_plugin()
  elseif(HEARTH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HEARTH_CUDA is ON, but ${cuda_missing}")
  else()
    message(STATUS "No CUDA plugin: ${cuda_missing}")
  endif()
endif()
