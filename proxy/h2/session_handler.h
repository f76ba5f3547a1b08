// SPDX-License-Identifier: Apache-2.0
// The interfaces by which a session tells its owner what happens. They invert a dependency: the
// owner is of a layer above.
#pragma once

#include <string_view>

#include "h2/stream.h"
#include "wire/metadata.h"

namespace levee::h2 {

// A bound of SessionOptions that the peer reached.
enum class SessionLimit {
  // max_concurrent_streams: the stream has the last place, so the peer must hold further ones back;
  // or there was none left, and it is refused.
  kStreams,
  kMetadataBytes,   // the stream's oversized() is true
  kMetadataFields,  // the same
  kHeaderBlock,     // this and the following close the connection, with ENHANCE_YOUR_CALM
  kResets,
  kControlFrames,  // but SETTINGS of an upstream end new calls first
  kPendingFrames,
  kOutput
};

// Receives a session's events. Its functions are called from Session::Receive and Serialize.
class SessionHandler {
 public:
  // Server role: a request's head is complete. The returned handler gets the stream's further
  // events; nullptr drops them (the stream was answered or reset at once).
  virtual StreamHandler* OnRequest(Stream& stream, Metadata& head, bool end) = 0;

  // Client role: the peer wants no new streams on this connection.
  virtual void OnGoaway() = 0;

  // Client role: streams may be opened that could not before (SETTINGS, or a stream ended).
  virtual void OnSlotsFree() = 0;

  // The peer broke the protocol; `what` is static text. The session answers with RST_STREAM or
  // GOAWAY by itself.
  virtual void OnProtocolError(std::string_view what) = 0;

  // The peer reached a bound; OnProtocolError is not called for it.
  virtual void OnLimit(SessionLimit limit) = 0;

 protected:
  ~SessionHandler() = default;
};

// Learns when a session has something to send.
class OutputHandler {
 public:
  // The session has output for Serialize. Called once; the next call comes after a Serialize.
  virtual void OnOutputPending() = 0;

 protected:
  ~OutputHandler() = default;
};

}  // namespace levee::h2
