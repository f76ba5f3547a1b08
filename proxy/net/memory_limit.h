// SPDX-License-Identifier: Apache-2.0
// How much memory this process has, and how much it may have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace levee::net {

// Returns how many bytes malloc has given out, to all threads. It walks through the heap, which
// takes up to a millisecond, so it is for once a second. Under a sanitizer 0. Any thread.
int64_t HeapBytes();

// Returns how many bytes this process may use: the least of the limits of its cgroup, of the
// cgroups above it, and of the machine's memory. 0 if none of these can be read. Any thread.
int64_t MemoryLimit();

// Returns the same of another system. `file` returns the content of a file, "" if there is none.
int64_t MemoryLimit(const std::function<std::string(const std::string&)>& file);

}  // namespace levee::net
