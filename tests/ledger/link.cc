// SPDX-License-Identifier: Apache-2.0
#include "ledger/link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace levee::ledger {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kWriteBytes = 64 * 1024;

// How many single bytes are read or written in one turn.
constexpr int kSlowBytesPerTurn = 16;

}  // namespace

nghttp2_nv Field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view TextOf(nghttp2_rcbuf* buffer) {
  const nghttp2_vec text = nghttp2_rcbuf_get_buf(buffer);
  return {reinterpret_cast<const char*>(text.base), text.len};
}

Link::Link(Loop& loop, int fd) : loop_(loop), fd_(fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  loop_.Watch(fd, *this, EPOLLIN);
}

Link::~Link() {
  nghttp2_session_del(session_);
  if (fd_ < 0) return;
  loop_.Forget(fd_);
  close(fd_);
}

void Link::Adopt(nghttp2_session* session) {
  session_ = session;
  Wake();
}

void Link::Freeze() {
  frozen_ = true;
  WatchFor(0);
}

void Link::SendRaw(std::string_view bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  Wake();
}

void Link::Close(Manner manner) {
  if (fd_ < 0) return;
  if (manner == Manner::kReset) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  loop_.Forget(fd_);
  close(std::exchange(fd_, -1));
  loop_.Bury(shared_from_this());
  OnGone();
}

void Link::CloseAfterFlush(Manner manner) {
  close_after_flush_ = true;
  manner_ = manner;
  Wake();
}

void Link::OnReady(uint32_t events) {
  if (fd_ < 0) return;
  Wake();
  if (frozen_) {
    // Errors and hang-ups are always told of.
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) Close(Manner::kEnd);
    return;
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) ReadSome();
}

bool Link::Feed(const uint8_t* bytes, size_t size) {
  return nghttp2_session_mem_recv(session_, bytes, size) >= 0;
}

void Link::ReadSome() {
  static std::array<uint8_t, kReadBytes> buffer;
  for (int i = 0; i < kSlowBytesPerTurn; ++i) {
    const bool slow = slow_reads_ > 0;
    const ssize_t size = recv(fd_, buffer.data(), slow ? 1 : buffer.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0 || !Feed(buffer.data(), static_cast<size_t>(size))) {
      Close(Manner::kEnd);
      return;
    }
    if (!slow) return;
    --slow_reads_;
    if (fd_ < 0 || frozen_) return;
  }
}

void Link::OnTurnEnd() {
  if (fd_ < 0 || frozen_) return;
  Flush();
  if (fd_ < 0) return;
  const bool finished = nghttp2_session_want_read(session_) == 0 &&
                        nghttp2_session_want_write(session_) == 0 && out_.empty();
  if (close_after_flush_) {
    Close(manner_);
  } else if (finished) {
    Close(Manner::kEnd);
  }
}

void Link::Flush() {
  while (WriteOut()) {
    out_.clear();
    sent_ = 0;
    while (out_.size() < kWriteBytes) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size <= 0) break;
      out_.insert(out_.end(), bytes, bytes + size);
    }
    if (out_.empty()) break;
  }
  if (fd_ >= 0) WatchFor(out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

// False when the socket takes no more, or is gone.
bool Link::WriteOut() {
  int slow_bytes = 0;
  while (sent_ < out_.size()) {
    const bool slow = slow_writes_ > 0;
    if (slow && slow_bytes++ == kSlowBytesPerTurn) return false;
    const ssize_t size =
        send(fd_, out_.data() + sent_, slow ? 1 : out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) {
      if (errno != EAGAIN) Close(Manner::kEnd);
      return false;
    }
    if (slow) --slow_writes_;
    sent_ += static_cast<size_t>(size);
  }
  return true;
}

void Link::WatchFor(uint32_t events) {
  if (fd_ < 0 || watched_ == events) return;
  watched_ = events;
  loop_.Change(fd_, *this, events);
}

}  // namespace levee::ledger
