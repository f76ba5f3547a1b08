// The memory of this process as the operating system counts it.
#pragma once

namespace levee::net {

// Unmaps the pages of program and library code that are in memory now; those that are needed again
// come back from the page cache one by one. Called once after start-up: static initialisation and
// the reading of the configuration run through a large part of a statically linked program that
// serving calls never touches again, and that would stay in the resident set for good.
void ReleaseStartupPages();

}  // namespace levee::net
