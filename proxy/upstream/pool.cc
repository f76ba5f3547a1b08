#include "upstream/pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

// Attempts that one worker's destination may have waiting for a connection.
constexpr size_t kMaxWaiting = 4096;

bool Contains(std::span<const int64_t> list, int64_t endpoint) {
  return std::find(list.begin(), list.end(), endpoint) != list.end();
}

}  // namespace

Pool::Pool(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
           UpstreamSeries& series, WorkerSeries& worker_series, const std::vector<Target>& targets)
    : io_(io), worker_series_(worker_series), next_(random.Below(targets.size())) {
  for (const Target& target : targets) {
    endpoints_.push_back(std::make_unique<Endpoint>(io, resolver, policy, random, series,
                                                    static_cast<EndpointOwner&>(*this), target.host,
                                                    target.port));
  }
}

void Pool::Open(StreamUser& user, std::span<const int64_t> avoid,
                std::span<const int64_t> forbidden) {
  if (!connected_) {
    connected_ = true;
    for (const auto& endpoint : endpoints_) endpoint->Connect();
  }
  user.forbidden.assign(forbidden.begin(), forbidden.end());
  if (waiting_.empty() && TryOpen(user, avoid, forbidden)) return;
  user.avoid.assign(avoid.begin(), avoid.end());
  waiting_.PushBack(user);
  io_.AtTurnEnd(*this);
}

bool Pool::TryOpen(StreamUser& user, std::span<const int64_t> avoid,
                   std::span<const int64_t> forbidden) {
  int avoided = -1;
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const int at = static_cast<int>((next_ + i) % endpoints_.size());
    if (Contains(forbidden, at)) continue;
    const bool avoid_it = Contains(avoid, at);
    if (avoid_it && avoided >= 0) continue;
    UpstreamConnection* connection = endpoints_[at]->FindSlot();
    if (connection == nullptr) continue;
    if (avoid_it) {
      avoided = at;
      continue;
    }
    next_ = static_cast<size_t>(at) + 1;
    user.OnOpened(connection->Open(user), at);
    return true;
  }
  if (avoided < 0) return false;
  user.OnOpened(endpoints_[avoided]->FindSlot()->Open(user), avoided);
  return true;
}

bool Pool::AnyUsable(std::span<const int64_t> forbidden) const {
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    if (endpoints_[i]->usable() && !Contains(forbidden, static_cast<int64_t>(i))) return true;
  }
  return false;
}

bool Pool::HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const {
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at != endpoint && endpoints_[i]->usable() && !Contains(forbidden, at)) return true;
  }
  return false;
}

std::string Pool::Failure() const {
  // Of several endpoints the first stands for all: they are tried alike.
  const std::string& reason = endpoints_[0]->failure();
  return absl::StrCat("cannot connect to ", endpoints_[0]->name(),
                      endpoints_.size() > 1 ? " or any other endpoint" : "", ": ", reason);
}

void Pool::OnEndpointChanged(Endpoint&) {
  if (!waiting_.empty()) io_.AtTurnEnd(*this);
}

void Pool::OnTurnEnd() {
  // What cannot be served goes back in the order in which it came.
  IntrusiveList<StreamUser> waiting;
  while (StreamUser* user = waiting_.PopFront()) waiting.PushBack(*user);
  const bool to_self = std::all_of(endpoints_.begin(), endpoints_.end(), [](const auto& endpoint) {
    return endpoint->state() == Endpoint::State::kSelf;
  });
  size_t kept = 0;
  while (StreamUser* user = waiting.PopFront()) {
    if (TryOpen(*user, user->avoid, user->forbidden)) continue;
    if (!AnyUsable(user->forbidden)) {
      if (to_self) worker_series_.rejects[Reject::kLoop].Add();
      user->OnOpenFailed(Failure(), to_self);
    } else if (++kept > kMaxWaiting) {
      worker_series_.limit_hits[Limit::kPendingAttempts].Add();
      user->OnOpenFailed("too many calls wait for a connection", false);
    } else {
      waiting_.PushBack(*user);
    }
  }
  if (kept == 0) return;
  for (const auto& endpoint : endpoints_) endpoint->ConnectAnother();
}

void Pool::Close() {
  for (const auto& endpoint : endpoints_) endpoint->Close();
}

}  // namespace levee
