// SPDX-License-Identifier: Apache-2.0
// One connection as all parts of a session see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/instant.h"
#include "h2/flood_guard.h"
#include "h2/frame_writer.h"
#include "h2/peer_goaway.h"
#include "h2/peer_settings.h"
#include "h2/session_handler.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/stream_ids.h"
#include "h2/stream_pool.h"
#include "h2/stream_set.h"

namespace levee::h2 {

enum class Role : uint8_t { kServer, kClient };

// Holds what the parts of a session share, and knows whether the connection can be used and whether
// its owner was told of output. It decides nothing about single streams. One thread.
class Link {
 public:
  // `session`: for the streams, which belong to it.
  Link(Role role, const SessionOptions& options, SessionHandler& handler, OutputHandler& output,
       StreamPool& pool, Session& session);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool client() const { return role_ == Role::kClient; }
  bool server() const { return role_ == Role::kServer; }

  // Begins a stream, which has no id and no receive window yet.
  Stream& NewStream(StreamHandler* handler);

  // There is output for Serialize. The owner is told of it once, until the next Serialize; and not
  // during one, which takes the output that is added meanwhile.
  void Announce() {
    if (output_ != Output::kNone) return;
    output_ = Output::kAnnounced;
    output_handler_.OnOutputPending();
  }
  // The same, but the owner is told again.
  void AnnounceAgain() {
    if (output_ == Output::kAnnounced) output_ = Output::kNone;
    Announce();
  }
  void OnSerializeBegins() {
    LEVEE_DCHECK(output_ != Output::kSerializing);
    output_ = Output::kSerializing;
  }
  void OnSerializeEnds() { output_ = Output::kNone; }

  // Whether the connection cannot be used any more.
  bool broken() const { return state_ == State::kBroken; }

  // The peer broke the protocol, or reached a bound that closes the connection: breaks it. Only the
  // first reason is told to the peer and to the handler.
  void Fail(uint32_t error_code, const char* what);
  void Exceed(SessionLimit limit);

  // The connection is lost.
  void Lose() { state_ = State::kBroken; }

  // Counts a control frame of the peer, or a reply that it provoked and that waits to be sent.
  // Breaks the connection if that is one too many. CountControlFrame returns whether it can still
  // be used.
  bool CountControlFrame();
  void CountReply();

  // Asks the peer to open no more streams. Leave also takes no further ones, and tells the peer the
  // id of the last that was taken; that never grows (RFC 9113, section 6.8), so a connection that
  // is left or broken says no more of it.
  void AnnounceLeaving();
  void Leave();
  // Whether Leave was called, and the connection can still be used.
  bool leaving() const { return state_ == State::kLeaving; }

  // Client role: behaves as if the peer had asked to open no more streams, and leaves.
  void LeaveUnasked();

  // Whether nothing is left to read or write, so that the connection can be closed.
  bool Done() const;

  // Whether the streams agree with each other and with the role, as they must between events. Looks
  // at every stream.
  bool Consistent();

  SessionHandler& handler;
  StreamSet streams;
  StreamIds ids;
  FrameWriter writer;
  PeerGoaway peer_goaway;
  FloodGuard guard;
  Instant now;  // of the last Receive
  PeerSettings peer_settings;

 private:
  enum class State : uint8_t {
    kOpen,
    kLeaving,  // no further streams are taken
    kBroken    // nothing more is taken, and nothing of streams is sent
  };
  enum class Output : uint8_t {
    kNone,       // the owner knows of none
    kAnnounced,  // Serialize is to be called
    kSerializing
  };

  const Role role_;
  State state_ = State::kOpen;
  Output output_ = Output::kNone;
  OutputHandler& output_handler_;
  Session& session_;
};

}  // namespace levee::h2
