# The NCCL plugin, libhearth_nccl.so: communication between GPUs. The core loads it at run time, and it opens NCCL at run
# time; to compile it, a CUDA toolkit and NCCL's header are needed.

if(TARGET hearth_cuda)
  find_path(HEARTH_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(HEARTH_NCCL_INCLUDE_DIR)
endif()

if(TARGET hearth_cuda AND HEARTH_NCCL_INCLUDE_DIR)
  file(GLOB nccl_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/distributed/nccl/*.cpp)
  hearth_group_sources(nccl_sources)
  add_library(hearth_nccl MODULE ${nccl_sources})
  # dlopen searches these folders for NCCL, too.
  set_target_properties(hearth_nccl PROPERTIES
    BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
  hearth_hide_symbols(hearth_nccl)
  hearth_sanitize(hearth_nccl address thread)
  target_include_directories(hearth_nccl PRIVATE src)
  target_include_directories(hearth_nccl SYSTEM PRIVATE ${HEARTH_NCCL_INCLUDE_DIR})
  target_link_libraries(hearth_nccl PRIVATE hearth hearth_warnings Threads::Threads CUDA::cudart ${CMAKE_DL_LIBS})
  target_link_options(hearth_nccl PRIVATE LINKER:-z,defs)
else()
  message(STATUS "No NCCL plugin: it needs a CUDA toolkit and nccl.h")
endif()
