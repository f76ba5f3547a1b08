// SPDX-License-Identifier: Apache-2.0
// How an HTTP/2 stream came to its end, in the words that the layers above need.
#pragma once

#include <cstdint>
#include <string_view>

namespace levee {

struct StreamEnd {
  enum class Cause {
    kComplete,  // both sides sent END_STREAM
    kReset,     // RST_STREAM, from the peer or by the session for a malformed message
    kExcluded,  // GOAWAY with a last-stream-id below this stream: surely not processed
    kLost,      // the connection went away
    kStalled    // the peer took none of the waiting bytes for too long, and the session ended it
  };
  Cause cause = Cause::kComplete;
  uint32_t error_code = 0;  // HTTP/2 error code, for kReset
  // What the peer's GOAWAY said beside that, for kExcluded and kLost; may be empty. Unchecked
  // bytes, valid during the event.
  std::string_view goaway;
  // False: not one byte of the stream's HEADERS was written to the connection.
  bool left = true;
};

}  // namespace levee
