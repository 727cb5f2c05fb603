# shoal_messages(TARGET target SCHEMA file.fbs [INCLUDE_DIRECTORIES dir…])
#
# Makes C++ of the tables that the schema declares, at build time, for MessageRouter (docs/messages.md):
#   <dir>/<stem>_generated.h
# <dir> is the schema's folder relative to the project; so schema/messages.fbs gives
# #include "schema/messages_generated.h". The header is found by the target and by all that link it; a target that is an
# INTERFACE library serves several programs. Works inside shoal and with find_package(shoal).
#
# The tables know their names (flatc --gen-name-strings), by which messages are told apart. Of a schema that includes
# another one each needs a call, unless the other one's header is made elsewhere.
# INCLUDE_DIRECTORIES: where the schema's own `include "…"` lines are looked up, beside its folder.
function(shoal_messages)
  cmake_parse_arguments(arg "" "TARGET;SCHEMA" "INCLUDE_DIRECTORIES" ${ARGN})
  if(NOT arg_TARGET OR NOT arg_SCHEMA OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "shoal_messages(TARGET target SCHEMA file.fbs [INCLUDE_DIRECTORIES dir…])")
  endif()
  get_filename_component(schema "${arg_SCHEMA}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${schema}")
    message(FATAL_ERROR "shoal_messages: ${schema} does not exist")
  endif()
  get_filename_component(folder "${schema}" DIRECTORY)
  get_filename_component(name "${schema}" NAME_WE)
  file(RELATIVE_PATH prefix "${PROJECT_SOURCE_DIR}" "${folder}")
  if(prefix MATCHES "^\\.\\.")  # outside the project: by its name alone
    set(prefix "")
  endif()
  set(root "${PROJECT_BINARY_DIR}/generated")
  set(header_dir "${root}/${prefix}")
  set(header "${header_dir}/${name}_generated.h")
  set(include_flags "")
  foreach(dir IN LISTS arg_INCLUDE_DIRECTORIES)
    get_filename_component(dir "${dir}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND include_flags -I "${dir}")
  endforeach()
  file(GLOB neighbours CONFIGURE_DEPENDS "${folder}/*.fbs")  # it may include them

  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${header_dir}"
    COMMAND "${SHOAL_FLATC}" --cpp --scoped-enums --cpp-std c++17 --gen-name-strings ${include_flags} -o "${header_dir}" "${schema}"
    DEPENDS ${neighbours}
    COMMENT "Messages of ${name}.fbs"
    VERBATIM)
  add_custom_target(${arg_TARGET}_${name}_messages DEPENDS "${header}")
  add_dependencies(${arg_TARGET} ${arg_TARGET}_${name}_messages)
  get_target_property(type ${arg_TARGET} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  endif()
  target_include_directories(${arg_TARGET} ${scope} "$<BUILD_INTERFACE:${root}>")
  target_link_libraries(${arg_TARGET} ${scope} shoal_dep::flatbuffers)
endfunction()
