// SPDX-License-Identifier: Apache-2.0
// A CONNECT tunnel, or a redirected connection, that has not begun with HTTP/2: bytes pass
// untouched, if its caller was not merely silent.
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
#include "insight/tls_destinations.h"
#include "net/relay.h"
#include "net/resolver.h"
#include "server/accepted_connection.h"
#include "server/capture_loops.h"
#include "server/idle_clock.h"
#include "wire/late_sniff.h"

namespace levee {

class Worker;

// Names what the tunnels of a worker share. All of it outlives them.
struct TunnelEnvironment {
  WorkerIo& io;
  net::Resolver& resolver;
  const std::vector<net::Address>& own_addresses;  // to which no tunnel leads
  CaptureLoops& capture_loops;
  TlsDestinations& tls_destinations;
};

// Owned by its worker, which it tells of its bytes and its end. One thread.
class RawTunnel final : public Mortal,
                        public ListLink<RawTunnel>,
                        private net::RelayHandler,
                        private Timer {
 public:
  // The destination's name is looked up, and one of its addresses reached, in this time.
  static constexpr absl::Duration kConnectTimeout = absl::Seconds(10);

  // `first`: the bytes that were read from the caller already. If there are none, those that come
  // first say whether it is a tunnel. The references outlive it. The worker must not destroy it
  // from within one of its events.
  RawTunnel(const TunnelEnvironment& environment, net::ByteStream caller, ByteSpan first,
            ConnectionOrigin origin, Worker& worker);

  const ConnectionOrigin& origin() const { return origin_; }

  // Returns for how long at least nothing has passed.
  absl::Duration IdleFor(Instant now) { return idle_.Look(bytes_, false, now); }

  // The memory of bytes that have come and not gone on.
  size_t held_bytes() const {
    return first_.capacity() + (relay_ == nullptr ? 0 : relay_->held_bytes());
  }

  void Close() { End(std::nullopt); }

 private:
  void Resolved(absl::StatusOr<net::Resolver::Found> answer);
  void OnDialled(const net::Address& from, const net::Address& to) override {
    dialled_.Set(from, to);
  }
  void OnHeld(ByteSpan from_caller, ByteSpan from_dialled, bool ended) override;
  void OnRelayed(bool forward, size_t bytes) override;
  void OnRelayClosed(const std::string& reason) override;
  void OnTimer(Instant now) override;
  void Identify(ByteSpan first);
  void End(std::optional<TunnelFailure> failure);

  const TunnelEnvironment& environment_;
  WorkerIo& io_;
  const ConnectionOrigin origin_;
  Worker& worker_;
  CaptureLoops::Dialled dialled_;
  net::ByteStream caller_;  // until the relay owns it
  std::vector<uint8_t> first_;
  std::unique_ptr<net::Resolver::Query> query_;
  std::unique_ptr<net::Relay> relay_;
  LateSniff sniff_;
  bool ended_ = false;
  uint64_t bytes_ = 0;  // that have passed, both ways
  IdleClock idle_;
};

}  // namespace levee
