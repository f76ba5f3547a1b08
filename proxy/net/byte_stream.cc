// SPDX-License-Identifier: Apache-2.0
#include "net/byte_stream.h"

#include <linux/netfilter_ipv4.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
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

// Small writes are not delayed, and a connection whose peer has vanished ends, with bytes under way
// or without. These options do nothing for Unix sockets.
void SetOptions(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepaliveIdleSeconds, sizeof kKeepaliveIdleSeconds);
}

// One read takes at most this from the kernel to be decrypted. It fits into a core's cache together
// with what comes out.
constexpr size_t kReadSecured = 128 * 1024;

// Bytes of the network on their way into TLS. No connection keeps them here.
std::span<uint8_t> Received() {
  thread_local const auto memory = std::make_unique<std::array<uint8_t, kReadSecured>>();
  return *memory;
}

}  // namespace

ByteStream::ByteStream(int fd, const Address& peer)
    : fd_(fd), state_(State::kReady), connected_(true), peer_(peer) {
  SetOptions(fd_);
}

Address ByteStream::LocalAddress() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (getsockname(fd_, address, &size) != 0) return {};
  return Address(address, size);
}

// An IPv4 connection has its original address as that, whatever the family of the socket.
std::optional<Address> ByteStream::OriginalDestination() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (getsockname(fd_, address, &size) != 0) return std::nullopt;
  const int family = Address(address, size).Unmapped().family();
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  // IPv6 has the same number under another name: IP6T_SO_ORIGINAL_DST.
  size = sizeof storage;
  const int level = family == AF_INET ? SOL_IP : SOL_IPV6;
  if (getsockopt(fd_, level, SO_ORIGINAL_DST, address, &size) != 0) return std::nullopt;
  return Address(address, size);
}

ByteStream ByteStream::Dial(const Address& to) {
  ByteStream stream;
  stream.peer_ = to;
  stream.fd_ = socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (stream.fd_ >= 0) SetOptions(stream.fd_);
  if (stream.fd_ < 0 || (connect(stream.fd_, to.get(), to.size()) != 0 && errno != EINPROGRESS)) {
    stream.error_ = errno;
  } else {
    stream.state_ = State::kConnecting;
  }
  return stream;
}

ByteStream::ByteStream(ByteStream&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      error_(other.error_),
      state_(other.state_),
      connected_(other.connected_),
      peer_(other.peer_),
      tls_(std::move(other.tls_)),
      encrypted_(other.encrypted_) {}

ByteStream& ByteStream::operator=(ByteStream&& other) noexcept {
  if (this == &other) return *this;
  Close();
  fd_ = std::exchange(other.fd_, -1);
  error_ = other.error_;
  state_ = other.state_;
  connected_ = other.connected_;
  peer_ = other.peer_;
  tls_ = std::move(other.tls_);
  encrypted_ = other.encrypted_;
  return *this;
}

void ByteStream::Secure(std::unique_ptr<tls::Session> session) {
  tls_ = std::move(session);
  if (state_ == State::kReady) state_ = State::kConnecting;
}

void ByteStream::Close() {
  // The peer learns that the end is meant, if the kernel takes that much now.
  if (fd_ >= 0 && tls_ != nullptr && state_ == State::kReady) EndWriting();
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

ByteStream::State ByteStream::Continue() {
  if (state_ != State::kConnecting) return state_;
  if (!connected_) {
    socklen_t size = sizeof error_;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error_, &size);
    connected_ = error_ == 0;
    if (!connected_ || tls_ == nullptr) {
      state_ = connected_ ? State::kReady : State::kFailed;
      return state_;
    }
  }
  return ShakeHands();
}

ByteStream::State ByteStream::ShakeHands() {
  using Next = Transfer::Next;
  const Transfer moved = Receive(Received());
  if (moved.next == Next::kEnd || moved.next == Next::kFailed) {
    tls_->FailInHandshake(tls::Result::kReset);
  } else {
    tls_->Continue(Received().first(moved.bytes));
    if (unsent() && SendOutput().next == Next::kFailed) {
      tls_->FailInHandshake(tls::Result::kReset);
    }
  }
  switch (tls_->state()) {
    case tls::Session::State::kHandshake:
      break;
    case tls::Session::State::kOpen:
    case tls::Session::State::kEnded:
      state_ = State::kReady;
      break;
    case tls::Session::State::kFailed:
      state_ = State::kFailed;
      break;
  }
  return state_;
}

void ByteStream::FailHandshake(tls::Result result) {
  tls_->FailInHandshake(result);
  state_ = State::kFailed;
}

ByteStream::Transfer ByteStream::Moved(ssize_t size, size_t wanted) {
  using Next = Transfer::Next;
  if (size == static_cast<ssize_t>(wanted)) return {.bytes = wanted};
  if (size >= 0) return {.bytes = static_cast<size_t>(size), .next = Next::kWait};
  if (errno == EAGAIN || errno == EINTR) return {.next = Next::kWait};
  error_ = errno;
  return {.next = Next::kFailed};
}

ByteStream::Transfer ByteStream::Receive(std::span<uint8_t> to) {
  const ssize_t size = recv(fd_, to.data(), to.size(), 0);
  if (size > 0) return {.bytes = static_cast<size_t>(size)};
  return size == 0 ? Transfer{.next = Transfer::Next::kEnd} : Moved(size, to.size());
}

bool ByteStream::HasArrived() const {
  char byte = 0;
  return recv(fd_, &byte, 1, MSG_PEEK) >= 0 || errno != EAGAIN;
}

bool ByteStream::HasEnded() const {
  pollfd state{.fd = fd_, .events = POLLRDHUP, .revents = 0};
  return poll(&state, 1, /*timeout=*/0) > 0;
}

ByteStream::Transfer ByteStream::Read(std::span<uint8_t> to, Instant now) {
  return tls_ == nullptr ? Receive(to) : ReadSecured(to, now);
}

ByteStream::Transfer ByteStream::ReadSecured(std::span<uint8_t> to, Instant now) {
  using Next = Transfer::Next;
  Transfer received;
  if (!HasInput()) {
    received = Receive(Received().first(std::min(to.size(), kReadSecured)));
    if (received.bytes == 0) return received;
  }
  const size_t size = tls_->Read(Received().first(received.bytes), to, now);
  SendUnsent();
  if (size > 0) return {.bytes = size};
  if (tls_->state() == tls::Session::State::kOpen) return {.next = Next::kWait};
  return {.next = tls_->state() == tls::Session::State::kEnded ? Next::kEnd : Next::kFailed};
}

ByteStream::Transfer ByteStream::Write(ByteSpan bytes) {
  if (tls_ != nullptr) return WriteSecured({&bytes, 1});
  return Moved(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), bytes.size());
}

