#include "upstream/endpoint.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

// Connections to one endpoint, opened only as the peer's limit on streams is reached.
constexpr size_t kMaxConnections = 8;

// A connection that was ready for this long, or that carried calls until it was told to go, is
// replaced at once. So is one that ends sooner, but not two of them in a row: an upstream that
// accepts and drops must not be dialled in a tight loop.
constexpr absl::Duration kStable = absl::Seconds(1);

}  // namespace

UpstreamConnection::UpstreamConnection(WorkerIo& io, const net::Address& to,
                                       const ConnectPolicy& policy, Endpoint& endpoint)
    : io_(io),
      endpoint_(endpoint),
      connection_(std::make_unique<Http2Connection>(io, to, policy.session,
                                                    static_cast<h2::SessionHandler&>(*this),
                                                    static_cast<Http2ConnectionOwner&>(*this))) {
  io_.wheel.Arm(*this, io_.loop.now() + policy.connect_timeout);
}

void UpstreamConnection::OnTimer(Instant) { connection_->Close("connect timeout"); }

void UpstreamConnection::OnSlotsFree() {
  if (!ready_) {
    ready_ = true;
    ready_since_ = io_.loop.now();
    Timer::Unlink();
    endpoint_.ConnectionReady();
  } else {
    endpoint_.owner_.OnEndpointChanged(endpoint_);
  }
}

void UpstreamConnection::OnGoaway() {
  draining_ = true;
  endpoint_.ConnectionDraining(*this);
}

void UpstreamConnection::OnConnectionClosed(const std::string& reason) {
  Timer::Unlink();
  endpoint_.ConnectionClosed(*this, reason);
}

Endpoint::Endpoint(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy,
                   Random& random, UpstreamSeries& series, EndpointOwner& owner, std::string host,
                   uint16_t port)
    : io_(io),
      resolver_(resolver),
      policy_(policy),
      random_(random),
      series_(series),
      owner_(owner),
      host_(std::move(host)),
      port_(port) {}

Endpoint::~Endpoint() { Close(); }

std::string Endpoint::name() const { return absl::StrCat(host_, ":", port_); }

void Endpoint::Close() {
  closing_ = true;
  query_.reset();
  Timer::Unlink();
  while (!connections_.empty()) connections_.back()->Close("the sidecar closes the connection");
  SetState(State::kIdle);
}

void Endpoint::CountState(int64_t change) {
  switch (state_) {
    case State::kConnecting:
      series_.endpoints[EndpointState::kConnecting].Add(change);
      return;
    case State::kReady:
      series_.endpoints[EndpointState::kReady].Add(change);
      return;
    case State::kFailing:
    case State::kSelf:
      series_.endpoints[EndpointState::kFailing].Add(change);
      return;
    case State::kIdle:
      return;
  }
}

void Endpoint::SetState(State state) {
  CountState(-1);
  state_ = state;
  CountState(1);
}

void Endpoint::Connect() {
  if (state_ == State::kIdle && !closing_) StartConnecting();
}

void Endpoint::ConnectAnother() {
  const bool waits = !Timer::when().is_infinite();
  if (waits || connections_.size() >= kMaxConnections || state_ != State::kReady) return;
  StartConnecting();
}

void Endpoint::StartConnecting() {
  if (dialling_) return;
  dialling_ = true;
  Timer::Unlink();
  // One that fails goes on failing for those who ask until an attempt succeeds: otherwise calls
  // would wait for the connect timeout of an endpoint that is probably dead.
  if (state_ == State::kIdle) SetState(State::kConnecting);
  if (const auto address = net::Address::FromIp(host_, port_)) {
    addresses_ = {*address};
    Dial();
    return;
  }
  query_ = resolver_.Resolve(host_, port_, [this](auto answer) { Resolved(std::move(answer)); });
}

void Endpoint::Resolved(absl::StatusOr<std::vector<net::Address>> answer) {
  if (!answer.ok()) {
    ConnectFailed(std::string(answer.status().message()));
    return;
  }
  addresses_ = *std::move(answer);
  Dial();
}

void Endpoint::Dial() {
  const net::Address to = addresses_.front();
  addresses_.erase(addresses_.begin());
  for (const net::Address& own : policy_.own_listeners) {
    if (!to.Reaches(own)) continue;
    dialling_ = false;
    failure_ = absl::StrCat(to.ToString(), " is a listener of this sidecar");
    SetState(State::kSelf);
    owner_.OnEndpointChanged(*this);
    return;
  }
  connections_.push_back(std::make_unique<UpstreamConnection>(io_, to, policy_, *this));
  series_.connections.Add(1);
}

void Endpoint::ConnectionReady() {
  dialling_ = false;
  SetState(State::kReady);
  owner_.OnEndpointChanged(*this);
}

bool Endpoint::HasReady() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->ready(); });
}

void Endpoint::ConnectionDraining(const UpstreamConnection& connection) {
  // What runs on it may finish; new calls want a successor now.
  constexpr char kReason[] = "the upstream is going away";
  if (connection.was_ready()) {
    Replace(connection, kReason);
  } else {
    ConnectFailed(kReason);
  }
}

void Endpoint::Replace(const UpstreamConnection& lost, const std::string& reason) {
  if (closing_ || HasReady() || dialling_) return;
  const bool proven =
      (lost.draining() && lost.used()) || io_.loop.now() - lost.ready_since() >= kStable;
  if (proven) backoff_.Restart();
  if (proven || !hasty_) {
    hasty_ = !proven;
    SetState(State::kConnecting);
    StartConnecting();
  } else {
    failure_ = reason;
    WaitToReconnect();
  }
}

void Endpoint::ConnectionClosed(UpstreamConnection& connection, const std::string& reason) {
  series_.connections.Add(-1);
  const auto at = std::find_if(connections_.begin(), connections_.end(),
                               [&](const auto& held) { return held.get() == &connection; });
  io_.graveyard.Bury(std::move(*at));
  connections_.erase(at);
  if (closing_ || connection.draining()) return;
  if (connection.was_ready()) {
    Replace(connection, reason);
  } else if (!addresses_.empty()) {
    Dial();
  } else {
    ConnectFailed(reason);
  }
}

void Endpoint::ConnectFailed(const std::string& reason) {
  dialling_ = false;
  failure_ = reason;
  WaitToReconnect();
}

void Endpoint::WaitToReconnect() {
  io_.wheel.Arm(*this, io_.loop.now() + backoff_.Next(policy_.reconnect, random_));
  // If it was one more beside those that work, nothing has changed for calls.
  if (HasReady()) return;
  SetState(State::kFailing);
  owner_.OnEndpointChanged(*this);
}

void Endpoint::OnTimer(Instant) {
  if (HasReady()) {
    // Whether one more connection is still wanted, only the calls that wait can tell.
    owner_.OnEndpointChanged(*this);
  } else {
    StartConnecting();
  }
}

UpstreamConnection* Endpoint::FindSlot() {
  UpstreamConnection* best = nullptr;
  for (const auto& connection : connections_) {
    if (connection->FreeSlots() == 0) continue;
    if (best == nullptr || connection->active_streams() < best->active_streams()) {
      best = connection.get();
    }
  }
  return best;
}

}  // namespace levee
