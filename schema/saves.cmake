# shoal_saves_schema: the header that flatc makes of saves.fbs, included as "schema/saves_generated.h".
if(NOT TARGET shoal_saves_schema)
  set(shoal_saves_schema_folder ${PROJECT_BINARY_DIR}/generated/schema)
  set(shoal_saves_schema_header ${shoal_saves_schema_folder}/saves_generated.h)
  add_custom_command(
    OUTPUT ${shoal_saves_schema_header}
    COMMAND ${SHOAL_FLATC} --cpp --scoped-enums --cpp-std c++17 -o ${shoal_saves_schema_folder} ${CMAKE_CURRENT_LIST_DIR}/saves.fbs
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/saves.fbs
    COMMENT "flatc schema/saves.fbs" VERBATIM)
  add_custom_target(shoal_saves_schema_header DEPENDS ${shoal_saves_schema_header})
  add_library(shoal_saves_schema INTERFACE)
  add_dependencies(shoal_saves_schema shoal_saves_schema_header)
  target_include_directories(shoal_saves_schema INTERFACE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(shoal_saves_schema INTERFACE shoal_dep::flatbuffers)
endif()
