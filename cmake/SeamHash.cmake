# Hashes of the headers that the core and a plugin share. A plugin refuses a core with another hash.

# hearth_hash_headers(<variable> <headers>...): sets the variable to a hash of the headers' contents. CMake runs again when
# one of them changes.
function(hearth_hash_headers variable)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  list(SORT ARGN)
  set(text)
  foreach(header IN LISTS ARGN)
    file(SHA256 ${PROJECT_SOURCE_DIR}/${header} header_hash)
    string(APPEND text "${header} ${header_hash}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${variable} 0x${hash}ULL PARENT_SCOPE)
endfunction()

# hearth_pass_hash(<name> <hash> <sources>...): defines <name> for these files only, so that a new hash rebuilds no other.
function(hearth_pass_hash name hash)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${name}=${hash})
endfunction()

# The headers between the core and the CUDA plugin.
file(GLOB seam_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     src/functors/*.h src/seam/*.h)
hearth_hash_headers(seam_hash ${seam_headers} include/hearth/dtype.h include/hearth/half.h include/hearth/device.h
                    include/hearth/cuda.h)
# Those between the core and the plot plugin.
hearth_hash_headers(plot_hash include/hearth/utils/plot.h src/plot/plugin.h)
