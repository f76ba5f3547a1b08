# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, build types, sanitizers, and the tools that make builds fast.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Line tables in every build: a crash in production, a profile and a sanitizer report all need
# them, and full debug information would make building and linking twice as slow.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS")

# GCC does not look for garbage of its own before its heap has so many KiB, and most files end before
# that. Building takes a sixth less time of the processors, and each compiler 75 MB more.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=262144)
endif()

# Linked only into Levee's own code, never into generated code. Designated initialisers leave fields
# to their defaults on purpose, so the warning about missing ones is off.
add_library(levee_warnings INTERFACE)
target_compile_options(levee_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi
  -Wimplicit-fallthrough -Wunused -Wcast-qual -Wformat=2 -Wvla
  -Wno-missing-field-initializers
  -Werror=switch  # in every build: without it an enum's value could lack a name (base/enum_values.h)
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  $<$<BOOL:${LEVEE_WERROR}>:-Werror>)

if(LEVEE_SANITIZE)
  add_compile_options(-fsanitize=${LEVEE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LEVEE_SANITIZE})
  # These checks are at every use of a pointer, and building without them takes a quarter less time.
  # The address sanitizer ends a program that uses a null pointer, too, and the fuzz targets, which
  # Clang builds, have all checks.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,alignment,object-size>)
  # The instrumentation hides initialisations from GCC's data flow analysis.
  target_compile_options(levee_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# Most of what a file costs to compile are its headers. So the files of a target are compiled several
# at a time: eight, and all in the builds of the sanitizers, where nobody waits for a single file. A
# name in an unnamed namespace must therefore be the only one in its folder. The fuzz targets, and what
# clang-tidy reads, are compiled file by file, so a file that forgets an #include fails there.
option(LEVEE_UNITE "Compile several files at a time, where speed does not depend on it" ON)
if(LEVEE_UNITE AND LEVEE_SANITIZE)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
endif()
function(levee_unite target)
  if(LEVEE_UNITE AND NOT LEVEE_SANITIZE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

find_program(LEVEE_MOLD mold)
if(LEVEE_MOLD AND NOT LEVEE_PROFILED)  # Debian's mold aborts on some of GCC's LTO objects.
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed)

find_program(LEVEE_CCACHE ccache)
if(LEVEE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without its folder and language, so that clones and the image's build share results; without
  # the other sloppiness nothing that uses a precompiled header would be cached.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,locale ${LEVEE_CCACHE})
endif()
