// SPDX-License-Identifier: Apache-2.0
// A caller's connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/block_cache.h"
#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/random.h"
#include "conn/connection_age.h"
#include "conn/http2_connection.h"
#include "guard/unreported_calls.h"
#include "h2/session.h"
#include "server/accepted_connection.h"
#include "server/idle_clock.h"

namespace levee {

class Worker;

// Owned by its worker, which it tells of its events. One thread.
class DownstreamConnection final : public InBlocks,
                                   public Mortal,
                                   public ListLink<DownstreamConnection>,
                                   private h2::SessionHandler,
                                   private Http2ConnectionOwner {
 public:
  // The references must outlive the connection. The worker must not destroy it from within one of
  // its events.
  DownstreamConnection(WorkerIo& io, net::ByteStream stream, ConnectionOrigin origin,
                       const Http2Connection::Options& options, Worker& worker)
      : worker_(worker),
        origin_(std::move(origin)),
        connection_(io, h2::Session::Role::kServer, std::move(stream), options,
                    static_cast<h2::SessionHandler&>(*this),
                    static_cast<Http2ConnectionOwner&>(*this)) {}

  const ConnectionOrigin& origin() const { return origin_; }

  // How the worker's snapshot knows the listener. The worker sets it.
  ListenerRef listener() const { return listener_; }
  void SetListener(ListenerRef listener) { listener_ = listener; }

  // Whether its calls hold much of the process's memory. The worker's MemoryRelief sets it.
  bool holds_much() const { return holds_much_; }
  void SetHoldsMuch(bool much) { holds_much_ = much; }

  UnreportedCalls& unreported() { return unreported_; }

  h2::Session& session() { return connection_.session(); }

  // Returns for how long at least it has carried no call.
  absl::Duration IdleFor(Instant now) {
    return idle_.Look(session().processed_id(), session().stream_count() > 0, now);
  }

  // Asks the caller to make its calls by another connection. From the second time on no more calls
  // are taken, and the connection ends with those that run.
  void Leave();

  // Leaves when the connection has reached the age that its listener allows.
  void LimitAge(WorkerIo& io, Random& random);

  void Receive(ByteSpan bytes) { connection_.Receive(bytes); }
  void Close(const std::string& reason) { connection_.Close(reason); }

 private:
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override;
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view what) override;
  void OnLimit(h2::SessionLimit limit) override;
  void OnConnected() override {}
  void OnConnectionClosed(const std::string& reason) override;

  Worker& worker_;
  const ConnectionOrigin origin_;
  ListenerRef listener_;
  Http2Connection connection_;
  IdleClock idle_;
  std::unique_ptr<ConnectionAge> age_;
  UnreportedCalls unreported_;
  enum class Leaving { kNo, kAsked, kTold } leaving_ = Leaving::kNo;
  bool holds_much_ = false;
};

}  // namespace levee
