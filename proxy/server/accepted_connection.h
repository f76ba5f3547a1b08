// SPDX-License-Identifier: Apache-2.0
// A caller's connection whose first bytes have not said yet what it carries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/chunk.h"
#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "net/socket.h"
#include "settings/snapshot.h"
#include "telemetry/series.h"

namespace levee {

// Where a connection came in, and what it is meant for.
struct ConnectionOrigin {
  std::shared_ptr<const ListenerSpec> listener;
  int socket = 0;       // the listening socket's number, which stays when a reload changes its spec
  uint64_t number = 0;  // of the connection, on its worker
  std::string destination;  // HOST:PORT, as CONNECT names it; empty: the calls say

  // IP:PORT where it was going when the system redirected it to the listener; empty: to Levee.
  std::string original;

  std::string peer;  // address of the caller, if the log tells of connections; else empty
  Instant accepted_at;
  std::string identity;  // of the caller, by its certificate; empty: none was demanded or shown
  uint64_t sender = 0;   // who the caller is: a hash of the identity, or else of its host

  // HOST:PORT of the one to whom it leads on, in a tunnel or redirected; empty: it ends here.
  const std::string& leads_to() const { return destination.empty() ? original : destination; }
};

class Worker;

// Owned by its worker, which it tells how it ends. One thread.
class AcceptedConnection final : public Mortal,
                                 public ListLink<AcceptedConnection>,
                                 private net::SocketHandler,
                                 private Timer {
 public:
  // A caller has this long to say what it wants.
  static constexpr absl::Duration kHandshakeTimeout = absl::Seconds(10);

  // A tunnel whose caller is silent this long waits for its upstream to speak first.
  static constexpr absl::Duration kSilentTunnel = absl::Seconds(1);

  // So does a redirected connection. It comes from this host, and nobody has asked for a tunnel, so
  // the caller's own time is what it costs.
  static constexpr absl::Duration kSilentCapture = absl::Milliseconds(100);

  // The references must outlive the connection. The worker must not destroy it from within one of
  // its events. `stream`: with TLS it is ready, or its handshake has failed.
  AcceptedConnection(WorkerIo& io, net::ByteStream stream, ConnectionOrigin origin, Worker& worker);

  const ConnectionOrigin& origin() const { return origin_; }

  // The bytes that were read and not handed over.
  std::string_view received() const { return received_; }

  // As if the caller had closed it.
  void Close() { OnClosed(""); }

 private:
  void OnConnected() override {}
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override {}
  void OnClosed(const std::string& reason) override;
  void OnTimer(Instant now) override;

  void CountHandshake();
  void Classify(Instant now);
  void OnOwnBytes();
  void OnConnectRequest();
  void SniffFor(absl::Duration time);
  void OpenTunnel(size_t head_size);
  void HandOver(bool http2);
  void Refuse(Reject reason, std::string_view status, std::string_view text);
  bool leads_on() const { return !origin_.leads_to().empty(); }

  WorkerIo& io_;
  ConnectionOrigin origin_;
  Worker& worker_;
  net::Socket socket_;
  std::string received_;  // of the protocol that is looked for: behind the CONNECT head in a tunnel
  Instant sniffed_until_;  // where it leads on
  bool done_ = false;
};

}  // namespace levee
