// SPDX-License-Identifier: Apache-2.0
// The ends of a session's streams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "h2/closed_streams.h"
#include "h2/link.h"
#include "h2/stream.h"
#include "wire/metadata.h"
#include "wire/stream_end.h"

namespace levee::h2 {

// Ends streams for every reason that there is, tells their handlers and the peer, and remembers
// what later frames of an ended stream mean. An ended stream stays in memory until FreeEnded. One
// thread.
class Ends {
 public:
  explicit Ends(Link& link) : link_(link) {}

  // The peer's half of the stream ended, with the body or with trailers; or this side's half.
  void OnRemoteEnd(Stream& stream, Metadata* trailers);
  void OnLocalEnd(Stream& stream);
  // The peer's half ended, and the handler knows it.
  void CloseIfBothEnded(Stream& stream);

  // The peer has reset the stream.
  void OnReset(Stream& stream, uint32_t error_code);
  // Server role: the peer has reset a stream that it never opened.
  void OnResetOfIdleStream();
  // A frame came of a stream that is not open any more.
  void OnFrameOfClosedStream(uint32_t id);
  // Server role: who ended the stream with this id.
  ClosedStreams::By WhoClosed(uint32_t id) const { return closed_.Find(id); }

  // The peer broke a rule with this stream, or it has no place: resets the stream.
  void Fail(Stream& stream, uint32_t error_code, const char* what);
  void Refuse(Stream& stream, uint32_t error_code);

  // The stream's user resets it. Its handler is not told.
  void Reset(Stream& stream, uint32_t error_code);

  // The stream's head can never leave.
  void Drop(Stream& stream) { Close(stream, {.cause = StreamEnd::Cause::kLost}); }

  // Client role: whether a GOAWAY excludes the stream; whether one is open that none excludes; and
  // ends those that one does.
  bool Excluded(const Stream& stream) const {
    return link_.client() && link_.peer_goaway.Excludes(stream.id_);
  }
  bool MayAnswer() const;
  void EndExcluded();

  // See Session.
  size_t EndStalled(int checks);

  // The connection is lost after `written` bytes of output: ends every stream.
  void EndAll(uint64_t written);

  // Returns the ended streams to the pool; none of them may be in use any more.
  void FreeEnded();

 private:
  void Close(Stream& stream, StreamEnd end);
  void CountReset(const Stream& stream);
  void Remember(const Stream& stream, ClosedStreams::By by) {
    if (link_.server()) closed_.Add(stream.id_, by);
  }

  Link& link_;
  ClosedStreams closed_;
  bool slots_free_ = false;  // OnSlotsFree is to be called
};

}  // namespace levee::h2
