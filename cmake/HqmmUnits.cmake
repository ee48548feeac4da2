# Compiles several sources as one unit: most of a file's compile time goes into the headers and templates it shares with
# its neighbours.
#
#   hqmm_units(OUT NAME group ROOT folder [LINES most] SOURCES …)
#
# writes units/<group>_<k>.cpp, each with at most that many lines of source, and puts their paths into OUT. They include
# by paths relative to ROOT, which must be an include folder: another clone writes the same bytes, and ccache finds them.
function(hqmm_units out)
  cmake_parse_arguments(PARSE_ARGV 1 unit "" "NAME;ROOT;LINES" "SOURCES")
  if(NOT unit_LINES)
    set(unit_LINES 100000)
  endif()
  set(paths)
  set(number 0)
  set(lines 0)
  set(content "")
  foreach(source IN LISTS unit_SOURCES)
    file(STRINGS ${source} text)
    list(LENGTH text length)
    math(EXPR together "${lines} + ${length}")
    if(content AND together GREATER unit_LINES)
      _hqmm_write_unit(${unit_NAME} ${number} "${content}" paths)
      math(EXPR number "${number} + 1")
      set(content "")
      set(together ${length})
    endif()
    file(RELATIVE_PATH name ${unit_ROOT} ${source})
    string(APPEND content "#include \"${name}\"\n")
    set(lines ${together})
  endforeach()
  if(content)
    _hqmm_write_unit(${unit_NAME} ${number} "${content}" paths)
  endif()
  set(${out} ${paths} PARENT_SCOPE)
endfunction()

macro(_hqmm_write_unit group number content paths)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/units/${group}_${number}.cpp)
  file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY) # touched only when it changes
  list(APPEND ${paths} ${path})
endmacro()
