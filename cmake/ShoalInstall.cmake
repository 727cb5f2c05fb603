# What `cmake --install` lays down: the libraries with their headers under include/shoal, the generator, and
# the CMake package that find_package(shoal) reads. The demo (shared/game, server/demo, client/bots) stays out: a
# user's own game takes its place. tests/install builds a project on it.
include(CMakePackageConfigHelpers)

get_property(shoal_modules GLOBAL PROPERTY SHOAL_MODULES)
list(REMOVE_ITEM shoal_modules shoal_game shoal_demo_server shoal_bots)
set_target_properties(shoal_options PROPERTIES EXPORT_NAME options)
install(TARGETS ${shoal_modules} shoal_options shoal-schemac EXPORT shoalTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(program shoal-server shoal-bots shoal-ticket shoal-image)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

set(shoal_headers ${CMAKE_INSTALL_INCLUDEDIR}/shoal)
install(DIRECTORY shared server client DESTINATION ${shoal_headers}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "shared/game" EXCLUDE PATTERN "server/demo" EXCLUDE PATTERN "client/bots" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/schema/protocol_generated.h
  ${PROJECT_BINARY_DIR}/generated/schema/service_generated.h DESTINATION ${shoal_headers}/schema)

set(shoal_package ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION ${shoal_package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoalConfig.cmake.in
  ${PROJECT_BINARY_DIR}/shoalConfig.cmake INSTALL_DESTINATION ${shoal_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shoalConfig.cmake ${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
  cmake/ShoalDependencies.cmake cmake/ShoalComponents.cmake cmake/ShoalMessages.cmake DESTINATION ${shoal_package})
install(FILES schema/shoal/attributes.fbs DESTINATION ${shoal_package}/schema/shoal)
