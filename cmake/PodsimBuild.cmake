# SPDX-License-Identifier: Apache-2.0
# How every target of podsim is built.

option(PODSIM_WERROR "Treat warnings as errors (CI)" OFF)
option(PODSIM_COVERAGE "Count executed lines (gcov)" OFF)
set(PODSIM_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PODSIM_CCACHE ccache)
  if(PODSIM_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PODSIM_CCACHE}")
  endif()
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# Out-of-tree kernels (podsim_add_kernel) choose their own warnings.
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> # g++ 12 sees overlaps in std::string that are not there (PR 105651)
  $<$<BOOL:${PODSIM_WERROR}>:-Werror>)
set(outside "$<BOOL:$<TARGET_PROPERTY:PODSIM_OUTSIDE>>")
set(installed_headers "$<INSTALL_PREFIX>/include/podsim")

add_library(podsim_build INTERFACE)
target_compile_features(podsim_build INTERFACE cxx_std_20)
target_include_directories(podsim_build INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/podsim>")
target_compile_options(podsim_build INTERFACE
  "$<$<NOT:${outside}>:${warnings}>"
  -ffp-contract=off # same bits on every machine
  # Nobody replaces our functions at load time: g++ may inline them in position-independent code too.
  -fno-semantic-interposition
  # source_location says models/…, wherever the checkout is
  "$<BUILD_INTERFACE:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>"
  "$<INSTALL_INTERFACE:-fmacro-prefix-map=${installed_headers}/=>")
set_property(GLOBAL APPEND PROPERTY PODSIM_LIBRARIES podsim_build)

if(PODSIM_SANITIZE)
  target_compile_options(podsim_build INTERFACE -fsanitize=${PODSIM_SANITIZE} -fno-omit-frame-pointer
    -Wno-maybe-uninitialized) # g++ 12 sees ghosts in instrumented code
  target_link_options(podsim_build INTERFACE -fsanitize=${PODSIM_SANITIZE})
endif()
if(PODSIM_COVERAGE)
  target_compile_options(podsim_build INTERFACE --coverage)
  target_link_options(podsim_build INTERFACE --coverage)
endif()

# podsim_library(name [OBJECTS] SOURCES a.cpp ... LINKS target ...): a library with the house's rules, static or, with
# OBJECTS, one that goes into a program whole: kernels register themselves, and the linker would drop them from an archive.
# LINKS are PUBLIC: they are exactly the layers its headers may use (checked by tools/check_layers).
function(podsim_library name)
  cmake_parse_arguments(ARG "OBJECTS" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(ARG_OBJECTS)
    set(type OBJECT)
  else()
    set(type STATIC)
  endif()
  add_library(${name} ${type} ${ARG_SOURCES})
  string(REPLACE "podsim_" "podsim::" alias ${name})
  add_library(${alias} ALIAS ${name})
  target_link_libraries(${name} PUBLIC podsim_build ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY PODSIM_LIBRARIES ${name})
endfunction()
