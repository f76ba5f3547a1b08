// SPDX-License-Identifier: Apache-2.0
#include "upstream/pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/block_cache.h"
#include "policy/reconnect.h"

namespace levee {
namespace {

// Attempts of one worker that may wait for a connection to one destination: no fewer than the
// streams that one connection of the application may have, so that none of a burst is turned away
// that its channel would have held back.
constexpr size_t kMaxWaiting = 100'000;

}  // namespace

Pool::Pool(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
           UpstreamSeries& series, const std::vector<Target>& targets)
    : io_(io),
      resolver_(resolver),
      policy_(policy),
      random_(random),
      series_(series),
      set_(policy.ejection) {
  SetTargets(targets);
}

Pool::~Pool() = default;

void StreamUser::Withdraw() {
  if (!linked()) return;
  Unlink();
  LeavePlace();
  waits_in->OnWithdrawn();
}

void Pool::OnWithdrawn() {
  if (--queued_ > 0) return;
  for (const auto& name : names_) name->Release();
}

void Pool::Open(StreamUser& user, std::span<const int64_t> avoid,
                std::span<const int64_t> forbidden) {
  if (!started_ || on_demand_) Connect();
  for (const auto& name : names_) name->Use();
  user.forbidden.assign(forbidden.begin(), forbidden.end());
  if (waiting_.empty() && !BlocksUsedUp() && TryOpen(user, avoid, forbidden)) return;
  user.avoid.assign(avoid.begin(), avoid.end());
  user.waits_in = this;
  if (++queued_ > kMaxWaiting) {
    turned_away_.PushBack(user);
  } else {
    waiting_.PushBack(user);
    lost_some_ = lost_some_ || !MayServe(forbidden);
  }
  io_.AtTurnEnd(*this);
}

void Pool::Connect() {
  started_ = true;
  for (const auto& [id, member] : members_) member.endpoint->Connect();
  for (const auto& name : names_) name->Use();
}

bool Pool::TryOpen(StreamUser& user, std::span<const int64_t> avoid,
                   std::span<const int64_t> forbidden) {
  while (const auto id = set_.Choose(avoid, forbidden, user.call, now(), random_)) {
    Endpoint& endpoint = *members_.find(*id)->second.endpoint;
    UpstreamConnection* connection = endpoint.FindSlot();
    if (connection == nullptr) {
      // The peer has just broken the protocol; the connection will be closed.
      Update(endpoint);
      continue;
    }
    h2::Stream& stream = connection->Open(user);
    Update(endpoint);
    ShowEjections();
    user.OnOpened(*connection, stream, *id);
    return true;
  }
  return false;
}

// Whether a user may expect a stream, now or later.
bool Pool::MayServe(std::span<const int64_t> forbidden) const {
  if (set_.AnyUsable(forbidden)) return true;
  const bool returning = policy_.watcher == nullptr && io_.loop.now() < return_until_;
  for (const auto& [id, member] : members_) {
    const Endpoint& endpoint = *member.endpoint;
    const bool expected = returning || (policy_.watcher == nullptr && endpoint.promising());
    if (!expected || endpoint.state() != Endpoint::State::kFailing) continue;
    if (std::find(forbidden.begin(), forbidden.end(), id) == forbidden.end()) return true;
  }
  return std::any_of(names_.begin(), names_.end(),
                     [](const auto& name) { return name->awaited(); });
}

bool Pool::HasOther(int64_t endpoint, std::span<const int64_t> forbidden) const {
  return set_.HasOther(endpoint, forbidden);
}

bool Pool::LeadsToSelf() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    return member.second.endpoint->state() == Endpoint::State::kSelf;
  });
}

bool Pool::AnyReady() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    return member.second.endpoint->state() == Endpoint::State::kReady;
  });
}

std::vector<EndpointView> Pool::View() {
  std::vector<EndpointView> views;
  for (const auto& [id, member] : members_) {
    EndpointView view = member.endpoint->View();
    view.latency = set_.Latency(id, now());
    views.push_back(std::move(view));
  }
  for (const auto& name : names_) {
    const bool has_addresses =
        std::any_of(members_.begin(), members_.end(),
                    [&](const auto& entry) { return entry.second.name == name.get(); });
    if (!has_addresses) views.push_back(name->View());
  }
  return views;
}

