// HTTP/2 frame by frame, for peers that do what no library does.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/tcp.h"

namespace levee {

enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kEndHeaders = 4;
inline constexpr uint8_t kPadded = 8;
inline constexpr uint8_t kPrioritised = 0x20;

// RFC 9113, section 7.
enum class H2Error : uint32_t {
  kNone = 0,
  kProtocol = 1,
  kInternal = 2,
  kFlowControl = 3,
  kStreamClosed = 5,
  kFrameSize = 6,
  kRefusedStream = 7,
  kCancel = 8,
  kEnhanceYourCalm = 11,
  kInadequateSecurity = 12,
  kHttp11Required = 13,
};

// RFC 9113, section 6.5.2.
enum class SettingId : uint16_t {
  kHeaderTableSize = 1,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
};

// One setting of a SETTINGS frame's payload.
std::string Setting(SettingId id, uint32_t value);

// The payload of a frame with kPadded: `data` and `padding` more bytes.
std::string Padded(std::string_view data, uint8_t padding);

struct Frame {
  FrameType type{};
  uint8_t flags = 0;
  int32_t stream = 0;
  std::string payload;

  bool ends_stream() const { return (flags & kEndStream) != 0; }
};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// The values of one name, in their order, joined by ", "; "" if there is none.
std::string Values(const HeaderList& fields, std::string_view name);

// "GET" of bytes: the big-endian number at `at`.
uint32_t ReadNumber(std::string_view bytes, size_t at = 0);

// One peer of an HTTP/2 connection. Reading acknowledges SETTINGS and PING and returns windows by
// itself, unless told not to; all else is the test's. One thread, but for Shutdown.
class FramePeer {
 public:
  explicit FramePeer(int fd) : connection_(fd) { Init(); }
  explicit FramePeer(const std::string& address) : connection_(address) { Init(); }

  // The next frame; nullopt at the connection's end or after kPatience. A header block in several
  // frames comes as one.
  std::optional<Frame> Read();

  // The next frame that is neither SETTINGS, PING nor WINDOW_UPDATE.
  std::optional<Frame> ReadMeaningful();

  void Write(FrameType type, uint8_t flags, int32_t stream, std::string_view payload);
  void WriteHeaders(int32_t stream, const HeaderList& fields, bool end);
  void WriteData(int32_t stream, std::string_view data, bool end);  // in frames of 16 KiB
  void WriteReset(int32_t stream, H2Error error);
  void WriteGoaway(int32_t last_stream, H2Error error = H2Error::kNone);
  void WriteWindowUpdate(int32_t stream, uint32_t bytes);

  // A header block, decoded. The decoder has state, so every block that comes must be decoded, in
  // order.
  HeaderList Decode(const Frame& headers);

  void KeepWindowsShut() { returns_windows_ = false; }

  // How much more DATA, of all streams together, the other side lets this one send, as far as it
  // has been read.
  int64_t connection_window() const { return connection_window_; }

  // Reads until the other side has done all that follows from what was written so far, as far as it
  // can; returns the DATA of `stream` that came meanwhile.
  std::string ReadSettled(int32_t stream);

  TcpConnection& connection() { return connection_; }

 private:
  struct DeleteInflater {
    void operator()(nghttp2_hd_inflater* inflater) const { nghttp2_hd_inflate_del(inflater); }
  };

  void Init();
  bool ReadExactly(size_t size, std::string& bytes);
  std::optional<Frame> ReadFrame();
  void AnswerByItself(const Frame& frame);

  TcpConnection connection_;
  std::unique_ptr<nghttp2_hd_inflater, DeleteInflater> inflater_;
  bool returns_windows_ = true;
  int64_t connection_window_ = 65'535;
};

// A header block without compression.
std::string Encode(const HeaderList& fields);

// A gRPC message as it stands in DATA frames.
std::string GrpcMessage(std::string_view message, bool compressed = false);

}  // namespace levee
