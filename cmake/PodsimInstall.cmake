# SPDX-License-Identifier: Apache-2.0
# The program, and what an out-of-tree kernel needs: libraries, headers, the CMake package. Usable from the build
# tree as well: -Dpodsim_DIR=<build folder>.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY PODSIM_LIBRARIES)
foreach(library ${libraries})
  string(REGEX REPLACE "^podsim_" "" export_name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${export_name})
endforeach()
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/podsim")
install(TARGETS podsim RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ${libraries} EXPORT podsimTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/podsim"
  OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}/podsim")
install(EXPORT podsimTargets NAMESPACE podsim:: DESTINATION "${package_dir}")
export(EXPORT podsimTargets NAMESPACE podsim:: FILE "${PROJECT_BINARY_DIR}/podsimTargets.cmake")
foreach(layer models algorithms sim)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${layer}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/podsim"
    FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs" "${PROJECT_SOURCE_DIR}/tools/kernel-template"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/podsim")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/podsimConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/podsimConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/podsimConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
foreach(file PodsimDependencies PodsimKernel)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${file}.cmake" "${PROJECT_BINARY_DIR}/${file}.cmake" COPYONLY)
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/podsimConfig.cmake" "${PROJECT_BINARY_DIR}/podsimConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/PodsimDependencies.cmake" "${CMAKE_CURRENT_LIST_DIR}/PodsimKernel.cmake"
  DESTINATION "${package_dir}")
