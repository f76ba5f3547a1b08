// SPDX-License-Identifier: Apache-2.0
#include "upstream/endpoint.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "upstream/pool.h"

namespace levee {
namespace {

// Connections to one endpoint. A further one is opened only when the peer's limit on streams is
// reached.
constexpr size_t kMaxConnections = 8;

// An attempt to connect that fails within this time has been refused by somebody, so the next one
// will not keep calls waiting either.
constexpr absl::Duration kQuickFailure = absl::Milliseconds(100);

}  // namespace

Endpoint::Endpoint(WorkerIo& io, const ConnectPolicy& policy, Random& random,
                   UpstreamSeries& series, Pool& pool, int64_t id, EndpointPlace place)
    : io_(io),
      policy_(policy),
      random_(random),
      series_(series),
      pool_(pool),
      id_(id),
      place_(std::move(place)),
      keepalive_interval_(policy.keepalive.interval) {
  Count();
}

Endpoint::~Endpoint() { Close(); }

void Endpoint::Close() {
  closing_ = true;
  draining_ = false;
  Timer::Unlink();
  while (!connections_.empty()) connections_.back()->Close("the sidecar closes the connection");
  SetState(State::kIdle);
}

void Endpoint::Drain() {
  closing_ = draining_ = true;
  Timer::Unlink();
  SetState(State::kIdle);
  std::vector<UpstreamConnection*> unready;
  for (const auto& connection : connections_) {
    if (connection->was_ready()) {
      connection->Drain();
    } else {
      unready.push_back(connection.get());
    }
  }
  for (UpstreamConnection* connection : unready) connection->Close("no longer an endpoint");
  if (connections_.empty() && unready.empty()) pool_.OnEndpointDrained(*this);
}

void Endpoint::ConnectOnlyOnDemand() {
  on_demand_ = true;
  Timer::Unlink();
}

void Endpoint::CloseUnused() {
  std::vector<UpstreamConnection*> unused;
  for (const auto& connection : connections_) {
    if (connection->ready() && connection->active_streams() == 0)
      unused.push_back(connection.get());
  }
  for (UpstreamConnection* connection : unused) connection->Close("no longer in use");
  if (state_ == State::kFailing) SetState(State::kIdle);
}

EndpointCondition Endpoint::condition() const {
  EndpointCondition condition;
  condition.usable = !closing_ && state_ != State::kFailing && state_ != State::kSelf;
  condition.silent = silent_;
  for (const auto& connection : connections_) {
    condition.active += connection->active_streams();
    condition.open = condition.open || (!closing_ && connection->FreeSlots() > 0);
  }
  return condition;
}

// Returns the state that metrics show; nullopt: none, since it is no endpoint any more.
std::optional<EndpointState> Endpoint::shown() const {
  if (closing_) return std::nullopt;
  switch (state_) {
    case State::kConnecting:
      return ejected_ ? EndpointState::kEjected : EndpointState::kConnecting;
    case State::kReady:
      return ejected_ ? EndpointState::kEjected : EndpointState::kReady;
    case State::kFailing:
    case State::kSelf:
      return EndpointState::kFailing;
    case State::kIdle:
      return EndpointState::kIdle;
  }
  return std::nullopt;
}

EndpointView Endpoint::View() const {
  EndpointView view;
  view.address = place_.name;
  view.host = place_.host;
  view.state = EndpointStateName(shown().value_or(EndpointState::kIdle));
  view.active = condition().active;
  if (shown() == EndpointState::kFailing) view.failure = failure_;
  return view;
}

void Endpoint::Count() {
  const std::optional<EndpointState> now = shown();
  series_.endpoints.Move(place_.name, std::exchange(counted_, now), now);
}

void Endpoint::SetState(State state) {
  state_ = state;
  Count();
  ReportState();
}

// Tells operators when it becomes unreachable and reachable; `failure_` says why it fails.
void Endpoint::ReportState() {
  switch (state_) {
    case State::kFailing:
    case State::kSelf:
      unreachable_.Report(io_.log, policy_.upstream, place_.name, failure_, io_.loop.now());
      return;
    case State::kReady:
      unreachable_.End(io_.loop.now());
      return;
    case State::kIdle:
      unreachable_.Forget();
      return;
    case State::kConnecting:
      return;
  }
}

void Endpoint::Tell(EventKind kind, std::string_view field, std::string_view value) {
  io_.log.Write(kind, [&] {
    return std::vector<LogField>{
        {"upstream", policy_.upstream}, {"endpoint", place_.name}, {field, value}};
  });
}

void Endpoint::SetEjected(bool ejected) {
  ejected_ = ejected;
  Count();
  if (ejected) {
    ejection_.Report(io_.log, policy_.upstream, place_.name, "", io_.loop.now());
  } else {
    ejection_.End(io_.loop.now());
  }
}

void Endpoint::Connect() {
  if (state_ == State::kIdle && !closing_) StartConnecting();
}

bool Endpoint::ConnectAnother() {
  if (state_ != State::kReady || FindSlot() != nullptr) return false;
  if (connections_.size() >= kMaxConnections) {
    if (!dialling_ && !std::exchange(crowded_, true)) {
      io_.series.limit_hits[Limit::kEndpointConnections].Add();
    }
    return dialling_;
  }
  const bool waits = !Timer::when().is_infinite();
  if (waits) return false;
  StartConnecting();
  return true;
}

void Endpoint::StartConnecting() {
  if (dialling_) return;
  Timer::Unlink();
  // A failing endpoint goes on failing for its callers until an attempt succeeds: otherwise calls
  // would wait for the connect timeout of an endpoint that is probably dead.
  if (state_ == State::kIdle) SetState(State::kConnecting);
  next_address_ = 0;
  failure_of_accepted_.clear();
  dialled_at_ = io_.loop.now();
  Dial();
}

void Endpoint::Dial() {
  dialling_ = true;
  const net::Address& to = place_.addresses[next_address_++];
  for (const net::Address& own : *policy_.own_listeners) {
    if (!to.Reaches(own)) continue;
    dialling_ = false;
    failure_ = absl::StrCat(to.ToString(), " is a listener of this sidecar");
    if (!place_.host.empty() && !policy_.past_hosts_file) {
      failure_ += "; if /etc/hosts leads the name here, say `resolve: dns` for its upstream";
    }
    SetState(State::kSelf);
    pool_.OnEndpointChanged(*this);
    return;
  }
  if (io_.log.Enabled(EventKind::kUpstreamConnecting)) {
    Tell(EventKind::kUpstreamConnecting, "address", to.ToString());
  }
  net::ByteStream stream = net::ByteStream::Dial(to);
  if (policy_.tls.has_value()) stream.Secure(policy_.tls->NewSession(place_.host));
  connections_.push_back(std::make_unique<UpstreamConnection>(io_, std::move(stream), policy_,
                                                              keepalive_interval_, series_, *this));
  series_.connections.Add(1);
}

void Endpoint::OnReady(UpstreamConnection& connection) {
  dialling_ = false;
  if (policy_.max_connection_age < absl::InfiniteDuration()) {
    connection.LimitAge(policy_.max_connection_age, random_);
    DrainOneAged();
  }
  // This one is the successor of those of which the peer is gone.
  for (const auto& other : connections_) {
    if (other->ready() && other->silence() == PeerSilence::State::kGone) other->Drain();
  }
  io_.log.Write(EventKind::kUpstreamConnected, [&] {
    return std::vector<LogField>{{"upstream", policy_.upstream}, {"endpoint", place_.name}};
  });
  SetState(State::kReady);
  ReportChange();
}

void Endpoint::OnSlotsChanged(UpstreamConnection&) {
  crowded_ = false;
  if (!closing_) pool_.OnEndpointChanged(*this);
}

bool Endpoint::HasReady() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->ready(); });
}

