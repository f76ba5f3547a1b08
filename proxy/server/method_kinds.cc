// SPDX-License-Identifier: Apache-2.0
#include "server/method_kinds.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"

namespace levee {

PlannedKind MethodKinds::Plan(const UpstreamSpec& upstream, std::string_view path) {
  std::optional<CallKind> described;
  if (upstream.methods != nullptr) described = upstream.methods->KindOf(path);
  if (described.has_value()) {
    return {.method = std::make_shared<MethodKind>(*described), .settled = true};
  }
  const std::lock_guard lock(mutex_);
  const Methods& methods = upstreams_[upstream.name];
  const auto found = methods.find(path);
  if (found != methods.end()) return {.method = found->second, .settled = true};
  return {.method = std::make_shared<MethodKind>()};
}

bool MethodKinds::List(const std::string& upstream, std::string_view path, PlannedKind& plan) {
  if (plan.settled || !plan.method->known()) return true;
  plan.settled = true;
  const std::lock_guard lock(mutex_);
  Methods& methods = upstreams_[upstream];
  const auto found = methods.find(path);
  if (found == methods.end()) {
    if (methods.size() == kMaxMethods || path.size() > kMaxPath) return false;
    methods.emplace(path, plan.method);
  } else if (found->second != plan.method) {
    // Another worker has learnt it meanwhile.
    plan.before = std::exchange(plan.method, found->second);
  }
  return true;
}

void MethodKinds::Keep(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  std::erase_if(upstreams_, [&](const auto& entry) {
    return absl::c_none_of(snapshot.upstreams, [&](const UpstreamSpec& upstream) {
      return upstream.name == entry.first;
    });
  });
}

}  // namespace levee
