// SPDX-License-Identifier: Apache-2.0
// The lines that the demo prints, as a terminal shows them.
#pragma once

#include <regex>
#include <string>

namespace levee::demo {

inline std::string WithoutColours(const std::string& line) {
  return std::regex_replace(line, std::regex("\x1b\\[[0-9;]*m"), "");
}

// Code points: everything but the second and later bytes of UTF-8.
inline size_t Columns(const std::string& line) {
  size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

}  // namespace levee::demo