ByteStream::Transfer ByteStream::Write(std::span<const ByteSpan> pieces) {
  if (tls_ != nullptr) return WriteSecured(pieces);
  Transfer all;
  while (!pieces.empty() && all.next == Transfer::Next::kGoOn) {
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
    const Transfer moved = Moved(sendmsg(fd_, &message, MSG_NOSIGNAL), wanted);
    all = {.bytes = all.bytes + moved.bytes, .next = moved.next};
    pieces = pieces.subspan(part.size());
  }
  return all;
}

// Bytes count as taken when the kernel has all of the records that they are in. So the sender knows
// as without TLS what may have reached the peer.
ByteStream::Transfer ByteStream::WriteSecured(std::span<const ByteSpan> pieces) {
  Transfer all;
  for (;;) {
    if (unsent()) all.next = SendOutput().next;
    if (all.next != Transfer::Next::kGoOn) return all;
    all.bytes += encrypted_;
    encrypted_ = tls_->Write(pieces, all.bytes);
    if (encrypted_ > 0) continue;
    if (tls_->state() == tls::Session::State::kFailed) all.next = Transfer::Next::kFailed;
    return all;
  }
}

ByteStream::Transfer ByteStream::SendOutput() {
  const ByteSpan output = tls_->output();
  const Transfer moved =
      Moved(send(fd_, output.data(), output.size(), MSG_NOSIGNAL), output.size());
  tls_->Sent(moved.bytes);
  return moved;
}

bool ByteStream::SendUnsent() { return !unsent() || SendOutput().next == Transfer::Next::kGoOn; }

void ByteStream::EndWriting() {
  if (tls_ != nullptr) {
    tls_->EndWriting();
    SendUnsent();
  }
  shutdown(fd_, SHUT_WR);
}

std::string ByteStream::Failure() const {
  if (tls_ != nullptr && !tls_->failure().text.empty()) return tls_->failure().text;
  // Lower case, as it stands in the middle of sentences.
  std::string text = std::generic_category().message(error_);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

size_t ByteStream::Unacknowledged() const {
  int bytes = 0;
  return fd_ >= 0 && ioctl(fd_, SIOCOUTQ, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

std::optional<PeerSigns> ByteStream::Signs() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (fd_ < 0 || getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return PeerSigns{.unacknowledged = static_cast<int>(info.tcpi_unacked),
                   .since_ack = absl::Milliseconds(info.tcpi_last_ack_recv),
                   .retransmits = info.tcpi_retransmits,
                   .round_trip = absl::Microseconds(info.tcpi_rtt)};
}

}  // namespace levee::net
