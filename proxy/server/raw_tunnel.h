// SPDX-License-Identifier: Apache-2.0
// A CONNECT tunnel, or a redirected connection, that carries something else than HTTP/2 without
// TLS: bytes pass untouched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/chunk.h"
#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "net/relay.h"
#include "net/resolver.h"
#include "server/accepted_connection.h"
#include "server/capture_loops.h"
#include "server/idle_clock.h"

namespace levee {

class Worker;

// Owned by its worker, which it tells of its bytes and its end. One thread.
class RawTunnel final : public Mortal,
                        public ListLink<RawTunnel>,
                        private net::RelayHandler,
                        private Timer {
 public:
  // The destination's name is looked up, and one of its addresses reached, in this time.
  static constexpr absl::Duration kConnectTimeout = absl::Seconds(10);

  // `first`: the bytes that were read from the caller already. The references outlive the tunnel.
  // The worker must not destroy the tunnel from within one of its events.
  RawTunnel(WorkerIo& io, net::Resolver& resolver, net::ByteStream caller, ByteSpan first,
            ConnectionOrigin origin, const std::vector<net::Address>& own_listeners,
            CaptureLoops& loops, Worker& worker);

  const ConnectionOrigin& origin() const { return origin_; }

  // Returns for how long at least nothing has passed.
  absl::Duration IdleFor(Instant now) { return idle_.Look(bytes_, false, now); }

  void Close() { End(std::nullopt); }

 private:
  void Resolved(absl::StatusOr<net::Resolver::Found> answer);
  void OnDialled(const net::Address& from, const net::Address& to) override {
    dialled_.Set(from, to);
  }
  void OnRelayed(bool forward, size_t bytes) override;
  void OnRelayClosed(const std::string& reason) override;
  void OnTimer(Instant now) override;
  void End(std::optional<TunnelFailure> failure);

  WorkerIo& io_;
  const ConnectionOrigin origin_;
  const std::vector<net::Address>& own_listeners_;
  Worker& worker_;
  CaptureLoops::Dialled dialled_;
  net::ByteStream caller_;  // until the relay owns it
  std::vector<uint8_t> first_;
  std::unique_ptr<net::Resolver::Query> query_;
  std::unique_ptr<net::Relay> relay_;
  bool ended_ = false;
  uint64_t bytes_ = 0;  // that have passed, both ways
  IdleClock idle_;
};

}  // namespace levee
