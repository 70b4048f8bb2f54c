# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=build_tree|install_prefix … -P: builds tools/kernel-template out of tree and uses the program.
cmake_minimum_required(VERSION 3.25)

# expect(code command …): runs it, its exit code must be that; OUT and ERR are what it said.
macro(expect code)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE OUT ERROR_VARIABLE ERR)
  if(NOT result EQUAL ${code})
    message(FATAL_ERROR "expected exit ${code}, got ${result}: ${ARGN}\n${OUT}\n${ERR}")
  endif()
endmacro()
# value(variable key …): that member of the JSON document in OUT.
macro(value variable)
  string(JSON ${variable} GET "${OUT}" ${ARGN})
endmacro()
macro(must_be found wanted)
  if(NOT "${found}" STREQUAL "${wanted}")
    message(FATAL_ERROR "expected ${wanted}, found ${found}")
  endif()
endmacro()

file(REMOVE_RECURSE "${WORK_DIR}")
file(COPY "${SOURCE_DIR}/tools/kernel-template" DESTINATION "${WORK_DIR}")
set(kernel "${WORK_DIR}/kernel-template")
set(package "${BUILD_DIR}")
if(FROM STREQUAL "install_prefix")
  expect(0 "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
  file(GLOB package "${WORK_DIR}/prefix/lib*/cmake/podsim" "${WORK_DIR}/prefix/lib/*/cmake/podsim")
  expect(0 "${WORK_DIR}/prefix/bin/podsim" --version)
endif()
expect(0 "${CMAKE_COMMAND}" -S "${kernel}" -B "${WORK_DIR}/build" -G "${GENERATOR}" "-Dpodsim_DIR=${package}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
expect(0 "${CMAKE_COMMAND}" --build "${WORK_DIR}/build")

set(podsim "${WORK_DIR}/build/my_podsim")
set(config "${kernel}/run.json" --set "/machine=${SOURCE_DIR}/configs/machines/atlas_a3_pod.json")
# Right: every byte, several calls, both row types, cores to spare and cores missing.
foreach(sets
    "" "/calls=3" "/workload/quant=none" "/algorithm/aiv_cores=1" "/workload/routing/kind=hot;/calls=2"
    "/cards=18;/workload/experts=36;/algorithm/aiv_cores=7")
  set(arguments)
  foreach(set ${sets})
    list(APPEND arguments --set "${set}")
  endforeach()
  expect(0 "${podsim}" run ${config} ${arguments} --json)
  value(status status)
  must_be("${status}" ok)
  value(hazards hazards)
  must_be("${hazards}" "[]")
endforeach()
expect(0 "${podsim}" run ${config} --json --out "${WORK_DIR}/mine")
value(rows functional rows)
must_be("${rows}" 256) # 8 cards x 8 tokens x 4 experts
# Wrong: nothing holds flags back until rows are there, whether they are late or happen to be in time.
foreach(late "0" "20us")
  expect(4 "${podsim}" run ${config} --set /algorithm/options/wait_for_rows=false
    --set "/machine/hccs/extra_reorder=${late}" --json)
  value(status status)
  must_be("${status}" mismatch)
endforeach()
# It does not say what it needs of the Unified Buffer: too much is found out by the run.
expect(4 "${podsim}" run ${config} --set /machine/core/ub_bytes=8192 --json)
value(failure failure)
must_be("${failure}" broken_rule)
# What it does not serve is refused before it starts.
foreach(command check run)
  expect(2 "${podsim}" ${command} ${config} --set /workload/shared_experts=1 --set /workload/shared_expert_cards=1
    --set /cards=9)
  if(NOT ERR MATCHES "/workload/shared_experts: expected 0: kernel my_dispatch serves no shared experts, found 1")
    message(FATAL_ERROR "shared experts are not refused: ${ERR}")
  endif()
endforeach()
# The other commands know it too, and podsim's own kernels are still there.
expect(0 "${podsim}" check ${config})
expect(2 "${podsim}" check ${config} --set /algorithm/name=my_dispatc)
if(NOT ERR MATCHES "nearest valid name: my_dispatch")
  message(FATAL_ERROR "no hint at the kernel: ${ERR}")
endif()
expect(0 "${podsim}" run ${config} --set /algorithm/name=baseline --json --out "${WORK_DIR}/baseline")
expect(0 "${podsim}" compare "${WORK_DIR}/baseline" "${WORK_DIR}/mine" --json)
value(name b algorithm)
must_be("${name}" my_dispatch)
file(WRITE "${WORK_DIR}/sweep.json" "{\"schema\": \"podsim.sweep/1\", \"base\": \"mine/config.json\", \"axes\": [
  {\"name\": \"wait\", \"pointer\": \"/algorithm/options/wait_for_rows\", \"values\": [true]}]}")
expect(0 "${podsim}" sweep "${WORK_DIR}/sweep.json" --out "${WORK_DIR}/sweep")
if(NOT OUT MATCHES "1 points: 1 ok")
  message(FATAL_ERROR "the sweep failed: ${OUT} ${ERR}")
endif()
