// SPDX-License-Identifier: Apache-2.0
// HTTP/2 (RFC 9113) without I/O: bytes in, events out; calls in, bytes out. Both roles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/chunk.h"
#include "base/instant.h"
#include "h2/block_assembly.h"
#include "h2/closed_streams.h"
#include "h2/flood_guard.h"
#include "h2/flow_window.h"
#include "h2/frame_reader.h"
#include "h2/frame_writer.h"
#include "h2/header_rules.h"
#include "h2/output_buffer.h"
#include "h2/peer_goaway.h"
#include "h2/peer_settings.h"
#include "h2/session_handler.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/stream_pool.h"
#include "h2/stream_set.h"
#include "hpack/decoder.h"
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
  // False: the connection is of no more use, since the peer broke the protocol or reached a bound.
  // The pending output (GOAWAY) should still be written before the connection is closed.
  // `shared` is `bytes` as a chunk, if there is one; large bodies are then slices of it, no copies.
  bool Receive(ByteSpan bytes, Instant now, const Chunk& shared = Chunk());

  // Appends pending frames to `out` until none is left or there is no room. True: some are left.
  bool Serialize(OutputBuffer& out);

  // Client role: how many streams may be opened now, by the peer's limit, GOAWAY and the ids left.
  int FreeSlots() const;

  // Client role: opens a stream, which has no head yet. FreeSlots() must be above 0.
  Stream& Open(StreamHandler& handler);

  // Server role: takes no further streams, in two steps (RFC 9113, section 6.8). AnnounceShutdown
  // warns the peer. Shutdown, a round trip later, tells it the id of the last stream taken.
  void AnnounceShutdown();
  void Shutdown();

  // Sends a PING. No event tells of its acknowledgement: the caller only sees that bytes come.
  void SendPing();

  // A GOAWAY said that this side sends too many PINGs (gRFC A8).
  bool too_many_pings() const { return peer_goaway_.too_many_pings(); }

  // The connection is gone, and `written` bytes of this session's output had been written to it.
  // Ends every stream. After this call the session may only be destroyed.
  void ConnectionLost(uint64_t written);

  // Nothing is left to read or write: the connection can be closed.
  bool Done() const;

  // The connection is of no more use, as after a Receive that returned false.
  bool broken() const { return broken_; }

  size_t stream_count() const { return streams_.size(); }
  uint64_t serialized_bytes() const { return writer_.written(); }

 private:
  friend class Stream;
  using Queue = StreamSet::Queue;

  // How far Write came with a stream.
  enum class Written {
    kAll,       // nothing is left that may leave now
    kWindow,    // the connection's window is used up
    kItsShare,  // there is more, and others come first
    kHeld,      // a long header block has to be drained first
    kNoRoom     // there is more than room
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
  bool Decode(ByteSpan block, BlockKind kind, Metadata* fields);
  void OnDataFrame();
  void OnDataPiece(Stream& stream);
  Chunk Body(ByteSpan piece) const;
  void TellExcess();
  void RemoteEnded(Stream& stream, Metadata* trailers);
  void CloseIfBothEnded(Stream& stream);
  void OnPriority(const FrameHead& head, ByteSpan payload);
  void OnRstStream(const FrameHead& head, ByteSpan payload);
  void OnSettings(const FrameHead& head, ByteSpan payload);
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
  // False: that was one too many, and the session is broken.
  bool CountControlFrame();
  void CountReply();

  // Sending: session_send.cc.
  void HoldSettings();
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
  uint32_t next_id_ = 1;       // client role: of the next head; server role: the least unused one
  uint32_t processed_id_ = 0;  // server role: the highest that was handed on
  bool slots_free_ = false;    // OnSlotsFree is due
  ClosedStreams closed_;

  // Receiving.
  Instant now_;
  FrameReader reader_;
  const Chunk* shared_ = nullptr;  // during Receive: what slices are made of, if not nullptr
  size_t preface_left_ = 0;        // server role: bytes of it
  BlockAssembly assembly_;
  hpack::Decoder decoder_;
  HeaderRules rules_;
  FloodGuard guard_;
  ReceiveWindow receive_window_;   // of all streams together
  int64_t stream_receive_window_;  // what a new stream may be sent
  bool settings_acknowledged_ = false;
  PeerGoaway peer_goaway_;

  // Sending.
  PeerSettings peer_settings_;
  FrameWriter writer_;
  SendWindow send_window_;  // of all streams together
  bool serializing_ = false;
  bool goaway_sent_ = false;
  bool dirty_ = false;
  bool broken_ = false;
};

}  // namespace levee::h2
