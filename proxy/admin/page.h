// SPDX-License-Identifier: Apache-2.0
// The files of the page, which are part of the binary.
#pragma once

#include <span>
#include <string_view>

namespace levee {

struct PageFile {
  std::string_view path;  // "/" is the page itself
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view bytes;
};

// All of them.
std::span<const PageFile> PageFiles();

}  // namespace levee
