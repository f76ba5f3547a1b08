# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian 12. Its CMake packages point at shared objects; a program that uses
# gRPC would load 76 of them at each start. So the static archive is taken wherever Debian ships
# one, which leaves prometheus-cpp and the C and C++ runtimes.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(Protobuf_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)  # Before gRPC, whose package file expects its targets.
if(LEVEE_WITH_GRPC)
  find_package(gRPC CONFIG REQUIRED)
endif()
find_package(OpenSSL REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)

# Points every imported target of this directory at `libx.a` where it lies beside `libx.so`.
function(levee_prefer_static_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property IMPORTED_LOCATION_NONE IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE)
      get_target_property(location ${target} ${property})
      if(NOT location MATCHES "^(.*)\\.so[.0-9]*$")
        continue()
      endif()
      set(archive ${CMAKE_MATCH_1}.a)
      if(EXISTS ${archive})
        set_target_properties(${target} PROPERTIES ${property} ${archive})
      endif()
    endforeach()
  endforeach()
endfunction()
levee_prefer_static_archives()

# Declares levee::<name> over a pkg-config module, linked with the archive `file`. The variables of
# the module have a prefix, because the next run of CMake would take a cached `re2_FOUND` for that of
# gRPC's own search, and make no target for it.
function(levee_pkg_config_archive name module file)
  pkg_check_modules(LEVEE_${name} REQUIRED ${module})
  find_library(LEVEE_${name}_ARCHIVE ${file} HINTS ${LEVEE_${name}_LIBDIR} REQUIRED)
  add_library(levee::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(levee::${name} INTERFACE ${LEVEE_${name}_INCLUDE_DIRS})
  target_link_libraries(levee::${name} INTERFACE ${LEVEE_${name}_ARCHIVE} ${ARGN})
endfunction()
levee_pkg_config_archive(uv libuv libuv_a.a Threads::Threads dl rt)
levee_pkg_config_archive(cares libcares libcares.a)
levee_pkg_config_archive(hiredis hiredis libhiredis.a)
levee_pkg_config_archive(re2 re2 libre2.a Threads::Threads)
if(TARGET re2::re2)  # gRPC's, declared by linker flags, so it has no location to change.
  set_target_properties(re2::re2 PROPERTIES INTERFACE_LINK_LIBRARIES ${LEVEE_re2_ARCHIVE})
endif()

# It has neither a CMake package nor a module of pkg-config.
find_library(LEVEE_HTTP_PARSER_ARCHIVE libhttp_parser.a REQUIRED)
find_path(LEVEE_HTTP_PARSER_INCLUDE http_parser.h REQUIRED)
add_library(levee::http_parser INTERFACE IMPORTED GLOBAL)
target_include_directories(levee::http_parser INTERFACE ${LEVEE_HTTP_PARSER_INCLUDE})
target_link_libraries(levee::http_parser INTERFACE ${LEVEE_HTTP_PARSER_ARCHIVE})

# The parts of Abseil that any layer may use. Archives that nothing refers to cost nothing in the
# binary.
set(LEVEE_ABSL absl::base absl::core_headers absl::flat_hash_map absl::flat_hash_set
  absl::inlined_vector absl::span absl::status absl::statusor absl::str_format absl::strings
  absl::time absl::cleanup absl::function_ref absl::any_invocable absl::hash)

if(LEVEE_BUILD_TESTS)
  # The independent peer that the tests put before Levee's own HTTP/2.
  levee_pkg_config_archive(nghttp2 libnghttp2 libnghttp2.a)
  target_compile_definitions(levee::nghttp2 INTERFACE NGHTTP2_STATICLIB)
  find_package(GTest CONFIG REQUIRED)
  find_package(benchmark CONFIG QUIET)
endif()
