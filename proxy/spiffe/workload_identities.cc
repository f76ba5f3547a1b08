// SPDX-License-Identifier: Apache-2.0
#include "spiffe/workload_identities.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace levee {

std::shared_ptr<const tls::Svid> WorkloadIdentities::Get(const std::string& socket) {
  std::shared_ptr<SvidFeed> feed;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<SvidFeed>& known = feeds_[socket];
    if (known == nullptr) {
      known = std::make_shared<SvidFeed>(socket, log_, [this] { Changed(); });
    }
    feed = known;
  }
  return feed->Get(kPatience);
}

void WorkloadIdentities::OnChange(std::function<void()> changed) {
  {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
  }
  Changed();
}

void WorkloadIdentities::Changed() {
  const std::lock_guard lock(mutex_);
  if (changed_ != nullptr) changed_();
}

std::map<std::string, std::string> WorkloadIdentities::Faults() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> faults;
  for (const auto& [socket, feed] : feeds_) {
    if (std::string fault = feed->fault(); !fault.empty()) faults[socket] = std::move(fault);
  }
  return faults;
}

// Feeds end without the lock, since their threads take it.
void WorkloadIdentities::Keep(const std::vector<std::string>& sockets) {
  Feeds gone;
  const std::lock_guard lock(mutex_);
  for (auto feed = feeds_.begin(); feed != feeds_.end();) {
    const auto next = std::next(feed);
    if (!absl::c_linear_search(sockets, feed->first)) gone.insert(feeds_.extract(feed));
    feed = next;
  }
}

void WorkloadIdentities::Stop() {
  Feeds gone;
  const std::lock_guard lock(mutex_);
  changed_ = nullptr;
  gone.swap(feeds_);
}

}  // namespace levee
