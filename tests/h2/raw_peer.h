// SPDX-License-Identifier: Apache-2.0
// The far end of one session in memory, which writes frames byte by byte and reads what comes back.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "h2/session_pair.h"
#include "h2_frames/field_coder.h"
#include "h2_frames/frames.h"

// A namespace of its own: the names of frames are those of the tests, not the session's.
namespace levee::h2_test {

using h2::Bytes;
using h2::OutputBuffer;
using h2::RecordingHandler;
using h2::Session;
using h2::Side;
using h2::Stream;

inline constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// The largest payload of a frame by default (RFC 9113, section 6.5.2).
inline constexpr size_t kMaxFrame = 16'384;

// The largest window (RFC 9113, section 6.9.1).
inline constexpr uint32_t kMaxWindow = 0x7fff'ffff;

using Errors = std::initializer_list<H2Error>;

// The fields of a request that is well-formed, and of an answer.
HeaderList RequestHead();
HeaderList ResponseHead();

class RawPeer {
 public:
  // kSilent: nothing has been written or read yet. kReady: preface and SETTINGS are exchanged, and
  // acknowledged.
  enum class Start { kSilent, kReady };

  // `role`: of the session under test.
  explicit RawPeer(Session::Role role = Session::Role::kServer,
                   const Session::Options& options = {}, Start start = Start::kReady);

  // Each Write is one Receive of the session, and returns its answer.
  bool Write(std::string_view bytes);
  bool Write(FrameType type, uint8_t flags, int32_t stream, std::string_view payload);
  bool WriteHeaders(int32_t stream, const HeaderList& fields, bool end);
  bool WriteData(int32_t stream, std::string_view data, bool end);
  bool WriteReset(int32_t stream, H2Error error);
  bool WriteWindowUpdate(int32_t stream, uint32_t bytes);
  bool WriteSetting(SettingId id, uint32_t value);
  bool WritePriority(int32_t stream, uint32_t depends_on, uint8_t weight);

  // Every frame that the session has said since the last time.
  std::vector<Frame> Read();

  // The payloads of the DATA for `stream` among those.
  std::string ReadBody(int32_t stream);

  // A header block that the session wrote. Blocks must be decoded in order.
  HeaderList Decode(const Frame& headers);

  // The SETTINGS_HEADER_TABLE_SIZE that was written: blocks from now on must heed it.
  void SetTableBytes(size_t bytes) { fields_.SetTableBytes(bytes); }

  // Server role: what the i-th request's handler was told; "" if none came.
  std::string Heard(size_t i = 0) const;

  // Server role: answers the i-th request with a head, `body` and trailers.
  void Answer(size_t i, std::string_view body = "");

  // Client role: a request on the session's next stream, which has left and whose body is open.
  Stream& StartCall(RecordingHandler& call);

  // The last Write was answered by RST_STREAM with one of `errors`, and other streams go on.
  testing::AssertionResult StreamEnds(int32_t stream, Errors errors);
  // The same, when no further stream can be tried.
  testing::AssertionResult IsReset(int32_t stream, Errors errors);

  // The last Write was answered by GOAWAY with one of `errors`, and the session is of no more use.
  testing::AssertionResult ConnectionEnds(Errors errors);

  // Either of the two.
  testing::AssertionResult StreamOrConnectionEnds(int32_t stream, Errors errors);

  // No error was said, and a further request is heard and its answer arrives.
  testing::AssertionResult Lives();

  Instant now;  // of what is written; a test moves it
  Side side;

 private:
  testing::AssertionResult EndsWith(const std::vector<Frame>& frames, Errors errors);
  testing::AssertionResult ServesACall();
  testing::AssertionResult MakesACall();

  const Session::Role role_;
  FieldDecoder fields_;
  int32_t probe_ = 1001;  // Lives() opens this stream next
  bool receives_ = true;  // answer to the last Write
  std::vector<std::unique_ptr<RecordingHandler>> probes_;
};

// The frames of one type for one stream.
std::vector<Frame> Of(const std::vector<Frame>& frames, FrameType type, int32_t stream);

}  // namespace levee::h2_test
