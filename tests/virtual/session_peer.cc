// SPDX-License-Identifier: Apache-2.0
#include "virtual/session_peer.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace levee {
namespace {

constexpr size_t kOutput = 64 * 1024;

}  // namespace

SessionPeer::SessionPeer(h2::Session::Role role, int fd)
    : wire_(fd), output_(kOutput), session_(role, {}, *this, *this, pool_) {}

bool SessionPeer::Pump() {
  if (lost_) return false;
  std::string received;
  bool moved = wire_.Read(received);
  if (!received.empty()) {
    session_.Receive({reinterpret_cast<const uint8_t*>(received.data()), received.size()},
                     Instant());
  }
  for (bool more = true; more;) {
    more = session_.Serialize(output_);
    for (ByteSpan piece : output_.pieces()) {
      wire_.Send({reinterpret_cast<const char*>(piece.data()), piece.size()});
    }
    output_.Clear();
  }
  moved = wire_.Write(SIZE_MAX) || moved;
  if (!wire_.open()) {
    lost_ = true;
    session_.ConnectionLost(session_.serialized_bytes());
  }
  return moved;
}

void SessionPeer::OnProtocolError(std::string_view what) {
  std::fprintf(stderr, "the worker broke the protocol: %.*s\n", static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace levee
