// HTTP/2 (RFC 9113) without I/O: bytes in, events out; calls in, bytes out. Both roles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/chunk.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "h2/closed_streams.h"
#include "h2/frame_reader.h"
#include "h2/header_rules.h"
#include "h2/output_buffer.h"
#include "h2/rate_guard.h"
#include "h2/session_handler.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/stream_pool.h"
#include "h2/stream_table.h"
#include "hpack/decoder.h"
#include "hpack/encoder.h"
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

  // Takes bytes from the connection; `now` counts for the bounds that are rates. False: the peer
  // broke the protocol so that the connection is of no more use; what is pending (GOAWAY) should
  // still be written before it is closed.
  // Large bodies are handed on as slices of `shared`, which are `bytes` as a chunk, or else copied.
  bool Receive(ByteSpan bytes, Instant now, const Chunk& shared = Chunk());

  // Appends pending frames to `out` until there is none or no room. True if there is more.
  bool Serialize(OutputBuffer& out);

  // Client role: how many streams may be opened now (the peer's limit, GOAWAY, stream ids).
  int FreeSlots() const;

  // Client role, only with FreeSlots() > 0: a new stream without head yet.
  Stream& Open(StreamHandler& handler);

  // Server role: no further streams, in two steps (RFC 9113, section 6.8): the notice now, the
  // real last-stream-id by the second call a round trip later.
  void AnnounceShutdown();
  void Shutdown();

  // Sends a PING; its acknowledgement shows only as bytes that come.
  void SendPing();

  // A GOAWAY said that this side sends too many PINGs (gRFC A8).
  bool too_many_pings() const { return too_many_pings_; }

  // The connection is gone after `written` bytes of this session's output were written: ends every
  // stream. Only destruction may follow.
  void ConnectionLost(uint64_t written);

  // Nothing is left to read or write: the connection can be closed.
  bool Done() const;

  // As after a Receive that returned false.
  bool broken() const { return broken_; }

  size_t stream_count() const { return stream_count_; }
  uint64_t serialized_bytes() const { return serialized_; }

 private:
  friend class Stream;

  // RFC 9113 leaves the limit open until the peer's SETTINGS arrive; its recommended least value.
  static constexpr int64_t kStreamsBeforeSettings = 100;
  // A frame with a head or a body makes up for so many control frames.
  static constexpr int kControlFramesPerUseful = 8;
  // So much body is useful even where the peer's window allowed no more.
  static constexpr size_t kUsefulBytes = 1024;
  // Each changes the window of every open stream; honest peers send a handful in all.
  static constexpr uint32_t kSettingsPerSecond = 10;

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
  void Apply(Setting setting, uint32_t value);
  void ApplyInitialWindow(int64_t bytes);
  void OnPing(const FrameHead& head, ByteSpan payload);
  void OnGoaway(const FrameHead& head, ByteSpan payload);
  bool Excluded(const Stream& stream) const;
  void EndExcluded();
  void OnWindowUpdate(const FrameHead& head, ByteSpan payload);
  bool IsIdle(uint32_t id) const;
  void OnFrameOfClosedStream(uint32_t id);

  // What a peer must not do, and what it may not do so often.
  void Fail(uint32_t error_code, const char* what);
  void Exceed(SessionLimit limit);
  void FailStream(Stream& stream, uint32_t error_code, const char* what);
  void Refuse(Stream& stream, uint32_t error_code);
  void CountReset(const Stream& stream);
  // False: that was one too many, and the session is broken.
  bool CountControlFrame() { return CountControlFrame(control_frames_); }
  bool CountControlFrame(RateGuard& guard);
  void CountReply();

  // Sending: session_send.cc.
  void Dirty();
  void Ready(Stream& stream);
  uint8_t* Hold(size_t payload, FrameType type, uint8_t flags, uint32_t id);
  void HoldReset(uint32_t id, uint32_t error_code);
  void HoldWindowUpdate(uint32_t id, uint32_t bytes);
  void HoldGoaway(uint32_t last_id, uint32_t error_code, std::string_view text);
  void HoldSettings();
  void HoldBlock(const Metadata& fields, uint32_t id, bool end);
  bool DrainHeld(OutputBuffer& out);
  Written Write(Stream& stream, OutputBuffer& out);
  bool WriteHead(Stream& stream, OutputBuffer& out);
  Written WriteData(Stream& stream, OutputBuffer& out);
  bool WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out);
  void Advance(OutputBuffer& out, size_t bytes);
  void LocalEnded(Stream& stream);
  void CreditConnection(size_t bytes);
  void CreditStream(Stream& stream, size_t bytes);

  // Streams.
  Stream& NewStream(StreamHandler* handler);
  void ResetStream(Stream& stream, uint32_t error_code);
  void Close(Stream& stream, StreamEnd end);
  void Retire(Stream& stream);
  void ReturnRetired();

  const Role role_;
  const Options options_;
  SessionHandler& handler_;
  OutputHandler& output_;
  StreamPool& pool_;

  // Every stream is in one of these lists; all but retired_ count as open.
  IntrusiveList<Stream> quiet_;    // nothing to send, or no window of its own
  IntrusiveList<Stream> ready_;    // something to send
  IntrusiveList<Stream> starved_;  // something to send, and the connection's window is used up
  IntrusiveList<Stream> retired_;  // ended, but maybe still on the call stack
  StreamTable table_;              // those that have an id and have not ended
  size_t stream_count_ = 0;
  uint32_t next_id_ = 1;       // client role: of the next head; server role: the least unused one
  uint32_t processed_id_ = 0;  // server role: the highest that was handed on
  bool slots_free_ = false;    // OnSlotsFree is due
  ClosedStreams closed_;

  // Receiving.
  Instant now_;
  FrameReader reader_;
  const Chunk* shared_ = nullptr;  // during Receive: what slices are made of, if not nullptr
  size_t preface_left_ = 0;        // server role: bytes of it
  hpack::Decoder decoder_;
  HeaderRules rules_;
  std::vector<uint8_t> block_;     // a header block that comes in several frames
  size_t block_bytes_ = 0;         // of it on the wire
  uint32_t block_id_ = 0;          // 0: none is coming
  bool block_end_ = false;         // its HEADERS had END_STREAM
  int64_t receive_window_ = 0;     // what the peer may send, all streams together
  size_t receive_credit_ = 0;      // not told to the peer yet
  int64_t stream_receive_window_;  // what a new stream may be sent
  bool settings_received_ = false;
  bool settings_acknowledged_ = false;
  bool too_many_pings_ = false;
  RateGuard resets_;
  RateGuard control_frames_;
  RateGuard settings_;  // a tighter bound on control frames that touch every stream

  // Sending.
  hpack::Encoder encoder_;
  // Bytes that leave before any stream's next: control frames and header blocks of several frames.
  std::vector<uint8_t> held_;
  size_t held_sent_ = 0;
  size_t held_replies_ = 0;      // frames in it that the peer has provoked
  OutputBuffer* out_ = nullptr;  // during Serialize
  uint64_t serialized_ = 0;
  size_t queued_bytes_ = 0;  // of all streams
  int64_t send_window_ = kInitialWindowBytes;
  int64_t stream_send_window_ = kInitialWindowBytes;  // the peer's INITIAL_WINDOW_SIZE
  int64_t stream_limit_ = kStreamsBeforeSettings;     // the peer's MAX_CONCURRENT_STREAMS
  uint32_t goaway_last_id_ = kMaxStreamId;            // received
  bool goaway_received_ = false;
  bool goaway_sent_ = false;
  bool dirty_ = false;
  bool broken_ = false;
};

}  // namespace levee::h2
