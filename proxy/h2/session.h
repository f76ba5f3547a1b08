// HTTP/2 without I/O: bytes in, events out; calls in, bytes out. Both roles, on nghttp2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "h2/stream.h"
#include "wire/metadata.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace levee::h2 {

const nghttp2_session_callbacks* SessionCallbacks(bool client);

// Version of the HTTP/2 library in use.
const char* LibraryVersion();

// Where Serialize puts bytes. A view of memory that its user owns.
struct OutputBuffer {
  uint8_t* data;
  size_t capacity;  // at least kMinimum
  size_t size = 0;

  // The largest frame that is not DATA, with its head: nghttp2 cuts header blocks at 16 KiB.
  static constexpr size_t kOtherFrame = 16 * 1024 + 9;
  // A full DATA frame (16 KiB, as nghttp2 sends them) and one of the others must fit.
  static constexpr size_t kMinimum = 2 * kOtherFrame;
  size_t room() const { return capacity - size; }
};

// Receives a session's events.
class SessionHandler {
 public:
  // Server role: a request's head is complete. The returned handler gets the stream's further
  // events; nullptr drops them (the stream was answered or reset at once).
  virtual StreamHandler* OnRequest(Stream& stream, Metadata& head, bool end) = 0;

  // Client role: the peer wants no new streams on this connection.
  virtual void OnGoaway() = 0;

  // Client role: streams may be opened that could not before (SETTINGS, or a stream ended).
  virtual void OnSlotsFree() = 0;

  // The peer broke the protocol; `what` is static text. The session answers it with RST_STREAM or
  // GOAWAY by itself.
  virtual void OnProtocolError(std::string_view what) = 0;

 protected:
  ~SessionHandler() = default;
};

// Told that there is something to Serialize: once until the next Serialize.
class OutputHandler {
 public:
  virtual void OnOutputPending() = 0;

 protected:
  ~OutputHandler() = default;
};

// Streams that are not in use, kept with their capacity. One per worker; must outlive its sessions.
class StreamPool {
 public:
  StreamPool() = default;
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  Stream* Take();
  void Return(Stream* stream);

 private:
  static constexpr size_t kKept = 1024;
  std::vector<std::unique_ptr<Stream>> free_;
};

// One connection's HTTP/2 state. One thread. Must not be destroyed from within its own callbacks.
class Session {
 public:
  enum class Role { kServer, kClient };

  struct Options {
    uint32_t max_concurrent_streams = 1024;  // server role: what the peer may open
    uint32_t stream_window_bytes = 256 * 1024;
    uint32_t connection_window_bytes = 1024 * 1024;
    // Per header block received, counted as RFC 9113, section 6.5.2 does.
    size_t metadata_bytes = 16 * 1024;
    size_t metadata_fields = 100;
  };

  Session(Role role, const Options& options, SessionHandler& handler, OutputHandler& output,
          StreamPool& pool);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes bytes from the connection. False: the peer broke the protocol so that the connection is
  // of no more use; what is pending (GOAWAY) should still be written before it is closed.
  bool Receive(ByteSpan bytes);

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

  size_t stream_count() const { return stream_count_; }
  uint64_t serialized_bytes() const { return serialized_; }

 private:
  friend class Stream;
  friend const nghttp2_session_callbacks* SessionCallbacks(bool client);
  struct Callbacks;

  static const nghttp2_session_callbacks* MakeCallbacks(bool client);

  void Dirty();
  void SubmitHeaders(Stream& stream, const Metadata& fields, bool end);
  void SubmitData(Stream& stream);
  void ReceivedHeaders(Stream& stream, bool end);
  void RemoteEnded(Stream& stream, Metadata* trailers);
  void SentGoaway(uint32_t error_code);
  void Close(Stream& stream, const StreamEnd& end);

  const Role role_;
  const Options options_;
  SessionHandler& handler_;
  OutputHandler& output_;
  StreamPool& pool_;
  nghttp2_session* session_ = nullptr;
  IntrusiveList<Stream> streams_;
  size_t stream_count_ = 0;
  OutputBuffer* out_ = nullptr;  // during Serialize
  Stream* receiving_ = nullptr;  // whose header block is being decoded
  uint64_t serialized_ = 0;
  int32_t goaway_last_id_ = INT32_MAX;  // received
  bool goaway_received_ = false;
  bool too_many_pings_ = false;
  bool settings_received_ = false;
  bool error_reported_ = false;  // of the frame that is being received
  bool dirty_ = false;
  bool full_ = false;  // DATA found no room in `out_`
  bool broken_ = false;
};

}  // namespace levee::h2
