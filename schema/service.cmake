# shoal_service_messages: the header that flatc makes of service.fbs, included as "schema/service_generated.h".
if(NOT TARGET shoal_service_messages)
  set(shoal_service_folder ${PROJECT_BINARY_DIR}/generated/schema)
  set(shoal_service_header ${shoal_service_folder}/service_generated.h)
  add_custom_command(
    OUTPUT ${shoal_service_header}
    COMMAND ${SHOAL_FLATC} --cpp --scoped-enums --cpp-std c++17 --gen-name-strings -o ${shoal_service_folder} ${CMAKE_CURRENT_LIST_DIR}/service.fbs
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/service.fbs
    COMMENT "flatc schema/service.fbs" VERBATIM)
  add_custom_target(shoal_service_header DEPENDS ${shoal_service_header})
  add_library(shoal_service_messages INTERFACE)
  add_library(shoal::service_messages ALIAS shoal_service_messages)
  add_dependencies(shoal_service_messages shoal_service_header)
  target_include_directories(shoal_service_messages INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/shoal>)
  target_link_libraries(shoal_service_messages INTERFACE shoal_dep::flatbuffers)
  set_target_properties(shoal_service_messages PROPERTIES EXPORT_NAME service_messages)
  set_property(GLOBAL APPEND PROPERTY SHOAL_MODULES shoal_service_messages)
endif()
