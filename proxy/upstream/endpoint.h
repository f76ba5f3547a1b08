// One endpoint of an upstream as one worker sees it: its addresses, connections and state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "base/timer_wheel.h"
#include "h2/session.h"
#include "net/address.h"
#include "net/resolver.h"
#include "policy/backoff.h"
#include "telemetry/series.h"
#include "upstream/http2_connection.h"

namespace levee {

class Endpoint;

// How endpoints connect; the same for all of one upstream.
struct ConnectPolicy {
  absl::Duration connect_timeout = absl::Seconds(1);  // until the peer's SETTINGS arrive
  BackoffPolicy reconnect;
  h2::Session::Options session;
  // Addresses of this sidecar's own listeners: never dialled.
  std::vector<net::Address> own_listeners;
};

// What an endpoint asks of its pool.
class EndpointOwner {
 public:
  // A connection became ready, got free slots, or the endpoint began to connect or to fail.
  virtual void OnEndpointChanged(Endpoint& endpoint) = 0;

 protected:
  ~EndpointOwner() = default;
};

// An HTTP/2 connection to an endpoint. Ready once the peer's SETTINGS have arrived.
class UpstreamConnection : public Mortal,
                           private h2::SessionHandler,
                           private Http2ConnectionOwner,
                           private Timer {
 public:
  UpstreamConnection(WorkerIo& io, const net::Address& to, const ConnectPolicy& policy,
                     Endpoint& endpoint);

  bool ready() const { return ready_ && !draining_; }
  bool was_ready() const { return ready_; }
  bool draining() const { return draining_; }
  int FreeSlots() const { return ready() ? connection_->session().FreeSlots() : 0; }
  h2::Stream& Open(h2::StreamHandler& handler) {
    used_ = true;
    return connection_->session().Open(handler);
  }
  size_t active_streams() const { return connection_->session().stream_count(); }
  bool used() const { return used_; }  // it has carried a call
  Instant ready_since() const { return ready_since_; }
  void Close(const std::string& reason) { connection_->Close(reason); }

 private:
  h2::StreamHandler* OnRequest(h2::Stream&, Metadata&, bool) override { return nullptr; }
  void OnGoaway() override;
  void OnSlotsFree() override;
  void OnProtocolError(std::string_view) override {}
  void OnConnected() override {}
  void OnConnectionClosed(const std::string& reason) override;
  void OnTimer(Instant now) override;

  WorkerIo& io_;
  Endpoint& endpoint_;
  std::unique_ptr<Http2Connection> connection_;
  bool ready_ = false;
  bool draining_ = false;
  bool used_ = false;
  Instant ready_since_;
};

// Keeps at least one connection once Connect has been called, and reconnects with backoff. One
// thread.
class Endpoint : private Timer {
 public:
  // `host`: an IP literal or a name. All references must outlive the endpoint.
  Endpoint(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy, Random& random,
           UpstreamSeries& series, EndpointOwner& owner, std::string host, uint16_t port);
  ~Endpoint() override;

  enum class State { kIdle, kConnecting, kReady, kFailing, kSelf };
  State state() const { return state_; }
  bool usable() const { return state_ != State::kFailing && state_ != State::kSelf; }

  // Starts connecting unless it is connected, connecting or waits to try again.
  void Connect();

  // One more connection beside the ready ones, for more streams than they allow.
  void ConnectAnother();

  // The ready connection with the fewest streams that has a free slot; nullptr if there is none.
  UpstreamConnection* FindSlot();

  // Why it fails: "connection refused".
  const std::string& failure() const { return failure_; }
  std::string name() const;

  // Closes every connection; nothing is reconnected.
  void Close();

 private:
  friend class UpstreamConnection;

  void OnTimer(Instant now) override;
  void StartConnecting();
  void Resolved(absl::StatusOr<std::vector<net::Address>> answer);
  void Dial();
  void ConnectionReady();
  void ConnectionDraining(const UpstreamConnection& connection);
  void Replace(const UpstreamConnection& lost, const std::string& reason);
  void ConnectionClosed(UpstreamConnection& connection, const std::string& reason);
  void ConnectFailed(const std::string& reason);
  void WaitToReconnect();
  bool HasReady() const;
  void SetState(State state);
  void CountState(int64_t change);

  WorkerIo& io_;
  net::Resolver& resolver_;
  const ConnectPolicy& policy_;
  Random& random_;
  UpstreamSeries& series_;
  EndpointOwner& owner_;
  const std::string host_;
  const uint16_t port_;

  State state_ = State::kIdle;
  bool dialling_ = false;  // a look-up or a connection attempt is under way
  bool closing_ = false;
  bool hasty_ = false;  // the last connection that was lost broke soon and was replaced at once
  std::string failure_;
  Backoff backoff_;
  std::unique_ptr<net::Resolver::Query> query_;
  std::vector<net::Address> addresses_;  // those not tried yet in this round
  std::vector<std::unique_ptr<UpstreamConnection>> connections_;
};

}  // namespace levee
