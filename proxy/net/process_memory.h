// The memory of this process as the operating system counts it.
#pragma once

namespace levee::net {

// Unmaps the pages of program and library code that are in memory now; those that are needed again
// come back from the page cache one by one. Called when the start or a reload is over: static
// initialisation and the reading of the configuration run through a large part of a statically
// linked program that serving calls does not touch, and that would stay in the resident set.
void ReleaseCodePages();

}  // namespace levee::net