// Whether there are ready connections, and the peer is at least as silent on all of them.
bool Endpoint::IsSilent(PeerSilence::State least) const {
  return HasReady() && std::all_of(connections_.begin(), connections_.end(), [&](const auto& one) {
           return !one->ready() || one->silence() >= least;
         });
}

// After a change of the connections or their silence.
void Endpoint::ReportChange() {
  silent_ = IsSilent(PeerSilence::State::kSilent);
  pool_.OnEndpointChanged(*this);
}

// Calls that run go on, since the network may only pause. New ones want another connection.
void Endpoint::OnSilence() {
  if (closing_) return;
  const bool waits = !Timer::when().is_infinite();
  if (!on_demand_ && !waits && IsSilent(PeerSilence::State::kGone)) StartConnecting();
  ReportChange();
}

void Endpoint::OnDraining(UpstreamConnection& connection, bool too_many_pings) {
  std::string reason = "the upstream is going away";
  const std::string_view text = connection.goaway_text();
  if (!text.empty()) absl::StrAppend(&reason, ": ", Abseil(text));
  Tell(EventKind::kUpstreamGoaway, "reason", too_many_pings ? "too many keepalive PINGs" : reason);
  // gRFC A8: what a server calls too often is too often for its next connection as well.
  if (too_many_pings) keepalive_interval_ *= 2;
  if (closing_) return;
  // Calls that run on it may finish; new calls want a successor now.
  if (connection.was_ready()) {
    Replace(connection, reason);
    ReportChange();
  } else {
    ConnectFailed(reason);
  }
}

