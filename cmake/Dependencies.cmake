# The libraries that the core uses; no public header includes them (docs/dependencies.md).

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)

# Found by path, because oneDNN's CMake config requires OpenCL, and Debian selects OpenBLAS by its alternatives system.
find_path(HEARTH_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(HEARTH_DNNL_LIBRARY dnnl REQUIRED)
find_path(HEARTH_OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas REQUIRED)
find_library(HEARTH_OPENBLAS_LIBRARY openblas REQUIRED)
mark_as_advanced(HEARTH_DNNL_INCLUDE_DIR HEARTH_DNNL_LIBRARY HEARTH_OPENBLAS_INCLUDE_DIR
                 HEARTH_OPENBLAS_LIBRARY)

add_library(hearth_dependencies INTERFACE)
target_include_directories(hearth_dependencies SYSTEM INTERFACE
  ${HEARTH_DNNL_INCLUDE_DIR} ${HEARTH_OPENBLAS_INCLUDE_DIR})
target_link_libraries(hearth_dependencies INTERFACE Threads::Threads
  ZLIB::ZLIB PNG::PNG JPEG::JPEG nlohmann_json::nlohmann_json ${HEARTH_DNNL_LIBRARY} ${HEARTH_OPENBLAS_LIBRARY} ${CMAKE_DL_LIBS})
