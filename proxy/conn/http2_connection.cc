// SPDX-License-Identifier: Apache-2.0
#include "conn/http2_connection.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "h2/read_pace.h"

namespace levee {
namespace {

// How often, per send_timeout, a peer that does not take its bytes is looked at.
constexpr int kSendTimeoutChecks = 4;

// Returns what a peer speaks whose first bytes are no frame of HTTP/2, if they show it: a TLS
// server answers a client without TLS with an alert (RFC 8446, section 5.1). "" if they do not.
std::string_view OtherProtocol(ByteSpan first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.starts_with("\x15\x03")) return "the service speaks TLS, and Levee sends plaintext";
  if (text.starts_with("HTTP/1.")) return "the service speaks HTTP/1, and gRPC needs HTTP/2";
  return "";
}

// The held back rest of a read is copied up to here: a slice would keep the loop's block.
constexpr size_t kCopied = 64 * 1024;

// A peer that broke the protocol has this long to take the bytes written before GOAWAY, and GOAWAY,
// and a caller also to close the connection.
constexpr absl::Duration kFarewell = absl::Seconds(1);

}  // namespace

Limit LimitOf(h2::SessionLimit limit) {
  switch (limit) {
    case h2::SessionLimit::kStreams:
      return Limit::kStreamsPerConnection;
    case h2::SessionLimit::kMetadataBytes:
      return Limit::kMetadataBytes;
    case h2::SessionLimit::kMetadataFields:
      return Limit::kMetadataFields;
    case h2::SessionLimit::kHeaderBlock:
      return Limit::kHeaderBlock;
    case h2::SessionLimit::kResets:
      return Limit::kResets;
    case h2::SessionLimit::kControlFrames:
      return Limit::kControlFrames;
    case h2::SessionLimit::kPendingFrames:
      return Limit::kPendingFrames;
    case h2::SessionLimit::kOutput:
      return Limit::kOutputBytes;
  }
  LEVEE_CHECK(false);
}

Http2Connection::Http2Connection(WorkerIo& io, h2::Session::Role role, net::ByteStream stream,
                                 const Options& options, h2::SessionHandler& events,
                                 Http2ConnectionOwner& owner)
    : io_(io),
      server_(role == h2::Session::Role::kServer),
      send_timeout_(options.send_timeout),
      owner_(owner),
      session_(role, options.session, events, *this, io.streams),
      socket_(io.loop, std::move(stream), *this),
      open_(socket_.open()) {}

Http2Connection::~Http2Connection() = default;

void Http2Connection::OnConnected() {
  open_ = true;
  OnOutputPending();
  owner_.OnConnected();
}

void Http2Connection::OnBytes(ByteSpan bytes, const Chunk& shared) {
  if (broken_ || closed_) return;
  if (received_at_ == Instant() && !server_) {
    if (const std::string_view other = OtherProtocol(bytes); !other.empty()) {
      Close(std::string(other));
      return;
    }
  }
  received_at_ = io_.loop.now();
  session_.SetStreamWindow(io_.stream_window);
  const uint64_t frames = session_.frames();
  const bool goes_on = session_.Receive(bytes, received_at_, shared);
  const size_t taken = bytes.size() - session_.untaken();
  socket_.SetReadLimit(h2::NextReadLimit(taken, session_.frames() - frames));
  const size_t unfinished = goes_on ? session_.unfinished_bytes() : 0;
  if (unfinished != 0 || unfinished_.bytes != 0) {
    io_.unfinished.Update(unfinished_, unfinished, session_.unfinished_anew(), received_at_);
  }
  if (!goes_on) Farewell();
  if (taken < bytes.size()) HoldBack(bytes.subspan(taken), shared);
}

// The socket waits until they are taken: what a peer may have here is one read. `rest`: the end of
// `shared`, if that is not empty.
void Http2Connection::HoldBack(ByteSpan rest, const Chunk& shared) {
  if (broken_ || closed_) return;
  held_back_.bytes = rest.size() <= kCopied || shared.empty()
                         ? Chunk::Copy(rest)
                         : shared.Slice(shared.size() - rest.size(), rest.size());
  io_.held_back.PushBack(held_back_);
  socket_.SetReading(false);
}

void Http2Connection::DropHeldBack() {
  held_back_.Unlink();
  held_back_.bytes = Chunk();
  socket_.SetReading(true);
}

size_t Http2Connection::TakeHeldBack(size_t most) {
  const Chunk rest = std::exchange(held_back_.bytes, Chunk());
  const size_t size = std::min(most, rest.size());
  OnBytes(rest.bytes().first(size), Chunk());
  if (broken_ || closed_) return size;
  // OnBytes may have held back the end of the piece, which stands in the whole rest as well.
  const size_t taken = size - held_back_.bytes.size();
  held_back_.bytes = rest.Slice(taken, rest.size() - taken);
  if (held_back_.bytes.empty()) {
    socket_.SetReading(true);
  } else if (!held_back_.linked()) {
    io_.held_back.PushBack(held_back_);
  }
  return taken;
}

