// SPDX-License-Identifier: Apache-2.0
#include "cli/handshake.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "cli/dial.h"
#include "net/address.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "tls/failure.h"
#include "wire/first_bytes.h"

namespace levee {
namespace {

using net::ByteStream;

// The first bytes of an HTTP/2 client (RFC 9113, section 3.4), with SETTINGS that change nothing. A
// service that waits for its caller answers them.
std::string Preface() {
  constexpr std::string_view kEmptySettings("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9);
  return absl::StrCat(Abseil(kHttp2Preface), Abseil(kEmptySettings));
}

absl::StatusOr<net::Address> AddressOf(const EndpointSpec& endpoint, absl::Duration timeout) {
  if (endpoint.kind == EndpointSpec::Kind::kUnix) {
    const std::optional<net::Address> address = net::Address::FromUnixPath(endpoint.path);
    if (address.has_value()) return *address;
    return absl::InvalidArgumentError("is not the path of a socket");
  }
  auto addresses = LookUp(endpoint.host, endpoint.port, timeout);
  if (!addresses.ok()) return addresses.status();
  if (addresses->empty()) return absl::NotFoundError("the name has no address");
  return addresses->front();
}

// Waits until the stream can go on, and returns false at `end`.
bool Wait(const ByteStream& stream, absl::Time end) {
  pollfd ready{.fd = stream.descriptor(), .events = 0, .revents = 0};
  if (stream.awaits_bytes()) ready.events |= POLLIN;
  if (stream.awaits_room()) ready.events |= POLLOUT;
  const int64_t left = absl::ToInt64Milliseconds(end - net::WallClock());
  return poll(&ready, 1, static_cast<int>(std::max<int64_t>(left, 0))) != 0;
}

// Returns how a handshake that is over here ended for the service: by the first that it says.
tls::Failure AfterHandshake(ByteStream& stream, absl::Time end) {
  const std::string text = Preface();
  const ByteSpan preface(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  bool written = false;
  for (;;) {
    std::array<uint8_t, 4096> bytes;
    written = written || stream.Write(preface).next == ByteStream::Transfer::Next::kGoOn;
    const ByteStream::Transfer got = stream.Read(bytes, net::ReadClock());
    if (stream.tls()->failure().result != tls::Result::kSuccess) return stream.tls()->failure();
    if (got.bytes > 0) return {};
    if (got.next != ByteStream::Transfer::Next::kWait) return tls::FailureOf(tls::Result::kReset);
    // A service that says nothing has not refused anything.
    if (!Wait(stream, end)) return {};
  }
}

}  // namespace

absl::StatusOr<tls::Failure> ShakeHands(const EndpointSpec& endpoint,
                                        const tls::ClientSource& source, absl::Duration timeout) {
  const auto address = AddressOf(endpoint, timeout);
  if (!address.ok()) return address.status();
  const bool named = !endpoint.host.empty() && !net::Address::FromIp(endpoint.host, 0).has_value();
  const absl::Time end = net::WallClock() + timeout;
  ByteStream stream = ByteStream::Dial(*address);
  stream.Secure(source.NewSession(named ? endpoint.host : ""));
  while (stream.state() == ByteStream::State::kConnecting) {
    if (!Wait(stream, end)) {
      if (!stream.connected()) return absl::DeadlineExceededError("no answer in time");
      stream.FailHandshake(tls::Result::kTimeout);
      break;
    }
    stream.Continue();
  }
  if (!stream.connected()) return absl::UnavailableError(stream.Failure());
  if (stream.state() == ByteStream::State::kReady) return AfterHandshake(stream, end);
  const tls::Failure& failure = stream.tls()->failure();
  if (failure.result != tls::Result::kSuccess) return failure;
  return tls::FailureOf(tls::Result::kReset);
}

}  // namespace levee
