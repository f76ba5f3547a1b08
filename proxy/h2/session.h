// SPDX-License-Identifier: Apache-2.0
// HTTP/2 (RFC 9113) without I/O, in both roles. The session turns received bytes into events, and
// the caller's requests into bytes to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/chunk.h"
#include "base/instant.h"
#include "h2/block_assembly.h"
#include "h2/block_reader.h"
#include "h2/closed_streams.h"
#include "h2/flood_guard.h"
#include "h2/flow_window.h"
#include "h2/frame_reader.h"
#include "h2/frame_writer.h"
#include "h2/output_buffer.h"
#include "h2/peer_goaway.h"
#include "h2/peer_settings.h"
#include "h2/session_handler.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/stream_pool.h"
#include "h2/stream_set.h"
#include "h2/window_growth.h"
#include "wire/metadata.h"

namespace levee::h2 {

// One connection's HTTP/2 state. One thread. Must not be destroyed from within its own callbacks.
class Session {
 public:
  enum class Role { kServer, kClient };

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
  size_t untaken() const { return untaken_; }

  // Appends pending frames to `out` until none is left or there is no room. True: some are left.
  bool Serialize(OutputBuffer& out);

  // Frees the streams that have ended, which Receive and Serialize do, too. For when the output is
  // held up, so that Serialize is not called: resets announce output again and again until then.
  void FreeEnded() { ReturnRetired(); }

  // Client role: returns how many streams may be opened now. The peer's limit, a GOAWAY and the
  // number of ids left bound it.
  int FreeSlots() const;

  // Client role: opens a stream, which has no head yet. FreeSlots() must be above 0.
  Stream& Open(StreamHandler& handler);

  // Server role: stops taking streams, in two steps (RFC 9113, section 6.8). AnnounceShutdown asks
  // the peer to open no more streams. Shutdown, which should come a round trip later, takes no
  // further streams and tells the peer the id of the last one that was taken.
  void AnnounceShutdown();
  void Shutdown();

  // Changes the receive window with which every stream begins, also of those that are open; at
  // least 1 byte. A smaller one holds from the peer's acknowledgement on, a larger one at once.
  void SetStreamWindow(uint32_t bytes) {
    wanted_stream_window_ = bytes;
    if (bytes != offered_stream_window_ && settings_acknowledged_) HoldStreamWindow();
  }

  // Sends a PING. There is no event for its acknowledgement; the caller only sees that bytes come.
  void SendPing();

  // Returns what the peer's GOAWAY said in words: unchecked bytes, perhaps none. Good until the
  // next event.
  std::string_view goaway_text() const { return peer_goaway_.text(); }

  // Whether a GOAWAY said that this side sends too many PINGs (gRFC A8).
  bool too_many_pings() const { return peer_goaway_.too_many_pings(); }

  // How many frames have come, or pieces of the bodies in them.
  uint64_t frames() const { return frames_; }

  // Server role: the highest id of a request that was handed on; 0: there was none.
  uint32_t processed_id() const { return processed_id_; }

  // Client role: whether streams are open that no GOAWAY excludes.
  bool MayAnswer();

  // Client role: whether the head of an answer has come.
  bool answered() const { return answered_; }

  // Must be called when the connection is lost. `written`: how many bytes of this session's output
  // had been written to it. Ends every stream. After this call the session may only be destroyed.
  void ConnectionLost(uint64_t written);

  // Whether nothing is left to read or write, so that the connection can be closed.
  bool Done() const;

  // Whether the connection cannot be used any more, as after a Receive that returned false.
  bool broken() const { return broken_; }

  // Calls f(Stream&) for each open stream that has been detached. It may reset that stream later,
  // as long as no other function of the session is called before.
  template <typename F>
  void ForEachDetached(F f) {
    streams_.ForEach([&](Stream& stream) {
      if (stream.handler_ == nullptr) f(stream);
    });
  }

  // The memory that is held for bytes of a header block, or of another frame that is taken only
  // when it is whole; 0 if there is none that has begun and not ended.
  size_t unfinished_bytes() const {
    return reader_.held_bytes() + assembly_.held_bytes() + (assembly_.open_stream() != 0 ? 1 : 0);
  }
  // Whether it began with the bytes of the last Receive.
  bool unfinished_anew() const { return unfinished_anew_; }

  // The bytes of bodies that wait, because flow control holds them back or the output is full.
  size_t queued_bytes() const { return streams_.queued_bytes(); }
  // The bytes of bodies that were serialised so far.
  uint64_t body_bytes() const { return body_bytes_; }

  // Client role, called now and then: ends the streams of whose waiting bytes none has gone since
  // `checks` calls before this one. Leaves those whose body has begun and not ended: such a peer
  // reads at its own pace. Returns how many. At most 254 checks.
  size_t EndStalled(int checks);

  size_t stream_count() const { return streams_.size(); }
  uint64_t serialized_bytes() const { return writer_.written(); }

 private:
  friend class Stream;
  using Queue = StreamSet::Queue;

