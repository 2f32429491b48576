# One translation unit per family of functors and target: src/functors/families.h has the families.

set(families_header ${CMAKE_CURRENT_SOURCE_DIR}/src/functors/families.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${families_header})
file(READ ${families_header} families_text)
string(REGEX MATCHALL "\n  X\\([A-Za-z0-9]+\\)" functor_families "${families_text}")
list(TRANSFORM functor_families REPLACE "\n  X\\((.*)\\)" "\\1")

# hearth_add_family_units(<list> <template> [<Target>...]): adds to the variable <list> what becomes
# of <template> for each family and target. In its text and in its name, less the .in,
# @Family@ and @Target@ are replaced, and @family@ and @target@ in lower case.
function(hearth_add_family_units list_name template)
  set(targets ${ARGN})
  if(NOT targets)
    set(targets none)
  endif()
  set(units)
  foreach(Family IN LISTS functor_families)
    string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" family ${Family})
    string(TOLOWER ${family} family)
    foreach(Target IN LISTS targets)
      string(TOLOWER ${Target} target)
      string(REGEX REPLACE "\\.in$" "" unit ${template})
      string(CONFIGURE ${unit} unit @ONLY)
      configure_file(${template} ${unit} @ONLY)
      list(APPEND units ${CMAKE_CURRENT_BINARY_DIR}/${unit})
    endforeach()
  endforeach()
  set(${list_name} ${${list_name}} ${units} PARENT_SCOPE)
endfunction()
