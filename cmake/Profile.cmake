# SPDX-License-Identifier: Apache-2.0
# What is shipped is optimised by what a worker executes often, and across files at link time. A build
# of its own, in profile/ of the build folder, counts what the calls of tests/training/train.cc execute.
# The compiler then takes these counts.

option(LEVEE_PROFILED "Optimise by a training run and at link time; slow to build" OFF)
option(LEVEE_COUNT "Count what is executed, for the training run" OFF)
mark_as_advanced(LEVEE_COUNT)

# The data plane.
set(LEVEE_PROFILED_LAYERS
  base wire policy trace guard dedupe call telemetry insight settings net hpack h2 conn upstream server)
set(LEVEE_PROFILE_DIR ${CMAKE_BINARY_DIR}/profile)

# levee_profile(<target> <folder> <source>...): compiles a layer so that it counts, or by the counts.
function(levee_profile target folder)
  if(NOT folder IN_LIST LEVEE_PROFILED_LAYERS)
    return()
  endif()
  if(LEVEE_COUNT)
    target_compile_options(${target} PRIVATE -fprofile-generate=${CMAKE_BINARY_DIR}/counts
      -fprofile-prefix-path=${CMAKE_BINARY_DIR} -fprofile-update=single)
    target_link_options(${target} INTERFACE -fprofile-generate)
  elseif(LEVEE_PROFILED)
    # What the training leaves out, and that may be a whole file, is compiled as without it and not for
    # size.
    target_compile_options(${target} PRIVATE -fprofile-use=${LEVEE_PROFILE_DIR}/counts
      -fprofile-prefix-path=${CMAKE_BINARY_DIR} -fprofile-partial-training -Wno-missing-profile)
    set_source_files_properties(${ARGN} PROPERTIES OBJECT_DEPENDS ${LEVEE_PROFILE_DIR}/trained)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()

# levee_train_by(<target> <source>...): declares the program that makes the calls.
function(levee_train_by target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE levee_config levee_server levee_warnings)
  include(${CMAKE_SOURCE_DIR}/tests/virtual/wraps.cmake)
  target_link_options(${target} PRIVATE ${LEVEE_VIRTUAL_TIME_WRAPS})
endfunction()

# Must be called when all layers are there.
function(levee_training)
  set(program tests/training/train.cc tests/virtual/session_peer.cc tests/virtual/virtual_time.cc
    tests/virtual/virtual_worker.cc tests/virtual/wire_end.cc)
  if(NOT LEVEE_PROFILED)
    levee_train_by(levee_train ${program})
    return()
  endif()
  include(CheckIPOSupported)
  check_ipo_supported(LANGUAGES CXX)
  # Of a copy into a vector that is empty GCC 12 says at link time that it writes past its end.
  target_link_options(levee PRIVATE -Wno-stringop-overflow)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    CMakeLists.txt cmake/* tests/training/* tests/virtual/* protos/*)
  foreach(folder config ${LEVEE_PROFILED_LAYERS})
    file(GLOB more CONFIGURE_DEPENDS proxy/${folder}/*)
    list(APPEND sources ${more})
  endforeach()
  set(train ${LEVEE_PROFILE_DIR}/levee_train)
  add_custom_command(OUTPUT ${LEVEE_PROFILE_DIR}/trained
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${LEVEE_PROFILE_DIR} -G ${CMAKE_GENERATOR}
      -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -DLEVEE_COUNT=ON -DLEVEE_WITH_GRPC=OFF -DLEVEE_BUILD_TESTS=OFF
    COMMAND ${CMAKE_COMMAND} --build ${LEVEE_PROFILE_DIR} --target levee_train
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${LEVEE_PROFILE_DIR}/counts
    # With other addresses hash tables are filled in another way, and the counts differ a little. Some
    # containers forbid to ask for fixed ones.
    COMMAND sh -c "env --ignore-environment setarch --addr-no-randomize ${train} || ${train}"
    COMMAND ${CMAKE_COMMAND} -E touch ${LEVEE_PROFILE_DIR}/trained
    DEPENDS ${sources}
    COMMENT "Counting what a training run executes" USES_TERMINAL VERBATIM)
  # The layers are built in parallel, and all of them wait for the one run.
  add_custom_target(levee_trained DEPENDS ${LEVEE_PROFILE_DIR}/trained)
  foreach(folder IN LISTS LEVEE_PROFILED_LAYERS)
    add_dependencies(levee_${folder} levee_trained)
  endforeach()
endfunction()
