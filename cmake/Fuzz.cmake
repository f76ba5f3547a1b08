# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: LEVEE_FUZZ counts the edges that an input takes through every one of Levee's files.
# Their preset leaves LEVEE_WERROR off: only GCC's warnings count, in the other builds.
if(NOT LEVEE_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "LEVEE_FUZZ needs clang, whose runtime has the fuzzing engine")
endif()
# The check of virtual tables is off here. It opens a pipe for each object that it has not seen,
# which takes most of a run's time; the tests make this check.
# An edge counts as work, too (trace-pc; tests/fuzz/work_count.h).
add_compile_options(-fsanitize=fuzzer-no-link -fsanitize-coverage=trace-pc -fno-sanitize=vptr)

# levee_fuzz(<name> <target>...) declares the fuzz target over tests/fuzz/<name>.cc with the targets
# that it links.
add_custom_target(fuzz_targets)
function(levee_fuzz name)
  add_executable(${name} ${name}.cc)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARGN} fuzz_work levee_warnings)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer -Wl,--wrap=__sanitizer_cov_trace_pc)
  add_dependencies(fuzz_targets ${name})
endfunction()
