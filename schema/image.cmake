# shoal_image_schema: the header that flatc makes of image.fbs, included as "schema/image_generated.h".
if(NOT TARGET shoal_image_schema)
  set(shoal_image_schema_folder ${PROJECT_BINARY_DIR}/generated/schema)
  set(shoal_image_schema_header ${shoal_image_schema_folder}/image_generated.h)
  add_custom_command(
    OUTPUT ${shoal_image_schema_header}
    COMMAND ${SHOAL_FLATC} --cpp --scoped-enums --cpp-std c++17 -o ${shoal_image_schema_folder} ${CMAKE_CURRENT_LIST_DIR}/image.fbs
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/image.fbs
    COMMENT "flatc schema/image.fbs" VERBATIM)
  add_custom_target(shoal_image_schema_header DEPENDS ${shoal_image_schema_header})
  add_library(shoal_image_schema INTERFACE)
  add_dependencies(shoal_image_schema shoal_image_schema_header)
  target_include_directories(shoal_image_schema INTERFACE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(shoal_image_schema INTERFACE shoal_dep::flatbuffers)
endif()
