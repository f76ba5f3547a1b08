// SPDX-License-Identifier: Apache-2.0
// The flow-control windows of what the peer sends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"
#include "h2/flow_window.h"
#include "h2/link.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "h2/window_growth.h"

namespace levee::h2 {

// Holds the peer to the windows of the connection and of its streams, returns them as bytes are
// processed, and lets those of streams grow if they are what bounds the peer. One thread.
class ReceiveWindows {
 public:
  ReceiveWindows(const SessionOptions& options, Link& link);

  // Adds to the output what makes the connection's window as large as the options say. The first
  // SETTINGS, which say the same of streams, must be there already.
  void OfferConnectionWindow();

  // See Session.
  void SetStreamWindow(uint32_t bytes) {
    wanted_ = bytes;
    if (bytes != offered_ && acknowledged_) OfferStreamWindow();
  }
  // The peer has acknowledged the last SETTINGS.
  void OnSettingsAck();

  // Gives a new stream its window.
  void Begin(Stream& stream) const { stream.receive_window_ = ReceiveWindow(of_new_stream_); }

  // A DATA frame of `length` bytes came. False: the connection's window does not allow it.
  bool TakeOfConnection(size_t length) {
    if (!connection_.Take(length)) return false;
    // At once, so that a stream whose bytes wait for a slow reader does not stop other streams. The
    // stream's own window bounds the number of its waiting bytes.
    if (connection_.Credit(length)) ReturnConnectionWindow();
    return true;
  }
  // The frame is one of this stream, and `padding` of its bytes are not of the body. False: the
  // stream's window does not allow it.
  bool TakeOfStream(Stream& stream, size_t length, size_t padding);

  // So many received bytes of the stream were processed, and the peer may send as many again.
  void Credit(Stream& stream, size_t bytes);

  // A PING of this side was acknowledged. `payload`: 8 bytes.
  void OnPingAck(ByteSpan payload);

 private:
  void OfferStreamWindow();
  void ReturnConnectionWindow();
  void Change(int64_t bytes);
  void Probe(const Stream& stream);
  int64_t Whole(Stream& stream);

  Link& link_;
  const uint32_t connection_bytes_;  // of the options, like the next one
  const uint32_t first_stream_bytes_;
  ReceiveWindow connection_;
  int64_t of_new_stream_;
  uint32_t offered_;           // for streams, by the last SETTINGS
  uint32_t wanted_;            // to be offered once those have been acknowledged
  bool acknowledged_ = false;  // all SETTINGS
  WindowGrowth growth_;
};

}  // namespace levee::h2