// New calls go on as they are until the successor is ready. One that cannot be dialled is dialled
// again when the connection tells its age again.
void Endpoint::OnAged() {
  if (!closing_ && state_ == State::kReady && Timer::when().is_infinite()) StartConnecting();
}

// Where several are old, each waits for a successor of its own, so that there are never fewer
// slots.
void Endpoint::DrainOneAged() {
  const auto aged = std::find_if(
      connections_.begin(), connections_.end(),
      [](const auto& connection) { return connection->ready() && connection->aged(); });
  if (aged != connections_.end()) (*aged)->Drain();
}

void Endpoint::Replace(const UpstreamConnection& lost, const std::string& reason) {
  if (HasReady() || dialling_) return;
  if (on_demand_) {
    SetState(State::kIdle);
    return;
  }
  const Instant now = io_.loop.now();
  const bool proven = lost.proven(now);
  if (proven) pool_.OnProvenLost();
  if (lost.leaving()) {
    reconnect_.OnLeaving(policy_.reconnect, now, random_);
  } else {
    reconnect_.OnLost(proven, policy_.reconnect, now, random_);
  }
  if (reconnect_.when(/*wanted=*/false) <= now) {
    SetState(State::kConnecting);
    StartConnecting();
  } else {
    failure_ = reason;
    WaitToReconnect();
  }
}

void Endpoint::OnProtocolError(std::string_view what) {
  Tell(EventKind::kProtocolError, "reason", what);
}

void Endpoint::OnClosed(UpstreamConnection& connection, const std::string& reason) {
  Tell(EventKind::kUpstreamClosed, "reason", reason);
  series_.connections.Add(-1);
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& held) { return held.get() == &connection; });
  io_.graveyard.Bury(std::move(*at));
  connections_.erase(at);
  if (closing_) {
    if (draining_ && connections_.empty()) pool_.OnEndpointDrained(*this);
    return;
  }
  if (connection.leaving()) reconnect_.OnLeft(connection.proven(io_.loop.now()));
  if (connection.draining()) {
    // Its successor is already being dialled.
  } else if (connection.was_ready()) {
    Replace(connection, reason);
  } else {
    if (connection.was_accepted()) failure_of_accepted_ = reason;
    if (next_address_ < place_.addresses.size()) {
      Dial();
    } else {
      ConnectFailed(failure_of_accepted_.empty() ? reason : failure_of_accepted_);
    }
  }
  ReportChange();
}

void Endpoint::ConnectFailed(const std::string& reason) {
  const Instant now = io_.loop.now();
  dialling_ = false;
  failed_quickly_ = now - dialled_at_ < kQuickFailure;
  failure_ = reason;
  reconnect_.OnFailed(policy_.reconnect, now, random_);
  WaitToReconnect();
}

void Endpoint::WaitToReconnect() {
  if (!on_demand_) io_.wheel.Arm(*this, reconnect_.when(/*wanted=*/false));
  // If the connection was one more beside working ones, nothing has changed for calls.
  if (HasReady()) return;
  SetState(State::kFailing);
  pool_.OnEndpointChanged(*this);
}

void Endpoint::Hasten() {
  if (Timer::when().is_infinite()) return;
  const Instant when = reconnect_.when(/*wanted=*/true);
  if (when <= io_.loop.now() && !HasReady()) {
    StartConnecting();
  } else if (when < Timer::when()) {
    io_.wheel.Arm(*this, when);
  }
}

void Endpoint::OnTimer(Instant) {
  if (HasReady() && !IsSilent(PeerSilence::State::kGone)) {
    // Only the waiting calls can tell whether one more connection is still wanted.
    pool_.OnEndpointChanged(*this);
  } else {
    StartConnecting();
  }
}

UpstreamConnection* Endpoint::FindSlot() {
  if (closing_) return nullptr;
  UpstreamConnection* best = nullptr;
  for (const auto& connection : connections_) {
    if (connection->FreeSlots() == 0) continue;
    const auto rank = [](const UpstreamConnection& one) {
      return std::pair(one.silence() != PeerSilence::State::kLives, one.active_streams());
    };
    if (best == nullptr || rank(*connection) < rank(*best)) best = connection.get();
  }
  return best;
}

}  // namespace levee
