# The Gloo plugin, libhearth_gloo.so: communication between processes. The core does not link it, but loads it at run
# time.

find_path(HEARTH_GLOO_INCLUDE_DIR gloo/allreduce.h)
find_library(HEARTH_GLOO_LIBRARY gloo)
mark_as_advanced(HEARTH_GLOO_INCLUDE_DIR HEARTH_GLOO_LIBRARY)

if(HEARTH_GLOO_INCLUDE_DIR AND HEARTH_GLOO_LIBRARY)
  file(GLOB gloo_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/distributed/gloo/*.cpp)
  hearth_group_sources(gloo_sources)
  add_library(hearth_gloo MODULE ${gloo_sources})
  # GCC vectorises the reductions only at -O3.
  target_compile_options(hearth_gloo PRIVATE -O3)
  set_target_properties(hearth_gloo PROPERTIES INSTALL_RPATH "$ORIGIN")
  hearth_hide_symbols(hearth_gloo)
  hearth_sanitize(hearth_gloo address thread)
  target_include_directories(hearth_gloo PRIVATE src)
  target_include_directories(hearth_gloo SYSTEM PRIVATE ${HEARTH_GLOO_INCLUDE_DIR})
  target_link_libraries(hearth_gloo PRIVATE hearth hearth_warnings Threads::Threads ${HEARTH_GLOO_LIBRARY})
  target_link_options(hearth_gloo PRIVATE LINKER:-z,defs)
else()
  message(STATUS "No Gloo plugin: libgloo-dev was not found")
endif()
