// SPDX-License-Identifier: Apache-2.0
// The file descriptors that this process may have (RLIMIT_NOFILE).
#pragma once

#include <cstdint>

namespace levee::net {

// Raises the soft limit as far as the process may: to the hard one. Some systems set it to 1024
// only for the sake of programs that use select.
void RaiseDescriptorLimit();

// Makes room for as many descriptors as a busy sidecar has, 4096, or for all that the limit allows:
// 33 KiB of the kernel's memory. Otherwise the kernel doubles its table as connections come, and in
// a process of several threads the one that takes a connection then waits 5 to 20 ms (for RCU). So
// this comes before the first thread.
void ReserveDescriptorTable();

// Returns how many descriptors callers' connections and tunnels may take of `limit`. The rest is
// for upstreams, name servers, probes, logs and reloads: an eighth, at least 64 and at most 1024,
// but never more than a third.
int64_t DescriptorsForCallers(int64_t limit);

// Returns the least limit with which a sidecar of so many workers starts and serves a few callers.
// `workers`: at least 1.
int64_t DescriptorsNeeded(int workers);

// Returns the least limit with which this process, as it is now, could take a few more callers; 0
// if the limit that it has lets it take one.
int64_t DescriptorsMissing();

// Returns the soft limit.
int64_t DescriptorLimit();

// Whether a descriptor that was just opened for a caller belongs to the rest. The kernel gives the
// lowest number that is free, so all lower ones are in use.
bool IsReserved(int descriptor);

}  // namespace levee::net
