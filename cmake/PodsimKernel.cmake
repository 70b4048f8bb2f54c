# SPDX-License-Identifier: Apache-2.0
# podsim_add_kernel(name source.cpp ...): the program `name`, which is podsim with the kernels that these sources
# register beside its own. All commands work; sweeps and comparisons run this program.
function(podsim_add_kernel name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE podsim::program podsim::dispatch)
  # source_location says my_kernel.cpp, wherever the checkout is
  target_compile_options(${name} PRIVATE "-fmacro-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=")
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF PODSIM_OUTSIDE ON)
endfunction()
