// SPDX-License-Identifier: Apache-2.0
// HTTP/2 frame by frame over a socket, for peers that do what no library does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "h2_frames/field_coder.h"
#include "h2_frames/frames.h"
#include "integration/tcp.h"

namespace levee {

// One peer of an HTTP/2 connection. Reading acknowledges SETTINGS and PING and returns windows by
// itself, unless told not to; all else is the test's. One thread, but for Shutdown.
class FramePeer {
 public:
  explicit FramePeer(int fd) : connection_(fd) {}
  explicit FramePeer(const std::string& address) : connection_(address) {}

  // The next frame; nullopt at the connection's end or after kPatience. A header block in several
  // frames comes as one.
  std::optional<Frame> Read();

  // The next frame that is neither SETTINGS, PING nor WINDOW_UPDATE.
  std::optional<Frame> ReadMeaningful();

  void Write(FrameType type, uint8_t flags, int32_t stream, std::string_view payload);
  void WriteHeaders(int32_t stream, const HeaderList& fields, bool end);
  void WriteData(int32_t stream, std::string_view data, bool end);  // in frames of 16 KiB
  void WriteReset(int32_t stream, H2Error error);
  void WriteGoaway(int32_t last_stream, H2Error error = H2Error::kNone,
                   const std::string& text = "");
  void WriteWindowUpdate(int32_t stream, uint32_t bytes);

  // A header block, decoded. The decoder has state, so every block that comes must be decoded, in
  // order.
  HeaderList Decode(const Frame& headers);

  void KeepWindowsShut() { returns_windows_ = false; }

  // No round trip can be measured, so windows stay as they are.
  void LeavePingsUnanswered() { answers_pings_ = false; }

  // How much more DATA, of all streams together, the other side lets this one send, as far as it
  // has been read.
  int64_t connection_window() const { return connection_window_; }

  // Reads until the other side has done all that follows from what was written so far, as far as it
  // can; returns the DATA of `stream` that came meanwhile.
  std::string ReadSettled(int32_t stream);

  TcpConnection& connection() { return connection_; }

 private:
  bool ReadExactly(size_t size, std::string& bytes);
  std::optional<Frame> ReadFrame();
  void AnswerByItself(const Frame& frame);

  TcpConnection connection_;
  FieldDecoder fields_;
  bool returns_windows_ = true;
  bool answers_pings_ = true;
  int64_t connection_window_ = 65'535;
};

// A gRPC message as it stands in DATA frames.
std::string GrpcMessage(std::string_view message, bool compressed = false);

}  // namespace levee
