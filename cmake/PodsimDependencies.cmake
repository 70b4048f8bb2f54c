# SPDX-License-Identifier: Apache-2.0
# Everything from outside, found once, by podsim itself and by projects that add a kernel. Packages: tools/setup.

find_package(PkgConfig REQUIRED)
# Debian ships no CMake config for SystemC; a SystemC 3 install brings SystemCLanguageConfig instead.
pkg_check_modules(SystemC REQUIRED IMPORTED_TARGET GLOBAL systemc>=2.3.4)
if(NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SystemC)
  # The library is built as C++17; without this its API-version check fails to link from C++20.
  target_compile_definitions(SystemC::systemc INTERFACE SC_CPLUSPLUS=201703L)
endif()

pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET GLOBAL jemalloc>=5)
if(NOT TARGET jemalloc::jemalloc)
  add_library(jemalloc::jemalloc ALIAS PkgConfig::jemalloc)
endif()

find_package(fmt 9 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem) # headers: graph, container, process, asio
find_package(Threads REQUIRED) # asio
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(valijson REQUIRED)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
# libcsv ships neither a CMake config nor a .pc file.
find_path(LIBCSV_INCLUDE_DIR csv.h REQUIRED)
find_library(LIBCSV_LIBRARY csv REQUIRED)
if(NOT TARGET libcsv::libcsv)
  add_library(libcsv::libcsv UNKNOWN IMPORTED GLOBAL)
  set_target_properties(libcsv::libcsv PROPERTIES
    IMPORTED_LOCATION "${LIBCSV_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBCSV_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LIBCSV_INCLUDE_DIR}")
endif()

# Third-party headers are not ours to warn about.
foreach(target fmt::fmt Boost::headers Boost::filesystem nlohmann_json::nlohmann_json CLI11::CLI11 valijson)
  get_target_property(dirs ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(dirs)
    set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${dirs}")
  endif()
endforeach()
