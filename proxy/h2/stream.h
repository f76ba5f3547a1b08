// SPDX-License-Identifier: Apache-2.0
// One HTTP/2 stream of a session, either role.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/block_cache.h"
#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "h2/body_queue.h"
#include "h2/flow_window.h"
#include "wire/metadata.h"
#include "wire/stream_end.h"

namespace levee::h2 {

class Session;

// Receives a stream's events. Its functions are called from Session::Receive, Serialize and
// ConnectionLost. They may use streams of this and of other sessions, but must not call Receive or
// Serialize. The interface inverts a dependency: the handlers are of layers above.
class StreamHandler {
 public:
  // Client role: the final response head came; heads with status 1xx are skipped. The handler may
  // swap `head` out. `end`: the answer is complete (trailers-only), and OnEnd will not be called.
  virtual void OnHead(Metadata& head, bool end) = 0;

  // A piece of the body came; it is not empty. The handler returns its flow-control window by
  // Stream::Credit.
  virtual void OnData(const Chunk& data) = 0;

  // The peer sent END_STREAM. `trailers` is nullptr if it came with DATA. The handler may swap them
  // out.
  virtual void OnEnd(Metadata* trailers) = 0;

  // `bytes` of queued DATA were handed to the connection.
  virtual void OnSent(size_t bytes) = 0;

  // The stream ended. This is the last event; the Stream must not be used afterwards.
  virtual void OnClosed(const StreamEnd& end) = 0;

 protected:
  ~StreamHandler() = default;
};

// The session owns its streams, and takes them from a pool. Everything that is sent is queued until
// the session's next Serialize. One thread.
class Stream : public InBlocks, public ListLink<Stream> {
 public:
  // The stream's id. In the client role it is 0 until Serialize has written the head.
  uint32_t id() const { return id_; }

  // The fields that SendHead will send. The caller fills them in first.
  Metadata& head() { return head_; }

  // Sends head(). May be called once. `end`: nothing follows (a request without body, a
  // trailers-only answer).
  void SendHead(bool end);

  // Queues body bytes. `end`: no more will follow; then `data` may be empty.
  void SendData(const Chunk& data, bool end);

  // The fields that SendTrailers will send after all queued data.
  Metadata& trailers() { return trailers_; }
  void SendTrailers();

  // Sends RST_STREAM. No events come afterwards, and the Stream must not be used any more.
  void Reset(uint32_t error_code);

  // From now on there are no events; data that comes is dropped, and its window is returned.
  void Detach() { handler_ = nullptr; }

  // Returns flow-control window for `bytes` of the body: the peer may send as many bytes more.
  void Credit(size_t bytes);

  // The body bytes that are queued and not yet handed to the connection.
  size_t queued_bytes() const { return queue_.bytes(); }

  // Returns those bytes and the memory of heads and trailers.
  size_t held_bytes() const {
    return queue_.bytes() + received_.held_bytes() + head_.held_bytes() + trailers_.held_bytes();
  }

  // Whether the received head exceeds SessionOptions::metadata_*. Then only the fields that fit
  // were kept.
  bool oversized() const { return oversized_; }

 private:
  friend class Ends;
  friend class Link;
  friend class MessageReceiver;
  friend class ReceiveWindows;
  friend class Sender;
  friend class Session;
  friend class StreamPool;
  friend class StreamSet;
  friend class StreamTable;

  // Which part the peer sends next.
  enum class Remote : uint8_t { kHead, kBody, kEnded };
  // How far this side is with its half.
  enum class Local : uint8_t { kNoHead, kHeadQueued, kHeadSent, kEnded };
  // The part with which this side's half ends, once that is known.
  enum class Last : uint8_t { kUnknown, kHead, kBody, kTrailers };

  bool head_sent() const { return local_ >= Local::kHeadSent; }

  void Recycle();

  Session* session_ = nullptr;
  StreamHandler* handler_ = nullptr;
  Stream* next_in_table_ = nullptr;
  uint32_t id_ = 0;
  bool retired_ = false;

  // Receiving.
  Remote remote_ = Remote::kHead;
  bool oversized_ = false;
  Metadata received_;
  int64_t body_left_ = -1;  // of content-length; -1 without one
  ReceiveWindow receive_window_;
  int64_t grown_by_ = 0;  // so much larger than that of a new stream is the window to be

  // Sending.
  Local local_ = Local::kNoHead;
  Last last_ = Last::kUnknown;
  bool body_began_ = false;     // some of it was written
  uint8_t stalled_checks_ = 0;  // by EndStalled, since bytes of the queue last went
  Metadata head_;
  Metadata trailers_;
  BodyQueue queue_;
  SendWindow send_window_;
  uint64_t head_at_ = UINT64_MAX;  // position of HEADERS in the connection's output
};

}  // namespace levee::h2
