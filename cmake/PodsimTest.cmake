# SPDX-License-Identifier: Apache-2.0
# podsim_test(layer SOURCES a.cpp ... LINKS target ...): one Catch2 executable `test_<layer>`, each test
# case of it a ctest test named `<layer>.<test case>`. LINKS names the podsim libraries under test.

find_package(Catch2 2 REQUIRED CONFIG)
include(Catch)
set_target_properties(Catch2::Catch2 PROPERTIES
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "$<TARGET_PROPERTY:Catch2::Catch2,INTERFACE_INCLUDE_DIRECTORIES>")
set(PODSIM_TEST_TIMEOUT 300 CACHE STRING "Seconds one test case may take")

function(podsim_test layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  set(target test_${layer})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE podsim_test_main podsim_test_support ${ARG_LINKS})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  catch_discover_tests(${target} TEST_PREFIX "${layer}."
    PROPERTIES TIMEOUT ${PODSIM_TEST_TIMEOUT} LABELS ${layer})
endfunction()
