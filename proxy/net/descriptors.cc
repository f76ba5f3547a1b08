// SPDX-License-Identifier: Apache-2.0
#include "net/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace levee::net {
namespace {

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
