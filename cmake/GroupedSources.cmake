# Groups of sources that are compiled as one, because headers take most of the time to compile a small source. CMake's
# unity builds name their sources by absolute paths, so checkouts could not share a compiler cache.

# hearth_group_sources(<list> [<largest>]): if HEARTH_GROUPS is set, replaces the sources in the variable <list> by
# generated ones. Each includes several sources of one folder and one language with equal properties: at most <largest>
# (40), on average two thirds of it. Large groups compile faster (five groups of the program as one: 24 s instead of
# 44), but their compiler needs up to 1.5 GB of memory, and names in their anonymous namespaces must differ. Generated
# sources and those with definitions of their own are kept as they are.
function(hearth_group_sources list_name)
  if(NOT HEARTH_GROUPS)
    return()
  endif()
  set(largest 40 ${ARGN})
  list(GET largest -1 largest)  # the argument or, without one, 40
  set(units)
  set(keys)
  foreach(source IN LISTS ${list_name})
    get_filename_component(path ${source} ABSOLUTE)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${path} is_generated)
    if(definitions OR is_generated OR NOT source MATCHES "\\.(cpp|cu)$")
      list(APPEND units ${source})
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(extension ${path} LAST_EXT)
    get_source_file_property(flags ${source} COMPILE_OPTIONS)
    get_source_file_property(skip_precompiled ${source} SKIP_PRECOMPILE_HEADERS)
    string(MD5 key "${folder} ${extension} ${flags} ${skip_precompiled}")
    list(APPEND keys ${key})
    list(APPEND sources_${key} ${path})
    set(skip_precompiled_${key} ${skip_precompiled})
    set(flags_${key} ${flags})
  endforeach()
  list(REMOVE_DUPLICATES keys)
  foreach(key IN LISTS keys)
    hearth_write_groups(groups ${largest} 0 ${sources_${key}})
    set_source_files_properties(${groups} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
    if(skip_precompiled_${key})  # CMake skips them if the property has any value, OFF included
      set_source_files_properties(${groups} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(flags_${key})
      set_source_files_properties(${groups} PROPERTIES COMPILE_OPTIONS "${flags_${key}}")
    endif()
    list(APPEND units ${groups})
  endforeach()
  set(${list_name} ${units} PARENT_SCOPE)
endfunction()

# hearth_write_groups(<groups> <largest> <depth> <paths>...): writes the groups of these sources and sets <groups> to
# their paths.
# If they are too many for one group, digit <depth> of the hashes of their names divides them into two halves, and the
# next digit divides these halves again. So a source's group does not depend on its place in the list: a new source
# changes one group, or splits one in two.
function(hearth_write_groups groups_name largest depth)
  list(LENGTH ARGN num_sources)
  set(groups)
  if(num_sources GREATER largest)
    set(low)
    set(high)
    foreach(source IN LISTS ARGN)
      cmake_path(GET source FILENAME name)
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} ${depth} 1 digit)
      if(digit MATCHES "[0-7]")
        list(APPEND low ${source})
      else()
        list(APPEND high ${source})
      endif()
    endforeach()
    math(EXPR depth "${depth} + 1")
    hearth_write_groups(low_groups ${largest} ${depth} ${low})
    hearth_write_groups(high_groups ${largest} ${depth} ${high})
    set(groups ${low_groups} ${high_groups})
  elseif(num_sources GREATER 0)
    hearth_write_group(groups ${ARGN})
  endif()
  set(${groups_name} ${groups} PARENT_SCOPE)
endfunction()

# hearth_write_group(<unit> <paths>...): writes a group of these sources, named after the first, and sets <unit> to
# its path.
function(hearth_write_group unit_name)
  set(text)
  foreach(member IN LISTS ARGN)
    cmake_path(RELATIVE_PATH member BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(APPEND text "#include \"${member}\"\n")
  endforeach()
  list(GET ARGN 0 first)
  cmake_path(RELATIVE_PATH first BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(unit ${PROJECT_BINARY_DIR}/groups/${first})
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  set(${unit_name} ${unit} PARENT_SCOPE)
endfunction()
