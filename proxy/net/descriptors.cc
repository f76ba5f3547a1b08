// SPDX-License-Identifier: Apache-2.0
#include "net/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace levee::net {
namespace {

constexpr int64_t kReservedTable = 4096;

constexpr int64_t kFewCallers = 8;

rlimit Limits() {
  rlimit limits{};
  getrlimit(RLIMIT_NOFILE, &limits);
  return limits;
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limits = Limits();
  limits.rlim_cur = limits.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limits);
}

void ReserveDescriptorTable() {
  const int any = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto last = static_cast<int>(std::min(kReservedTable, DescriptorLimit())) - 1;
  const int highest = fcntl(any, F_DUPFD_CLOEXEC, last);
  if (highest >= 0) close(highest);
  if (any >= 0) close(any);
}

int64_t DescriptorsForCallers(int64_t limit) {
  const int64_t reserve = std::min(std::clamp<int64_t>(limit / 8, 64, 1024), limit / 3);
  return limit - reserve;
}

// A sidecar of one worker that listens has 34 to 40 open, and 9 more for each further worker.
int64_t DescriptorsNeeded(int workers) { return 64 + 16 * int64_t{workers - 1}; }

int64_t DescriptorsMissing() {
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  // Another reason not to open it says nothing about descriptors.
  if (lowest < 0 && errno != EMFILE) return 0;
  if (lowest >= 0) close(lowest);
  if (lowest >= 0 && !IsReserved(lowest)) return 0;
  const int64_t in_use = lowest >= 0 ? lowest : DescriptorLimit();
  int64_t limit = in_use;
  while (DescriptorsForCallers(limit) < in_use + kFewCallers) ++limit;
  return limit;
}

int64_t DescriptorLimit() {
  constexpr rlim_t kMost = std::numeric_limits<int>::max();  // of unlimited ones
  return static_cast<int64_t>(std::min(Limits().rlim_cur, kMost));
}

bool IsReserved(int descriptor) { return descriptor >= DescriptorsForCallers(DescriptorLimit()); }

}  // namespace levee::net
