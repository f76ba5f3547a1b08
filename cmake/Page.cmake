# SPDX-License-Identifier: Apache-2.0
# Puts the files of the page into levee_admin. proxy/admin/page/files.txt says which.
set(page ${CMAKE_SOURCE_DIR}/proxy/admin/page)
set(page_embed ${CMAKE_CURRENT_LIST_DIR}/EmbedPage.cmake)
set(page_source ${CMAKE_BINARY_DIR}/page/page_files.cc)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page}/files.txt)
file(STRINGS ${page}/files.txt entries REGEX "^/")
set(page_inputs ${page}/files.txt)
foreach(entry IN LISTS entries)
  string(REGEX REPLACE "^.* " "" file "${entry}")
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${page})
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is missing; Debian has it in the package libjs-dygraphs")
  endif()
  list(APPEND page_inputs ${file})
endforeach()

add_custom_command(OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D OUTPUT=${page_source} -P ${page_embed}
  DEPENDS ${page_inputs} ${page_embed} COMMENT "Embedding the page" VERBATIM)
target_sources(levee_admin PRIVATE ${page_source})
