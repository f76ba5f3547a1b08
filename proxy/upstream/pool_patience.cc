// SPDX-License-Identifier: Apache-2.0
// How calls wait in a pool of which nothing can be reached yet (ConnectPolicy::connect_wait).
#include <algorithm>

#include "upstream/pool.h"

namespace levee {

bool Pool::OnlySelf() const {
  return !members_.empty() && std::all_of(members_.begin(), members_.end(), [](const auto& member) {
    return member.second.endpoint->state() == Endpoint::State::kSelf;
  });
}

// Whether a user for which there is no endpoint waits on: it may, and the reason is not that the
// endpoints that can be reached are forbidden to it.
bool Pool::Holds(StreamUser& user) {
  if (now() >= user.patient_until || OnlySelf() || MayServe({})) return false;
  if (user.place == nullptr) {
    if (!policy_.waiting->Take()) {
      io_.series.limit_hits[Limit::kWaitingCalls].Add();
      return false;
    }
    user.place = policy_.waiting;
    user.held_since = now();
  }
  gate_.OnHeld();
  patient_until_ = std::min(patient_until_, user.patient_until);
  return true;
}

int Pool::ActiveCalls() const {
  int active = 0;
  for (const auto& [id, member] : members_) active += member.endpoint->condition().active;
  return active;
}

}  // namespace levee
