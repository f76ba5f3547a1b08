// SPDX-License-Identifier: Apache-2.0
#include "net/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace levee::net {
namespace {

constexpr int64_t kReservedTable = 4096;

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
  const int64_t reserve = std::min(std::clamp<int64_t>(limit / 8, 64, 1024), limit / 2);
  return limit - reserve;
}

int64_t DescriptorLimit() {
  constexpr rlim_t kMost = std::numeric_limits<int>::max();  // of unlimited ones
  return static_cast<int64_t>(std::min(Limits().rlim_cur, kMost));
}

bool IsReserved(int descriptor) { return descriptor >= DescriptorsForCallers(DescriptorLimit()); }

}  // namespace levee::net
