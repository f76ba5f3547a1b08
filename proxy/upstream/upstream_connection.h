// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 connection to an endpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/graveyard.h"
#include "base/instant.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "conn/connection_age.h"
#include "conn/http2_connection.h"
#include "h2/session.h"
#include "net/address.h"
#include "policy/backoff.h"
#include "policy/ejection_policy.h"
#include "policy/waiting_places.h"
#include "tls/client_source.h"
#include "upstream/silence_watch.h"

namespace levee {

class Endpoint;

// PINGs on a connection on which calls wait and no bytes come.
struct KeepalivePolicy {
  absl::Duration interval = absl::InfiniteDuration();  // of silence before a PING; Infinite: none
  absl::Duration timeout = absl::Seconds(20);          // for any bytes to come after it

  bool operator==(const KeepalivePolicy&) const = default;
};

// Learns whether the application can be reached. It inverts a dependency: who watches knows the
// pools. It is the worker's, and outlives them.
class ApplicationWatcher {
 public:
  // Called from within the events of endpoints.
  virtual void OnReachChanged() = 0;

 protected:
  ~ApplicationWatcher() = default;
};

// How endpoints connect; the same for all endpoints of one upstream.
struct ConnectPolicy {
  std::string upstream;                               // its name, for the log
  bool past_hosts_file = false;                       // for the names of endpoints
  absl::Duration connect_timeout = absl::Seconds(1);  // until the peer's SETTINGS arrive
  // How long a call waits for a connection where nothing can be reached; zero: not at all.
  absl::Duration connect_wait = absl::ZeroDuration();
  WaitingPlaces* waiting = nullptr;  // of the worker, for these calls; with connect_wait
  BackoffPolicy reconnect;
  KeepalivePolicy keepalive;
  absl::Duration max_connection_age = absl::InfiniteDuration();
  std::optional<EjectionPolicy> ejection = EjectionPolicy();
  std::optional<tls::ClientSource> tls;  // nullopt: without TLS
  Http2Connection::Options connection;
  // Addresses of this sidecar's own listeners: never dialled.
  const std::vector<net::Address>* own_listeners = nullptr;
  // Not nullptr: the endpoints are the application that the sidecar stands before. They are dialled
  // before the first call, and this is told when nothing answers there any more, or something does.
  // Calls do not wait for them.
  ApplicationWatcher* watcher = nullptr;

  bool operator==(const ConnectPolicy&) const = default;
};

// One connection of an endpoint, which it tells of its events. It is ready once the peer's SETTINGS
// have arrived. One thread.
class UpstreamConnection final : public Mortal,
                                 private h2::SessionHandler,
                                 private Http2ConnectionOwner,
                                 private Timer {
 public:
  // `stream`: connecting. `keepalive_interval`: the endpoint's own. All references must outlive the
  // connection. The endpoint must not destroy the connection from within one of its events.
  UpstreamConnection(WorkerIo& io, net::ByteStream stream, const ConnectPolicy& policy,
                     absl::Duration keepalive_interval, UpstreamSeries& series, Endpoint& endpoint);

  bool ready() const { return ready_ && !draining_; }
  bool was_ready() const { return ready_; }
  bool draining() const { return draining_; }
  // Whether somebody has accepted the connection.
  bool was_accepted() const { return connection_->socket().connected(); }
  bool secured() const { return connection_->socket().tls() != nullptr; }
  // Whether the peer's kernel still answers.
  PeerSilence::State silence() const { return silence_.state(); }
  int FreeSlots() const { return ready() ? connection_->session().FreeSlots() : 0; }

  // Only with FreeSlots() > 0.
  h2::Stream& Open(h2::StreamHandler& handler);

  // Whether a call may take a report along, which goes once a second at most.
  bool MayReport(Instant now) {
    constexpr absl::Duration kEvery = absl::Seconds(1);
    if (now < report_from_) return false;
    report_from_ = now + kEvery;
    return true;
  }

  int active_streams() const { return static_cast<int>(connection_->session().stream_count()); }

  // Whether the peer's GOAWAY came before the connection was proven, and left calls to be answered.
  bool leaving() const { return leaving_; }

  // Why the peer's GOAWAY says that it is going away; unchecked bytes, may be empty.
  std::string_view goaway_text() const { return connection_->session().goaway_text(); }

  // Whether it has brought an answer, or has been ready for Reconnect::kStable.
  bool proven(Instant now) const;

  // Tells the endpoint when the connection has reached the age, above zero.
  void LimitAge(absl::Duration age, Random& random);
  bool aged() const { return aged_; }

  // Streams that run may finish; then the connection closes.
  void Drain();
  void Close(const std::string& reason) { connection_->Close(reason); }

 private:
  h2::StreamHandler* OnRequest(h2::Stream&, Metadata&, bool) override { return nullptr; }
  void OnGoaway() override;
  void OnSlotsFree() override;
  void OnProtocolError(std::string_view what) override;
  void OnLimit(h2::SessionLimit limit) override { io_.series.limit_hits[LimitOf(limit)].Add(); }
  void OnConnected() override { connected_at_ = io_.loop.now(); }
  void OnConnectionClosed(const std::string& reason) override;
  void OnTimer(Instant now) override;
  void KeepAlive(Instant now);
  void CountHandshake();

  WorkerIo& io_;
  const KeepalivePolicy keepalive_;
  UpstreamSeries& series_;
  Endpoint& endpoint_;
  const Instant dialled_at_;
  std::optional<Instant> connected_at_;  // the end of the handshake, with TLS
  std::unique_ptr<Http2Connection> connection_;
  bool ready_ = false;
  bool draining_ = false;
  bool leaving_ = false;
  bool aged_ = false;
  std::optional<ConnectionAge> age_;
  bool too_many_pings_ = false;
  SilenceWatch silence_;
  bool pinged_ = false;  // and nothing has come since, as far as is known
  Instant pinged_at_;
  Instant ready_since_;
  Instant report_from_;
};

}  // namespace levee
