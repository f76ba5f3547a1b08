// SPDX-License-Identifier: Apache-2.0
// The memory of this process as the operating system counts it.
#pragma once

#include <string_view>

namespace levee::net {

// Does nothing while a debugger is attached, and after KeepCodePages: a breakpoint is a page of
// code that somebody has written to, and it would be lost.
//
// Unmaps the pages of program and library code that are in memory now; those that are needed again
// come back from the page cache one by one. Called when the start or a reload is over: static
// initialisation and the reading of the configuration run through a large part of a statically
// linked program that serving calls does not touch, and that would stay in the resident set.
void ReleaseCodePages();

// From now on ReleaseCodePages does nothing. Any thread.
void KeepCodePages();

// Whether /proc/self/status, which is `status`, says that a debugger is attached.
bool IsTraced(std::string_view status);

}  // namespace levee::net
