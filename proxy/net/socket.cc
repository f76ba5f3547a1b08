// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace levee::net {
namespace {

// More than the kernel needs to fill a socket's buffer with full frames.
constexpr size_t kPiecesAtOnce = 64;

// After this long without an acknowledgement the kernel gives a connection up, so that a peer that
// vanished is noticed without PINGs.
constexpr unsigned kUserTimeoutMs = 20'000;

// A connection that is quiet for this long is probed.
constexpr int kKeepaliveIdleSeconds = 60;

std::string ErrorText(int error) {
  // Lower case, as it stands in the middle of sentences.
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

void SetStreamOptions(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepaliveIdleSeconds, sizeof kKeepaliveIdleSeconds);
}

std::string PeerName(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  const Address address(reinterpret_cast<const sockaddr*>(&peer), size);
  // A caller's end of a Unix socket mostly has no path.
  if (address.is_unix() && address.unix_path().empty()) return "unix";
  return address.ToString();
}

void CloseDescriptor(int fd) { close(fd); }

Socket::Socket(EventLoop& loop, int fd, SocketHandler& handler)
    : loop_(loop), handler_(handler), fd_(fd) {
  SetStreamOptions(fd_);
  watch_.emplace(loop_, fd_, static_cast<ReadyHandler&>(*this));
  UpdateWatch();
}

Socket::Socket(EventLoop& loop, const Address& to, SocketHandler& handler)
    : loop_(loop), handler_(handler), state_(State::kConnecting) {
  fd_ = socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int error = fd_ < 0 ? errno : 0;
  if (fd_ >= 0) {
    SetStreamOptions(fd_);
    if (connect(fd_, to.get(), to.size()) != 0 && errno != EINPROGRESS) error = errno;
  }
  if (error != 0) {
    loop_.Post([this, error, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) Fail(ErrorText(error));
    });
    return;
  }
  watch_.emplace(loop_, fd_, static_cast<ReadyHandler&>(*this));
  want_write_ = true;
  UpdateWatch();
}

Socket::~Socket() {
  watch_.reset();
  if (fd_ >= 0) close(fd_);
}

void Socket::UpdateWatch() {
  if (watch_.has_value()) watch_->Set(state_ == State::kOpen, want_write_);
}

void Socket::OnReady(bool readable, bool writable) {
  if (state_ == State::kConnecting) {
    FinishConnecting();
    return;
  }
  if (writable && want_write_) {
    want_write_ = false;
    UpdateWatch();
    handler_.OnWritable();
  }
  if (readable && state_ == State::kOpen) Read();
}

void Socket::FinishConnecting() {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    Fail(ErrorText(error));
    return;
  }
  state_ = State::kOpen;
  want_write_ = false;
  UpdateWatch();
  handler_.OnConnected();
}

void Socket::Read() {
  ReadBlocks& blocks = loop_.read_blocks();
  const std::span<uint8_t> memory = blocks.memory();
  const ssize_t size = recv(fd_, memory.data(), memory.size(), 0);
  if (size > 0) {
    const auto bytes = memory.first(static_cast<size_t>(size));
    handler_.OnBytes(bytes, blocks.Filled(bytes.size()));
  } else if (size == 0) {
    Fail("connection closed by the peer");
  } else if (errno != EAGAIN && errno != EINTR) {
    Fail(ErrorText(errno));
  }
}

size_t Socket::Write(ByteSpan bytes) {
  if (state_ != State::kOpen || bytes.empty()) return 0;
  return Written(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), bytes.size());
}

size_t Socket::Write(std::span<const ByteSpan> pieces) {
  if (pieces.size() == 1) return Write(pieces[0]);
  size_t written = 0;
  while (state_ == State::kOpen && !pieces.empty()) {
    std::array<iovec, kPiecesAtOnce> vector;
    const std::span<const ByteSpan> part = pieces.first(std::min(pieces.size(), kPiecesAtOnce));
    size_t wanted = 0;
    for (size_t i = 0; i < part.size(); ++i) {
      vector[i] = {.iov_base = const_cast<uint8_t*>(part[i].data()), .iov_len = part[i].size()};
      wanted += part[i].size();
    }
    msghdr message{};
    message.msg_iov = vector.data();
    message.msg_iovlen = part.size();
    const size_t size = Written(sendmsg(fd_, &message, MSG_NOSIGNAL), wanted);
    written += size;
    if (size < wanted) break;
    pieces = pieces.subspan(part.size());
  }
  return written;
}

size_t Socket::Written(ssize_t size, size_t wanted) {
  if (size == static_cast<ssize_t>(wanted)) return wanted;
  // A broken connection is readable: the read that follows tells why, so an error here only waits.
  if (size >= 0 || errno == EAGAIN || errno == EINTR) {
    want_write_ = true;
    UpdateWatch();
  }
  return size > 0 ? static_cast<size_t>(size) : 0;
}

size_t Socket::Unacknowledged() const {
  int bytes = 0;
  return fd_ >= 0 && ioctl(fd_, SIOCOUTQ, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

int Socket::Release() {
  state_ = State::kClosed;
  watch_.reset();
  return std::exchange(fd_, -1);
}

void Socket::Fail(const std::string& reason) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  watch_.reset();
  handler_.OnClosed(reason);
}

}  // namespace levee::net
