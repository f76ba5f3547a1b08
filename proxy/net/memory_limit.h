// SPDX-License-Identifier: Apache-2.0
// How much memory this process has, and how much it may have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace levee::net {

// Returns how many bytes of memory are this process's own: what malloc has given out, and what it
// has been given back and still keeps. Takes some microseconds. Under a sanitizer, which needs much
// memory itself, 0. Any thread.
int64_t OwnBytes();

// Gives what malloc keeps back to the system. Takes up to some milliseconds. Any thread.
void GiveMemoryBack();

// Returns how many bytes this process may use: the least of the limits of its cgroup, of the
// cgroups above it, and of the machine's memory. 0 if none of these can be read. Any thread.
int64_t MemoryLimit();

// Returns the same of another system. `file` returns the content of a file, "" if there is none.
int64_t MemoryLimit(const std::function<std::string(const std::string&)>& file);

}  // namespace levee::net
