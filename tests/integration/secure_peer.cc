// SPDX-License-Identifier: Apache-2.0
#include "integration/secure_peer.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/chunk.h"

namespace levee {
namespace {

ByteSpan BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Returns what the session has to send, as sent.
std::string TakeOutput(tls::Session& session) {
  const ByteSpan output = session.output();
  std::string taken(output.begin(), output.end());
  session.Sent(taken.size());
  return taken;
}

}  // namespace

SecurePeer::SecurePeer(int fd, std::shared_ptr<const tls::Context> context, std::string_view first)
    : session_(std::make_unique<tls::Session>(std::move(context), "localhost")) {
  std::array<uint8_t, 65536> buffer;
  session_->Continue({});
  for (;;) {
    std::string output = TakeOutput(*session_);
    if (open()) output += Encrypt(first);
    std::string_view left = output;
    while (!left.empty()) {
      const ssize_t sent = send(fd, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      left.remove_prefix(static_cast<size_t>(sent));
    }
    if (session_->state() != tls::Session::State::kHandshake) return;
    const ssize_t size = recv(fd, buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    session_->Continue(ByteSpan(buffer).first(static_cast<size_t>(size)));
  }
}

std::string SecurePeer::Encrypt(std::string_view plain, size_t each) {
  std::string records;
  while (open() && !plain.empty()) {
    const ByteSpan piece = BytesOf(plain.substr(0, each));
    session_->Write({&piece, 1}, 0);
    records += TakeOutput(*session_);
    plain.remove_prefix(std::min(plain.size(), each));
  }
  return records;
}

std::string SecurePeer::Decrypt(std::string_view received) {
  std::string plain;
  std::array<uint8_t, 65536> buffer;
  ByteSpan more = BytesOf(received);
  do {
    const size_t size = session_->Read(std::exchange(more, {}), buffer, Instant());
    plain.append(buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(size));
  } while (session_->HasInput());
  return plain;
}

}  // namespace levee
