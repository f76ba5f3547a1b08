// SPDX-License-Identifier: Apache-2.0
// The sending half of a session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"
#include "h2/ends.h"
#include "h2/flow_window.h"
#include "h2/link.h"
#include "h2/output_buffer.h"
#include "h2/stream.h"
#include "wire/metadata.h"

namespace levee::h2 {

// Writes what streams have queued, in turns and as far as the peer's windows allow, and the frames
// that the other parts hold. One thread.
class Sender {
 public:
  // `output_bytes`: as in SessionOptions.
  Sender(size_t output_bytes, Link& link, Ends& ends)
      : link_(link), ends_(ends), output_bytes_(output_bytes) {}

  // The stream may have something to send.
  void OnQueued(Stream& stream);

  // See Session. Does not free streams that have ended.
  bool Serialize(OutputBuffer& out);

  // The peer allows `bytes` more of bodies, of all streams together or of this one. False: the
  // window is larger than a window may be.
  bool GrowConnectionWindow(int64_t bytes);
  bool GrowStreamWindow(Stream& stream, int64_t bytes);
  // The same of every stream; `bytes` may be negative.
  bool GrowStreamWindows(int64_t bytes);

  // The bytes of bodies that were serialised so far.
  uint64_t body_bytes() const { return body_bytes_; }

 private:
  // Why Write stopped.
  enum class Written {
    kAll,       // the stream has nothing more that may be sent now
    kWindow,    // the connection's window is used up
    kItsShare,  // the stream has more to send, but it is the turn of other streams
    kHeld,      // a long header block has to be drained first
    kNoRoom     // the buffer is full
  };

  bool DrainHeld(OutputBuffer& out);
  Written Write(Stream& stream, OutputBuffer& out);
  bool WriteHead(Stream& stream, OutputBuffer& out);
  Written WriteData(Stream& stream, OutputBuffer& out);
  bool WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out);

  Link& link_;
  Ends& ends_;
  const size_t output_bytes_;
  SendWindow window_;  // of all streams together
  uint64_t body_bytes_ = 0;
};

}  // namespace levee::h2
