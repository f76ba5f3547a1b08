// SPDX-License-Identifier: Apache-2.0
#include "sidecar/shared_limit.h"

#include "rls/limit_service.h"

namespace levee {
namespace {

// As the configuration has them.
std::string NameOf(StoreAway away) {
  switch (away) {
    case StoreAway::kAllow:
      return "allow";
    case StoreAway::kDeny:
      return "deny";
    case StoreAway::kLast:
      break;
  }
  return "last";
}

}  // namespace

LeaseState StateOf(PermitLease::State state) {
  switch (state) {
    case PermitLease::State::kLeased:
      return LeaseState::kLeased;
    case PermitLease::State::kStale:
      return LeaseState::kStale;
    case PermitLease::State::kFallback:
      break;
  }
  return LeaseState::kFallback;
}

LimitView ShownLimit(const std::string& policy, const RateLimitPolicy& limit,
                     const RateLimiter::View& view) {
  const SharedRate& shared = *limit.shared;
  LimitView shown;
  shown.policy = policy;
  shown.limit = limit.name;
  shown.store = shared.service.has_value()
                    ? LimitService::AddressText(shared.service->host, shared.service->port)
                    : shared.store;
  shown.on_failure = NameOf(shared.away);
  shown.state = StateOf(view.state);
  shown.keys = view.keys;
  const bool leased = view.state == PermitLease::State::kLeased;
  if (view.holding.has_value()) shown.permits_left = view.holding->permits_left;
  if (leased) {
    shown.per_second = view.granted_per_second;
  } else if (view.holding.has_value() && shared.away == StoreAway::kLast) {
    shown.per_second = view.holding->own_rate;
  }
  return shown;
}

}  // namespace levee
