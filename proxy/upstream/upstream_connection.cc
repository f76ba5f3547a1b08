// SPDX-License-Identifier: Apache-2.0
#include "upstream/upstream_connection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "net/handshake_result.h"
#include "policy/reconnect.h"
#include "upstream/endpoint.h"

namespace levee {

UpstreamConnection::UpstreamConnection(WorkerIo& io, net::ByteStream stream,
                                       const ConnectPolicy& policy,
                                       absl::Duration keepalive_interval, UpstreamSeries& series,
                                       Endpoint& endpoint)
    : io_(io),
      keepalive_{.interval = keepalive_interval, .timeout = policy.keepalive.timeout},
      series_(series),
      endpoint_(endpoint),
      dialled_at_(io.loop.now()),
      connection_(std::make_unique<Http2Connection>(
          io, h2::Session::Role::kClient, std::move(stream), policy.connection,
          static_cast<h2::SessionHandler&>(*this), static_cast<Http2ConnectionOwner&>(*this))),
      silence_(
          io.wheel,
          [this] {
            // A peer that is silent stays so when the calls have been given up.
            const bool wanted = active_streams() > 0 || silence() != PeerSilence::State::kLives;
            return wanted ? connection_->socket().Signs() : std::nullopt;
          },
          [this] { endpoint_.OnSilence(); }) {
  io_.wheel.Arm(*this, io_.loop.now() + policy.connect_timeout);
}

bool UpstreamConnection::proven(Instant now) const {
  if (!ready_) return false;
  return connection_->session().answered() || now - ready_since_ >= Reconnect::kStable;
}

h2::Stream& UpstreamConnection::Open(h2::StreamHandler& handler) {
  if (keepalive_.interval < absl::InfiniteDuration() && Timer::when().is_infinite()) {
    io_.wheel.Arm(*this, io_.loop.now() + keepalive_.interval);
  }
  silence_.OnCall(io_.loop.now());
  return connection_->session().Open(handler);
}

void UpstreamConnection::CountHandshake() {
  const net::Socket& socket = connection_->socket();
  const auto result = net::HandshakeResult(socket, connected_at_.has_value(), ready_);
  if (!result.has_value()) return;
  const Instant end = connected_at_.value_or(io_.loop.now());
  series_.tls.Count(*result, socket.tls()->version(), end - dialled_at_);
}

void UpstreamConnection::OnTimer(Instant now) {
  if (!ready_) {
    connection_->Close(connection_->socket().shaking_hands() ? "the TLS handshake took too long"
                                                             : "connect timeout");
  } else {
    KeepAlive(now);
  }
}

// A connection without calls gets no PINGs: gRPC servers take PINGs without calls for an attack
// (gRFC A8).
void UpstreamConnection::KeepAlive(Instant now) {
  // Any bytes show that the peer lives, not only the acknowledgement.
  const Instant heard_at = connection_->received_at();
  if (heard_at > pinged_at_) pinged_ = false;
  if (pinged_ && now >= pinged_at_ + keepalive_.timeout) {
    connection_->Close("the upstream did not answer a keepalive PING");
    return;
  }
  if (!pinged_) {
    if (active_streams() == 0) return;
    const Instant due = heard_at + keepalive_.interval;
    if (now < due) {
      io_.wheel.Arm(*this, due);
      return;
    }
    connection_->session().SendPing();
    pinged_ = true;
    pinged_at_ = now;
  }
  // The timer checks for the answer when its time is over, or earlier if the next PING would be
  // due.
  io_.wheel.Arm(*this, std::min(pinged_at_ + keepalive_.timeout, now + keepalive_.interval));
}

void UpstreamConnection::OnSlotsFree() {
  if (!ready_) {
    ready_ = true;
    ready_since_ = io_.loop.now();
    CountHandshake();
    Timer::Unlink();
    endpoint_.OnReady(*this);
  } else {
    endpoint_.OnSlotsChanged(*this);
  }
}

// A graceful end says GOAWAY twice; the successor is dialled once.
void UpstreamConnection::OnGoaway() {
  const bool too_many_pings = connection_->session().too_many_pings();
  const bool news = !draining_ || (too_many_pings && !too_many_pings_);
  if (!draining_) leaving_ = !proven(io_.loop.now()) && connection_->session().MayAnswer();
  draining_ = true;
  too_many_pings_ = too_many_pings;
  if (news) endpoint_.OnDraining(*this, too_many_pings);
}

void UpstreamConnection::OnProtocolError(std::string_view what) { endpoint_.OnProtocolError(what); }

void UpstreamConnection::LimitAge(absl::Duration age, Random& random) {
  age_.emplace(io_.wheel, io_.loop.now(), age, random, [this] {
    aged_ = true;
    if (!draining_) endpoint_.OnAged();
  });
}

void UpstreamConnection::Drain() {
  draining_ = true;
  connection_->session().Shutdown();
}

void UpstreamConnection::OnConnectionClosed(const std::string& reason) {
  Timer::Unlink();
  silence_.Stop();
  if (!ready_) CountHandshake();
  endpoint_.OnClosed(*this, reason);
}

}  // namespace levee
