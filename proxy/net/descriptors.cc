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

int64_t ToInt(rlim_t limit) {
  constexpr rlim_t kMost = std::numeric_limits<int>::max();
  return static_cast<int64_t>(std::min(limit, kMost));
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

int64_t DescriptorLimit() { return ToInt(Limits().rlim_cur); }

int64_t MaxDescriptorLimit() { return ToInt(Limits().rlim_max); }

bool IsReserved(int descriptor) { return descriptor >= DescriptorsForCallers(DescriptorLimit()); }

}  // namespace levee::net