  // Why Write stopped.
  enum class Written {
    kAll,       // the stream has nothing more that may be sent now
    kWindow,    // the connection's window is used up
    kItsShare,  // the stream has more to send, but it is the turn of other streams
    kHeld,      // a long header block has to be drained first
    kNoRoom     // the buffer is full
  };

  // Receiving: session_receive.cc and, for single frames, session_frames.cc.
  bool TakePreface(ByteSpan& bytes);
  void Dispatch(FrameReader::Event event);
  void OnFrame(const FrameHead& head, ByteSpan payload);
  void OnHeaders(const FrameHead& head, ByteSpan payload);
  void OnContinuation(const FrameHead& head, ByteSpan payload);
  void OnPartOfBlock(BlockAssembly::Result result);
  void OnBlock(uint32_t id, bool end, ByteSpan block);
  void OnRequestBlock(uint32_t id, bool end, ByteSpan block);
  void OnResponseBlock(Stream& stream, bool end, ByteSpan block);
  void OnTrailersBlock(Stream& stream, bool end, ByteSpan block);
  bool Read(ByteSpan block, BlockKind kind, Metadata* fields);
  void OnDataFrame();
  void OnDataPiece(Stream& stream);
  void ProbeWindow(const Stream& stream);
  void OnProbeAnswer();
  Chunk Body(ByteSpan piece) const;
  void TellExcess();
  void RemoteEnded(Stream& stream, Metadata* trailers);
  void CloseIfBothEnded(Stream& stream);
  void OnPriority(const FrameHead& head, ByteSpan payload);
  void OnRstStream(const FrameHead& head, ByteSpan payload);
  void OnResetOfIdleStream();
  void OnSettings(const FrameHead& head, ByteSpan payload);
  void OnExcessSettings();
  void OnSettingsAck();
  void ChangeSendWindows(int64_t change);
  void OnPing(const FrameHead& head, ByteSpan payload);
  void OnGoaway(const FrameHead& head, ByteSpan payload);
  bool Excluded(const Stream& stream) const;
  void EndExcluded();
  void OnWindowUpdate(const FrameHead& head, ByteSpan payload);
  bool IsIdle(uint32_t id) const;
  void OnFrameOfClosedStream(uint32_t id);

  // Faults of the peer, and the bounds on what it may do.
  void Fail(uint32_t error_code, const char* what);
  void Exceed(SessionLimit limit);
  void FailStream(Stream& stream, uint32_t error_code, const char* what);
  void Refuse(Stream& stream, uint32_t error_code);
  void CountReset(const Stream& stream);
  // False: the frame exceeds the bound, and the session is broken now.
  bool CountControlFrame();
  void CountReply();

  // Sending: session_send.cc.
  void HoldSettings();
  void HoldStreamWindow();
  void ChangeReceiveWindows(int64_t bytes);
  void Dirty();
  void Ready(Stream& stream);
  bool DrainHeld(OutputBuffer& out);
  Written Write(Stream& stream, OutputBuffer& out);
  bool WriteHead(Stream& stream, OutputBuffer& out);
  Written WriteData(Stream& stream, OutputBuffer& out);
  bool WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out);
  void LocalEnded(Stream& stream);
  void CreditConnection(size_t bytes);
  void CreditStream(Stream& stream, size_t bytes);
  int64_t WholeWindow(Stream& stream);

  // Streams.
  Stream& NewStream(StreamHandler* handler);
  void ResetStream(Stream& stream, uint32_t error_code);
  void Close(Stream& stream, StreamEnd end);
  void ReturnRetired();

  const Role role_;
  const Options options_;
  SessionHandler& handler_;
  OutputHandler& output_;

  StreamSet streams_;
  uint32_t next_id_ = 1;  // client role: for the next head; server role: the least unused id
  uint64_t frames_ = 0;
  uint32_t processed_id_ = 0;
  bool slots_free_ = false;  // OnSlotsFree is to be called
  bool answered_ = false;    // client role
  ClosedStreams closed_;

  // Receiving.
  Instant now_;
  FrameReader reader_;
  size_t untaken_ = 0;
  const Chunk* shared_ = nullptr;  // during Receive: the chunk to slice; nullptr: make copies
  size_t preface_left_ = 0;        // server role: how many bytes of the preface have not come yet
  BlockAssembly assembly_;
  bool unfinished_anew_ = false;
  BlockReader blocks_;
  FloodGuard guard_;
  ReceiveWindow receive_window_;    // of all streams together
  int64_t stream_receive_window_;   // the receive window of a new stream
  uint32_t offered_stream_window_;  // by the last SETTINGS
  uint32_t wanted_stream_window_;   // to be offered once those have been acknowledged
  WindowGrowth growth_;
  bool settings_acknowledged_ = false;  // all of them
  PeerGoaway peer_goaway_;

  // Sending.
  PeerSettings peer_settings_;
  FrameWriter writer_;
  SendWindow send_window_;  // of all streams together
  uint64_t body_bytes_ = 0;
  bool serializing_ = false;
  bool goaway_sent_ = false;
  bool dirty_ = false;
  bool broken_ = false;
};

}  // namespace levee::h2
