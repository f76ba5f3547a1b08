# Puts the files of the page into levee_admin. proxy/admin/page/files.txt says which; the libraries
# among them come from npm by `make deps`, so that no build needs a network.
set(page ${CMAKE_SOURCE_DIR}/proxy/admin/page)
set(page_embed ${CMAKE_CURRENT_LIST_DIR}/EmbedPage.cmake)
set(page_source ${CMAKE_BINARY_DIR}/page/page_files.cc)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page}/files.txt)
file(STRINGS ${page}/files.txt entries REGEX "^/")
set(page_inputs ${page}/files.txt)
foreach(entry IN LISTS entries)
  string(REGEX REPLACE "^.* " "" file "${entry}")
  if(NOT EXISTS ${page}/${file})
    message(FATAL_ERROR "${page}/${file} is missing; run `make deps`")
  endif()
  list(APPEND page_inputs ${page}/${file})
endforeach()

add_custom_command(OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D OUTPUT=${page_source} -P ${page_embed}
  DEPENDS ${page_inputs} ${page_embed} COMMENT "Embedding the page" VERBATIM)
target_sources(levee_admin PRIVATE ${page_source})