int Pool::size() const { return std::max(set_.size(), 1); }

std::string Pool::EndpointName(int64_t endpoint) const {
  const auto found = members_.find(endpoint);
  if (found != members_.end()) return found->second.endpoint->name();
  const auto left = std::find_if(left_.begin(), left_.end(),
                                 [endpoint](const auto& entry) { return entry.first == endpoint; });
  return left == left_.end() ? "" : left->second;
}

std::vector<std::string> Pool::UnreadyNames() const {
  std::vector<std::string> names;
  for (const auto& [id, member] : members_) {
    if (names.size() == kMaxUnready) break;
    if (member.endpoint->state() != Endpoint::State::kReady)
      names.push_back(member.endpoint->name());
  }
  for (const auto& name : names_) {
    if (names.size() == kMaxUnready) break;
    if (!name->failure().empty()) names.push_back(name->View().address);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Pool::OnAnswer(int64_t endpoint) {
  set_.RecordLife(endpoint, now());
  gate_.OnAnswer();
  ShowEjections();
  if (queued_ > 0) io_.AtTurnEnd(*this);
}

void Pool::OnLife(int64_t endpoint) {
  set_.RecordLife(endpoint, now());
  ShowEjections();
}

void Pool::OnGivenUp(int64_t endpoint, absl::Duration waited) {
  set_.RecordGivenUp(endpoint, waited, now());
}

void Pool::OnAttemptEnded(int64_t endpoint, bool success, std::optional<absl::Duration> took) {
  set_.RecordEnd(endpoint, success, now(), took);
  if (success) return_until_ = Instant();
  ShowEjections();
}

// Tells operators which endpoints are ejected, and users that wait that they may be served.
void Pool::ShowChanges() {
  for (const EndpointSet::Change& change : set_.TakeChanges()) {
    const auto member = members_.find(change.id);
    if (member != members_.end()) member->second.endpoint->SetEjected(change.ejected);
  }
  lost_some_ = true;
  if (queued_ > 0) io_.AtTurnEnd(*this);
}

void Pool::ArmTimer() {
  const bool returning = now() < return_until_;
  io_.wheel.Arm(*this, std::min(patient_until_, returning ? return_until_ : Instant::Infinite()));
}

void Pool::OnTimer(Instant) {
  lost_some_ = true;  // The time in which an endpoint could come back may be over.
  if (queued_ > 0) io_.AtTurnEnd(*this);
}

void Pool::OnProvenLost() {
  // Further losses belong to the same outage until an attempt succeeds.
  if (now() >= return_until_) return_until_ = now() + Reconnect::kReturn;
  hasty_until_ = now() + ResolvedName::kHasty;
  ArmTimer();
}

void Pool::Update(const Endpoint& endpoint) {
  const EndpointCondition condition = endpoint.condition();
  if (!set_.Update(endpoint.id(), condition, now())) return;
  lost_some_ = lost_some_ || !condition.usable;
  ShowEjections();
  if (queued_ > 0) io_.AtTurnEnd(*this);
}

void Pool::OnEndpointChanged(Endpoint& endpoint) {
  Update(endpoint);
  if (endpoint.state() == Endpoint::State::kReady) {
    reached_ = true;
  } else {
    connect_failure_ =
        absl::StrCat("cannot connect to ", endpoint.name(),
                     members_.size() > 1 ? " or any other endpoint" : "", ": ", endpoint.failure());
    ResolvedName* name = members_.find(endpoint.id())->second.name;
    if (name != nullptr) name->AskSoon();
    lost_some_ = true;  // Users may have waited for the attempt to connect that has failed.
  }
  LookAtReach();
  if (queued_ > 0 || on_demand_) io_.AtTurnEnd(*this);
}

void Pool::LookAtReach() {
  if (policy_.watcher == nullptr) return;
  const bool refuses =
      !members_.empty() && std::all_of(members_.begin(), members_.end(), [](const auto& member) {
        return member.second.endpoint->state() == Endpoint::State::kFailing;
      });
  if (refuses != std::exchange(refuses_, refuses)) policy_.watcher->OnReachChanged();
}

std::string Pool::Failure() const {
  if (set_.AnyUsable({})) return "every other endpoint is overloaded";
  if (!members_.empty()) return connect_failure_;
  return names_.empty() ? "there is no endpoint" : names_.front()->failure();
}

void Pool::OnTurnEnd() {
  TurnAway();
  if (!waiting_.empty() && !set_.AnyOpen()) Hasten();
  if (std::exchange(lost_some_, false)) FailHopeless();
  Serve();
  if (queued_ > 0 && BlocksUsedUp()) io_.AtTurnEnd(*this);  // of the next one
  if (waiting_.empty()) gate_.OnEmpty();
  if (!waiting_.empty()) {
    ConnectMore();
  } else if (on_demand_) {
    for (const auto& [id, member] : members_) {
      member.endpoint->CloseUnused();
      Update(*member.endpoint);
    }
  }
}

void Pool::ConnectOnlyOnDemand() {
  on_demand_ = true;
  for (const auto& [id, member] : members_) member.endpoint->ConnectOnlyOnDemand();
  io_.AtTurnEnd(*this);
}

// Users wait: what fails is tried again soon.
void Pool::Hasten() {
  for (const auto& [id, member] : members_) member.endpoint->Hasten();
  // A name that calls cannot reach may have other addresses by now, or its first.
  if (AnyReady() || (set_.AnyUsable({}) && now() >= return_until_)) return;
  const bool just_lost = now() < hasty_until_;
  for (const auto& name : names_) name->AskNow(just_lost);
}

// Each failure makes an answer, and the call is freed only as the turn ends.
void Pool::TurnAway() {
  while (!turned_away_.empty() && !BlocksUsedUp()) {
    StreamUser* user = turned_away_.PopFront();
    --queued_;
    io_.series.limit_hits[Limit::kPendingAttempts].Add();
    user->OnOpenFailed("too many calls wait for a connection", false);
  }
}

// Fails the users that wait for endpoints of which none is left.
void Pool::FailHopeless() {
  IntrusiveList<StreamUser> waiting;
  while (StreamUser* user = waiting_.PopFront()) waiting.PushBack(*user);
  patient_until_ = Instant::Infinite();
  while (StreamUser* user = waiting.PopFront()) {
    if (BlocksUsedUp() || MayServe(user->forbidden) || Holds(*user)) {
      waiting_.PushBack(*user);
    } else {
      FailOpen(*user);
    }
  }
  lost_some_ = lost_some_ || BlocksUsedUp();
  ArmTimer();
}

void Pool::FailOpen(StreamUser& user) {
  --queued_;
  const bool to_self = OnlySelf();
  if (to_self) io_.series.rejects[Reject::kLoop].Add();
  std::string reason = Failure();
  if (user.place != nullptr) {
    reason = WaitedForConnection(now() - user.held_since, reason);
    user.LeavePlace();
  }
  user.OnOpenFailed(reason, to_self);
}

// Gives free slots to the users that wait, the oldest first, as far as a turn may make of memory:
// each attempt copies the head of its call.
void Pool::Serve() {
  IntrusiveList<StreamUser> passed_over;
  int active = gate_.closed() ? ActiveCalls() : 0;
  while (set_.AnyOpen() && !BlocksUsedUp() && gate_.MayGo(active)) {
    StreamUser* user = waiting_.PopFront();
    if (user == nullptr) break;
    if (TryOpen(*user, user->avoid, user->forbidden)) {
      --queued_;
      ++active;
      user->LeavePlace();
    } else {
      passed_over.PushBack(*user);  // The open endpoints are forbidden to it.
    }
  }
  while (StreamUser* user = passed_over.PopFront()) waiting_.PushBack(*user);
}

// Opens as many connections as calls wait, since each call may need one.
void Pool::ConnectMore() {
  size_t wanted = queued_;
  for (const auto& [id, member] : members_) {
    if (wanted == 0) return;
    if (member.endpoint->ConnectAnother()) --wanted;
  }
}

void Pool::Close() {
  for (const auto& name : names_) name->Close();
  for (const auto& [id, member] : members_) member.endpoint->Close();
  for (const auto& endpoint : draining_) endpoint->Close();
}

}  // namespace levee
