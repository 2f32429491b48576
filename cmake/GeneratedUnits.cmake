# Generated translation units: one per functor family (src/functors/families.h lists the families), per instruction set,
# or per pair of a family and an instruction set.

set(families_header ${CMAKE_CURRENT_SOURCE_DIR}/src/functors/families.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${families_header})
file(READ ${families_header} families_text)
string(REGEX MATCHALL "\n  X\\([A-Za-z0-9]+\\)" functor_families "${families_text}")
list(TRANSFORM functor_families REPLACE "\n  X\\((.*)\\)" "\\1")

# hearth_add_units(<list> <template> [<InstructionSet>...]): generates units from <template> and appends them to the
# variable <list>: one per family if the template's name contains @family@, one per instruction set if it contains
# @target@. In its text and its name, which loses .in, @Family@ and @Target@ are replaced by these names, and @family@
# and @target@ by the names in lower case.
function(hearth_add_units list_name template)
  set(families none)
  if(template MATCHES "@family@")
    set(families ${functor_families})
  endif()
  set(targets none)
  if(template MATCHES "@target@")
    set(targets ${ARGN})
  endif()
  set(units)
  foreach(Family IN LISTS families)
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
