// SPDX-License-Identifier: Apache-2.0
#include "integration/attacker.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "gtest/gtest.h"
#include "integration/raw_client.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr size_t kFrameHead = 9;

int PatienceMillis() {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(kPatience).count());
}

}  // namespace

Attacker::Attacker(const std::string& address, Reading reading, std::string_view settings)
    : fd_(ConnectTo(address)), reading_(reading) {
  // What is not read soon waits at the other side, not in the kernel.
  const int few = 4096;
  if (reading == Reading::kNothing) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
  Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EncodeFrame(FrameType::kSettings, 0, 0, settings));
}

Attacker::~Attacker() { close(fd_); }

bool Attacker::Send(std::string_view frames) {
  const auto events = static_cast<short>(POLLOUT | (reading_ == Reading::kAll ? POLLIN : 0));
  while (!frames.empty() && !ended_) {
    pollfd wait = {.fd = fd_, .events = events, .revents = 0};
    if (poll(&wait, 1, PatienceMillis()) != 1) return false;
    if ((wait.revents & POLLIN) != 0) Receive();
    const ssize_t sent = send(fd_, frames.data(), frames.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) frames.remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN) ended_ = true;
  }
  return !ended_;
}

void Attacker::Flood(int pieces, const std::function<std::string(int)>& piece) {
  for (int i = 0; i < pieces && Send(piece(i)); ++i) continue;
}

void Attacker::Receive() {
  std::array<char, 65536> buffer;
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN)) ended_ = true;
  if (size <= 0) return;
  received_.append(buffer.data(), static_cast<size_t>(size));
  size_t at = 0;
  while (received_.size() - at >= kFrameHead) {
    const size_t payload = ReadNumber(received_, at) >> 8;
    if (received_.size() - at < kFrameHead + payload) break;
    if (static_cast<FrameType>(received_[at + 3]) == FrameType::kGoaway) {
      goaway_ = ReadNumber(received_, at + kFrameHead + 4);
    }
    at += kFrameHead + payload;
  }
  received_.erase(0, at);
}

std::optional<uint32_t> Attacker::AwaitEnd() {
  // Bytes that came before a failed Send noticed the end can still be read.
  ended_ = false;
  while (!ended_) {
    pollfd wait = {.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, PatienceMillis()) != 1) {
      ADD_FAILURE() << "the connection does not end";
      return std::nullopt;
    }
    Receive();
  }
  return goaway_;
}

std::string EncodeFrame(FrameType type, uint8_t flags, int32_t stream, std::string_view payload) {
  return FrameHead(payload.size(), type, flags, stream).append(payload);
}

int32_t StreamOf(int call) { return 2 * call + 1; }

std::string OpenCall(int call, const HeaderList& more) {
  return EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call),
                     Encode(RawClient::CallHead(more)));
}

std::string ResetCall(int call) {
  return EncodeFrame(FrameType::kReset, 0, StreamOf(call),
                     Number(static_cast<uint32_t>(H2Error::kCancel)));
}

double Hits(const SidecarProcess& sidecar, const std::string& limit) {
  return sidecar.Metric("levee_limit_hits_total{limit=\"" + limit + "\"}");
}

}  // namespace levee
