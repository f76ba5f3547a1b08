# SPDX-License-Identifier: Apache-2.0
# Hands the version and the commit to the one file that shows them. They are definitions of that
# file only, so a new commit recompiles one file.
set(commit "${LEVEE_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if(result)
    set(commit "unknown")
  endif()
  if(EXISTS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
      ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()
set_source_files_properties(proxy/cli/version.cc PROPERTIES
  COMPILE_DEFINITIONS "LEVEE_VERSION=\"${PROJECT_VERSION}\";LEVEE_COMMIT=\"${commit}\"")
