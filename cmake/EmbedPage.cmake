# SPDX-License-Identifier: Apache-2.0
# Run as a script: writes the C++ source OUTPUT that holds the files named in PAGE/files.txt. They
# are raw string literals, which compile much faster than lists of numbers.
cmake_minimum_required(VERSION 3.25)

file(WRITE ${OUTPUT}.new [[
// Written by cmake/EmbedPage.cmake.
#include "admin/page.h"

#include <array>

namespace levee {
namespace {

using namespace std::string_view_literals;

constexpr std::array kFiles = {
]])

file(STRINGS ${PAGE}/files.txt entries REGEX "^/")
foreach(entry IN LISTS entries)
  if(NOT entry MATCHES "^([^ ]+) +([^ ]+) +([^ ]+)$")
    message(FATAL_ERROR "${PAGE}/files.txt: not a path, a type and a file: ${entry}")
  endif()
  set(path ${CMAKE_MATCH_1})
  set(type ${CMAKE_MATCH_2})
  set(file ${CMAKE_MATCH_3})
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${PAGE})
  if(NOT type MATCHES "^image/")
    string(APPEND type "; charset=utf-8")
  endif()
  file(READ ${file} bytes)
  string(FIND "${bytes}" ")levee\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} holds the mark that ends a literal: )levee\"")
  endif()
  file(APPEND ${OUTPUT}.new "    PageFile{\"${path}\", \"${type}\", R\"levee(${bytes})levee\"sv},\n")
endforeach()

file(APPEND ${OUTPUT}.new [[
};

}  // namespace

std::span<const PageFile> PageFiles() { return kFiles; }

}  // namespace levee
]])
file(RENAME ${OUTPUT}.new ${OUTPUT})
