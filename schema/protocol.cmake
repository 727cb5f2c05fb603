# shoal_protocol: the header that flatc makes of protocol.fbs, included as "schema/protocol_generated.h".
if(NOT TARGET shoal_protocol)
  set(shoal_protocol_folder ${PROJECT_BINARY_DIR}/generated/schema)
  set(shoal_protocol_header ${shoal_protocol_folder}/protocol_generated.h)
  add_custom_command(
    OUTPUT ${shoal_protocol_header}
    COMMAND ${SHOAL_FLATC} --cpp --scoped-enums --cpp-std c++17 -o ${shoal_protocol_folder} ${CMAKE_CURRENT_LIST_DIR}/protocol.fbs
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/protocol.fbs
    COMMENT "flatc schema/protocol.fbs" VERBATIM)
  add_custom_target(shoal_protocol_header DEPENDS ${shoal_protocol_header})
  add_library(shoal_protocol INTERFACE)
  add_library(shoal::protocol ALIAS shoal_protocol)
  add_dependencies(shoal_protocol shoal_protocol_header)
  target_include_directories(shoal_protocol INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/shoal>)
  target_link_libraries(shoal_protocol INTERFACE shoal_dep::flatbuffers)
  set_target_properties(shoal_protocol PROPERTIES EXPORT_NAME protocol)
  set_property(GLOBAL APPEND PROPERTY SHOAL_MODULES shoal_protocol)
endif()
