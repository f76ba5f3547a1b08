# SPDX-License-Identifier: Apache-2.0
# None of these runs while a call does: they answer a person at a terminal, or read the configuration.
# Compiled with fewer optimisations they are quick enough, and there a third sooner: a new user waits
# for them.
set(LEVEE_UNHURRIED cli config demo doctor fleet import inject)

# levee_layer(<folder> [GRPC] [USES <folder>...] [PRIVATE <folder>...] [LIBS <target>...])
#
# PRIVATE names folders that only the .cc files include; the users of this folder do not see them.
#
# Declares the library levee_<folder> over proxy/<folder>/*.cc. A folder without sources is an
# interface library, so that the table in CMakeLists.txt may name folders before they are written.
function(levee_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC" "" "USES;PRIVATE;LIBS")
  if(arg_GRPC AND NOT LEVEE_WITH_GRPC)
    return()
  endif()
  list(TRANSFORM arg_USES PREPEND levee_)
  list(TRANSFORM arg_PRIVATE PREPEND levee_)
  set(target levee_${folder})
  if(NOT arg_GRPC)
    set_property(GLOBAL APPEND PROPERTY LEVEE_LAYERS_WITHOUT_GRPC ${folder})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proxy/${folder}/*.cc)
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/proxy)
    target_link_libraries(${target} INTERFACE ${arg_USES} ${arg_LIBS})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  # A sanitizer's flavour builds what its tests use.
  if(LEVEE_SANITIZE)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/proxy)
  target_link_libraries(${target} PUBLIC ${arg_USES} ${arg_LIBS}
    PRIVATE ${arg_PRIVATE} levee_warnings)
  # One section per function lets the linker drop functions that nothing calls.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  if(folder IN_LIST LEVEE_UNHURRIED AND NOT LEVEE_PROFILED)
    target_compile_options(${target} PRIVATE -O1)
  endif()
  # GCC inlines less in a large unit, and that costs the simulator a fortieth.
  if(NOT folder IN_LIST LEVEE_PROFILED_LAYERS AND NOT folder MATCHES "^(sim|lab)$")
    levee_unite(${target})
  endif()
  levee_profile(${target} ${folder} ${sources})
  if(arg_GRPC)
    levee_precompile(${target} grpc)
  elseif(levee_protos IN_LIST arg_USES)
    levee_precompile(${target} protobuf)
  else()
    levee_precompile(${target} plain)
  endif()
endfunction()
