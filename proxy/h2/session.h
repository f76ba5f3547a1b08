// SPDX-License-Identifier: Apache-2.0
// HTTP/2 (RFC 9113) without I/O, in both roles. The session turns received bytes into events, and
// the caller's requests into bytes to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/chunk.h"
#include "base/instant.h"
#include "h2/ends.h"
#include "h2/link.h"
#include "h2/output_buffer.h"
#include "h2/receive_windows.h"
#include "h2/receiver.h"
#include "h2/sender.h"
#include "h2/session_handler.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/stream_pool.h"

namespace levee::h2 {

// One connection's HTTP/2 state: what its owner may do with it. The work is done by parts that
// share one Link. One thread. Must not be destroyed from within its own callbacks.
class Session {
 public:
  using Role = h2::Role;
  using Options = SessionOptions;

  Session(Role role, const Options& options, SessionHandler& handler, OutputHandler& output,
          StreamPool& pool);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes bytes that came from the connection. `now` is the time for the bounds that are rates.
  // False: the connection cannot be used any more, since the peer broke the protocol or reached a
  // bound. The pending output (GOAWAY) should still be written before the connection is closed.
  // `shared` is `bytes` as a chunk, if there is one; large bodies are then slices of it, not
  // copies. It stops behind a frame, and at least one, where this thread has used up the blocks
  // that it is allowed (AllowBlocks): untaken() bytes are to come first next time.
  bool Receive(ByteSpan bytes, Instant now, const Chunk& shared = Chunk());

  // How many of the last bytes of the last Receive it left; 0 if it returned false.
  size_t untaken() const { return receiver_.untaken(); }

  // Appends pending frames to `out` until none is left or there is no room. True: some are left.
  bool Serialize(OutputBuffer& out);

  // Frees the streams that have ended, which Receive and Serialize do, too. For when the output is
  // held up, so that Serialize is not called: resets announce output again and again until then.
  void FreeEnded() { ends_.FreeEnded(); }

  // Client role: returns how many streams may be opened now. The peer's limit, a GOAWAY and the
  // number of ids left bound it.
  int FreeSlots() const;

  // Client role: opens a stream, which has no head yet. FreeSlots() must be above 0.
  Stream& Open(StreamHandler& handler);

  // Server role: stops taking streams, in two steps (RFC 9113, section 6.8). AnnounceShutdown asks
  // the peer to open no more streams. Shutdown, which should come a round trip later, takes no
  // further streams and tells the peer the id of the last one that was taken.
  void AnnounceShutdown() { link_.AnnounceLeaving(); }
  void Shutdown() { link_.Leave(); }

  // Changes the receive window with which every stream begins, also of those that are open; at
  // least 1 byte. A smaller one holds from the peer's acknowledgement on, a larger one at once.
  void SetStreamWindow(uint32_t bytes) { windows_.SetStreamWindow(bytes); }

  // Sends a PING. There is no event for its acknowledgement; the caller only sees that bytes come.
  void SendPing();

  // Returns what the peer's GOAWAY said in words: unchecked bytes, perhaps none. Good until the
  // next event.
  std::string_view goaway_text() const { return link_.peer_goaway.text(); }

  // Whether a GOAWAY said that this side sends too many PINGs (gRFC A8).
  bool too_many_pings() const { return link_.peer_goaway.too_many_pings(); }

  // How many frames have come, or pieces of the bodies in them.
  uint64_t frames() const { return receiver_.frames(); }

  // Server role: the highest id of a request that was handed on; 0: there was none.
  uint32_t processed_id() const { return link_.ids.processed(); }

  // Client role: whether streams are open that no GOAWAY excludes.
  bool MayAnswer() const { return ends_.MayAnswer(); }

  // Client role: whether the head of an answer has come.
  bool answered() const { return receiver_.answered(); }

  // Must be called when the connection is lost. `written`: how many bytes of this session's output
  // had been written to it. Ends every stream. After this call the session may only be destroyed.
  void ConnectionLost(uint64_t written);

  // Whether nothing is left to read or write, so that the connection can be closed.
  bool Done() const { return link_.Done(); }

  // Whether the connection cannot be used any more, as after a Receive that returned false.
  bool broken() const { return link_.broken(); }

  // Calls f(Stream&) for each open stream that has been detached. It may reset that stream later,
  // as long as no other function of the session is called before.
  template <typename F>
  void ForEachDetached(F f) {
    link_.streams.ForEach([&](Stream& stream) {
      if (stream.handler_ == nullptr) f(stream);
    });
  }

  // The memory that is held for bytes of a header block, or of another frame that is taken only
  // when it is whole; 0 if there is none that has begun and not ended.
  size_t unfinished_bytes() const { return receiver_.unfinished_bytes(); }
  // Whether it began with the bytes of the last Receive.
  bool unfinished_anew() const { return receiver_.unfinished_anew(); }

  // The bytes of bodies that wait, because flow control holds them back or the output is full.
  size_t queued_bytes() const { return link_.streams.queued_bytes(); }
  // The bytes of bodies that were serialised so far.
  uint64_t body_bytes() const { return sender_.body_bytes(); }

  // Client role, called now and then: ends the streams of whose waiting bytes none has gone since
  // `checks` calls before this one. Leaves those whose body has begun and not ended: such a peer
  // reads at its own pace. Returns how many. At most 254 checks.
  size_t EndStalled(int checks) { return ends_.EndStalled(checks); }

  size_t stream_count() const { return link_.streams.size(); }
  uint64_t serialized_bytes() const { return link_.writer.written(); }

 private:
  friend class Stream;

  Link link_;
  Ends ends_;
  ReceiveWindows windows_;
  Sender sender_;
  Receiver receiver_;
};

}  // namespace levee::h2
