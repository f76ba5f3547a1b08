// SPDX-License-Identifier: Apache-2.0
#include "admin/control_listener.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "net/address.h"

namespace levee {
namespace {

// Requests are small, and an answer that nobody takes shall wait where it is counted.
constexpr int kBufferBytes = 32 << 10;

}  // namespace

absl::Status AddressFault(const ListenAddress& address, std::string_view field,
                          std::string_view why) {
  const std::string_view where = address.position.empty() ? field : address.position;
  return absl::FailedPreconditionError(absl::StrCat(Abseil(where), ": ", Abseil(why)));
}

absl::StatusOr<std::unique_ptr<net::Listener>> OpenControlListener(
    net::EventLoop& loop, TimerWheel& wheel, const ListenAddress& address, std::string_view field,
    std::function<void(net::ByteStream stream)> accepted) {
  const std::optional<net::Address> wanted = net::Address::FromIp(address.host, address.port);
  if (!wanted.has_value()) {
    return AddressFault(address, field, "cannot listen on " + address.host + ": not an IP address");
  }
  auto listener = net::Listener::Open(loop, wheel, *wanted, std::move(accepted),
                                      {.for_callers = false, .buffer_bytes = kBufferBytes});
  if (listener.ok()) return listener;
  std::string why(listener.status().message());
  if (absl::StrContains(why, "in use")) why += "; choose another port or free this one";
  return AddressFault(address, field, why);
}

}  // namespace levee
