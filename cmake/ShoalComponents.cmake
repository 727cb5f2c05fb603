# shoal_components(TARGET target SCHEMA file.fbs [INCLUDE_DIRECTORIES dir…])
#
# Makes C++ of the components that the schema declares, at build time, and adds it to the target:
#   <dir>/<stem>.hpp              the components, plain aggregates
#   <dir>/<stem>_descriptors.hpp  component_descriptors() and register_components(), in the schema's namespace
# <dir> is the schema's folder relative to the project; so schema/components.fbs gives
# #include "schema/components.hpp". The headers are found by the target and by all that link it. A fault in the
# schema stops the build with file, name and reason. Works inside shoal and with find_package(shoal).
#
# INCLUDE_DIRECTORIES: where the schema's own `include "…"` lines are looked up, beside its folder and shoal's.

# Where shoal/attributes.fbs lies: beside this file when installed, else in the source tree.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/schema/shoal/attributes.fbs")
  set(SHOAL_SCHEMA_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/schema" CACHE INTERNAL "Where shoal/attributes.fbs lies")
else()
  set(SHOAL_SCHEMA_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../schema" CACHE INTERNAL "Where shoal/attributes.fbs lies")
endif()

function(shoal_components)
  cmake_parse_arguments(arg "" "TARGET;SCHEMA" "INCLUDE_DIRECTORIES" ${ARGN})
  if(NOT arg_TARGET OR NOT arg_SCHEMA OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "shoal_components(TARGET target SCHEMA file.fbs [INCLUDE_DIRECTORIES dir…])")
  endif()
  get_filename_component(schema "${arg_SCHEMA}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${schema}")
    message(FATAL_ERROR "shoal_components: ${schema} does not exist")
  endif()
  get_filename_component(folder "${schema}" DIRECTORY)
  get_filename_component(name "${schema}" NAME_WE)
  if(EXISTS "${folder}/${name}.hpp")
    message(FATAL_ERROR "shoal_components: ${name}.hpp beside ${schema} would hide the generated header of that name; rename one")
  endif()
  file(RELATIVE_PATH prefix "${PROJECT_SOURCE_DIR}" "${folder}")
  if(prefix MATCHES "^\\.\\.")  # outside the project: by its name alone
    set(prefix "")
  endif()
  set(stem "${name}")
  if(prefix)
    set(stem "${prefix}/${name}")
  endif()

  set(root "${PROJECT_BINARY_DIR}/generated")
  set(binary_schema_dir "${root}/${prefix}")
  set(include_flags "")
  foreach(dir IN LISTS arg_INCLUDE_DIRECTORIES)
    get_filename_component(dir "${dir}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND include_flags -I "${dir}")
  endforeach()
  list(APPEND include_flags -I "${SHOAL_SCHEMA_INCLUDE_DIR}")

  add_custom_command(
    OUTPUT "${root}/${stem}.hpp" "${root}/${stem}_descriptors.hpp" "${root}/${stem}_descriptors.cpp"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${binary_schema_dir}"
    COMMAND "${SHOAL_FLATC}" -b --schema --bfbs-comments --bfbs-builtins --bfbs-filenames "${folder}"
            ${include_flags} -o "${binary_schema_dir}" "${schema}"
    COMMAND shoal::schemac --schema "${binary_schema_dir}/${name}.bfbs" --output "${root}" --stem "${stem}"
            --root "${folder}" --depfile "${root}/${stem}.d"
    DEPENDS "${schema}" shoal::schemac
    DEPFILE "${root}/${stem}.d"
    COMMENT "Components of ${name}.fbs"
    VERBATIM)
  # A target of its own, so that generation does not wait for the libraries that the target links.
  add_custom_target(${arg_TARGET}_${name}_schema DEPENDS "${root}/${stem}.hpp")
  add_dependencies(${arg_TARGET} ${arg_TARGET}_${name}_schema)
  target_sources(${arg_TARGET} PRIVATE "${root}/${stem}_descriptors.cpp" "${root}/${stem}.hpp" "${root}/${stem}_descriptors.hpp")
  target_include_directories(${arg_TARGET} PUBLIC "$<BUILD_INTERFACE:${root}>")
  target_link_libraries(${arg_TARGET} PUBLIC shoal::ecs shoal::wire)
endfunction()