void Http2Connection::Farewell() {
  if (std::exchange(broken_, true)) return;
  DropHeldBack();
  io_.wheel.Arm(*this, io_.loop.now() + kFarewell);
  OnOutputPending();
}

void Http2Connection::OnWritable() { OnOutputPending(); }

void Http2Connection::OnClosed(const std::string& reason) {
  if (broken_) {
    Close("protocol error");
    return;
  }
  // TLS servers of Go and OpenSSL send no alert to a client without TLS. So silence may mean TLS.
  const bool plain = socket_.tls() == nullptr;
  if (!plain && socket_.tls()->flooded()) io_.series.limit_hits[Limit::kTlsMessages].Add();
  const bool mute = !server_ && plain && open_ && received_at_ == Instant();
  Close(mute ? absl::StrCat(reason,
                            " before it said anything; does the service speak TLS? Levee "
                            "sends plaintext")
             : reason);
}

void Http2Connection::OnOutputPending() {
  if (!open_ || ListLink<Http2Connection>::linked()) return;
  (server_ ? io_.dirty_downstream : io_.dirty_upstream).PushBack(*this);
}

bool Http2Connection::WriteLeftover() {
  if (leftover_.empty()) return true;
  std::vector<ByteSpan> pieces;
  for (const Chunk& chunk : leftover_) pieces.push_back(chunk.bytes());
  size_t size = socket_.Write(pieces);
  written_ += size;
  auto first = leftover_.begin();
  for (; first != leftover_.end() && size >= first->size(); ++first) size -= first->size();
  if (first != leftover_.end()) first->RemovePrefix(size);
  leftover_.erase(leftover_.begin(), first);
  return leftover_.empty();
}

void Http2Connection::Flush() {
  if (closed_) return;
  if (!WriteLeftover()) {
    session_.FreeEnded();
    return;
  }
  for (bool more = true; more;) {
    h2::OutputBuffer& out = io_.output;
    more = session_.Serialize(out);
    const size_t size = socket_.Write(out.pieces());
    written_ += size;
    // Nothing more is serialised until the kernel has taken these bytes. So they bound the memory
    // that a peer that does not read can make us hold.
    if (size < out.size()) leftover_ = out.Rest(size);
    out.Clear();
    if (leftover_.empty()) continue;
    ArmSendTimeout();
    return;
  }
  if (HeldBack()) ArmSendTimeout();
  if (broken_ && server_) {
    EndWriting();
  } else if (broken_ || session_.Done()) {
    Close(broken_ ? "protocol error" : "connection finished");
  }
}

// The kernel resets a connection that is closed while input waits, and drops what it has not sent
// yet, such as GOAWAY. So the connection is closed when the caller closes it, or by the timer, and
// what comes until then is read and dropped (as RFC 9112, section 9.6, asks of HTTP/1 servers).
void Http2Connection::EndWriting() {
  open_ = false;
  session_.ConnectionLost(written_);
  socket_.EndWriting();
}

// Arms the timer unless it is armed. It stays armed while bytes wait, so that most writes need not
// touch it.
void Http2Connection::ArmSendTimeout() {
  if (send_timeout_ == absl::InfiniteDuration() || !Timer::when().is_infinite()) return;
  seen_leftover_ = !leftover_.empty();
  seen_written_ = written_;
  seen_body_bytes_ = session_.body_bytes();
  seen_unacknowledged_ = socket_.Unacknowledged();
  stalled_since_ = io_.loop.now();
  io_.wheel.Arm(*this, stalled_since_ + send_timeout_ / kSendTimeoutChecks);
}

// Whether the peer has taken bytes since the timer looked. Bytes that the kernel has taken count,
// as well as bytes that the peer has taken: with large socket buffers a slow peer's kernel takes
// more only now and then.
bool Http2Connection::TookSome() const {
  if (leftover_.empty()) return seen_leftover_ || session_.body_bytes() != seen_body_bytes_;
  return written_ != seen_written_ || socket_.Unacknowledged() < seen_unacknowledged_;
}

void Http2Connection::OnTimer(Instant now) {
  if (broken_) {
    Close("protocol error");
    return;
  }
  if (leftover_.empty() && !HeldBack()) return;
  if (leftover_.empty() && !server_) {
    EndStalledCalls();
  } else if (TookSome()) {
    ArmSendTimeout();
  } else if (now < stalled_since_ + send_timeout_) {
    io_.wheel.Arm(
        *this, std::min(now + send_timeout_ / kSendTimeoutChecks, stalled_since_ + send_timeout_));
  } else {
    io_.series.limit_hits[Limit::kSendTimeout].Add();
    Close("the peer did not take its bytes within limits.send_timeout");
  }
}

void Http2Connection::EndStalledCalls() {
  io_.series.limit_hits[Limit::kSendTimeout].Add(session_.EndStalled(kSendTimeoutChecks));
  if (HeldBack()) ArmSendTimeout();
}

void Http2Connection::Close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  open_ = false;
  ListLink<Http2Connection>::Unlink();
  Timer::Unlink();
  io_.unfinished.Remove(unfinished_);
  DropHeldBack();
  session_.ConnectionLost(written_);
  owner_.OnConnectionClosed(reason);
}

}  // namespace levee
