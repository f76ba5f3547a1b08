// SPDX-License-Identifier: Apache-2.0
#include "server/raw_tunnel.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/host_port.h"
#include "net/address.h"
#include "server/worker.h"

namespace levee {

RawTunnel::RawTunnel(WorkerIo& io, net::Resolver& resolver, net::ByteStream caller, ByteSpan first,
                     ConnectionOrigin origin, const std::vector<net::Address>& own_listeners,
                     CaptureLoops& loops, Worker& worker)
    : io_(io),
      origin_(std::move(origin)),
      own_listeners_(own_listeners),
      worker_(worker),
      dialled_(loops),
      caller_(std::move(caller)),
      first_(first.begin(), first.end()) {
  io_.wheel.Arm(*this, io_.loop.now() + kConnectTimeout);
  const auto to = SplitHostPort(origin_.destination);
  LEVEE_CHECK(to.has_value());  // The CONNECT request was read by the same rule.
  query_ = resolver.Resolve(std::string(to->host), to->port, origin_.number,
                            [this](auto answer) { Resolved(std::move(answer)); });
}

void RawTunnel::Resolved(absl::StatusOr<net::Resolver::Found> answer) {
  if (ended_) return;
  if (!answer.ok()) {
    End(TunnelFailure::kResolve);
    return;
  }
  std::vector<net::Address> addresses = std::move(answer->addresses);
  std::erase_if(addresses, [this](const net::Address& address) {
    return std::any_of(own_listeners_.begin(), own_listeners_.end(),
                       [&](const net::Address& own) { return address.Reaches(own); });
  });
  if (addresses.empty()) {
    End(TunnelFailure::kLoop);
    return;
  }
  relay_ = std::make_unique<net::Relay>(io_.loop, std::move(caller_), first_, std::move(addresses),
                                        static_cast<net::RelayHandler&>(*this));
  first_.clear();
}

void RawTunnel::OnTimer(Instant) {
  if (relay_ != nullptr && relay_->connected()) return;
  End(relay_ == nullptr ? TunnelFailure::kResolve : TunnelFailure::kConnect);
}

void RawTunnel::OnRelayed(bool forward, size_t bytes) {
  bytes_ += bytes;
  worker_.OnTunnelled(forward, bytes);
}

void RawTunnel::OnRelayClosed(const std::string&) {
  End(relay_->connected() ? std::nullopt : std::optional(TunnelFailure::kConnect));
}

void RawTunnel::End(std::optional<TunnelFailure> failure) {
  if (std::exchange(ended_, true)) return;
  Timer::Unlink();
  worker_.OnTunnelClosed(*this, failure);
}

}  // namespace levee
