# A hash of the headers that the core and the CUDA plugin share. The plugin refuses a core with another hash.

file(GLOB seam_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     src/functors/*.h src/seam/*.h)
list(APPEND seam_headers include/hearth/dtype.h include/hearth/half.h include/hearth/device.h
     include/hearth/cuda.h)
list(SORT seam_headers)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${seam_headers})

set(seam_text)
foreach(header IN LISTS seam_headers)
  file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${header} header_hash)
  string(APPEND seam_text "${header} ${header_hash}\n")
endforeach()
string(SHA256 seam_hash "${seam_text}")
string(SUBSTRING ${seam_hash} 0 16 seam_hash)

# hearth_pass_seam_hash(<source>): defines HEARTH_SEAM_HASH for this file only, so that a new hash rebuilds no other.
function(hearth_pass_seam_hash source)
  set_property(SOURCE ${source} APPEND PROPERTY
               COMPILE_DEFINITIONS HEARTH_SEAM_HASH=0x${seam_hash}ULL)
endfunction()
