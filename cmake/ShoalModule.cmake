# How every target of shoal is built.

add_library(shoal_options INTERFACE)
target_compile_features(shoal_options INTERFACE cxx_std_20)
# The same bits on every compiler and processor: no fused multiply-add behind our back (docs/architecture.md).
target_compile_options(shoal_options INTERFACE -ffp-contract=off)
add_library(shoal_warnings INTERFACE)
target_compile_options(shoal_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wconversion -Wsign-conversion -Wold-style-cast -Woverloaded-virtual
  $<$<BOOL:${SHOAL_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(shoal_warnings INTERFACE -Wno-restrict)  # false at -O3 for every "text" + std::string: GCC bug 105651
endif()
if(SHOAL_ENABLE_FAULTS)
  target_compile_definitions(shoal_options INTERFACE SHOAL_ENABLE_FAULTS=1)
endif()
if(SHOAL_SANITIZE)
  target_compile_options(shoal_options INTERFACE -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(shoal_options INTERFACE -fsanitize=${SHOAL_SANITIZE})
endif()
find_program(SHOAL_CCACHE ccache)
if(SHOAL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHOAL_CCACHE})
endif()

# shoal_module(NAME name [SOURCES …] [PUBLIC targets …] [PRIVATE targets …])
# One library per module, `shoal_<name>` inside and `shoal::<name>` outside. The sources are the module's
# *.cpp in the current folder unless listed. The links are the rows of the include table in
# docs/architecture.md; tests/tools/include_table.py fails on any other include line.
function(shoal_module)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    list(FILTER arg_SOURCES EXCLUDE REGEX "main\\.cpp$")
  endif()
  set(target shoal_${arg_NAME})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(shoal::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/shoal>)
  target_link_libraries(${target} PUBLIC shoal_options ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:shoal_warnings> ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY SHOAL_MODULES ${target})
endfunction()

# shoal_executable(NAME name SOURCES … LINK targets …)
function(shoal_executable)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINK" ${ARGN})
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE shoal_options shoal_warnings ${arg_LINK})
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# shoal_unit_test(module target…): tests/unit/<module>/*_test.cpp as one program, each TEST a ctest entry.
function(shoal_unit_test module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/${module}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  shoal_executable(NAME unit_${module} SOURCES ${sources} LINK ${ARGN} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(unit_${module} TEST_PREFIX "unit/${module}/" PROPERTIES TIMEOUT 300 DISCOVERY_TIMEOUT 60)
endfunction()
