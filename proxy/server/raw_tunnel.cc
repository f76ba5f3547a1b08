// SPDX-License-Identifier: Apache-2.0
#include "server/raw_tunnel.h"

#include <string_view>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/check.h"
#include "base/host_port.h"
#include "net/address.h"
#include "server/connection_events.h"
#include "server/worker.h"
#include "wire/first_bytes.h"

namespace levee {
namespace {

std::string_view Text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RawTunnel::RawTunnel(const TunnelEnvironment& environment, net::ByteStream caller, ByteSpan first,
                     ConnectionOrigin origin, Worker& worker)
    : environment_(environment),
      io_(environment.io),
      origin_(std::move(origin)),
      worker_(worker),
      dialled_(environment.capture_loops),
      caller_(std::move(caller)),
      first_(first.begin(), first.end()) {
  if (!first.empty()) Identify(first);
  io_.wheel.Arm(*this, io_.loop.now() + kConnectTimeout);
  const auto to = SplitHostPort(origin_.leads_to());
  LEVEE_CHECK(to.has_value());  // The CONNECT request was read by the same rule.
  query_ = environment_.resolver.Resolve(std::string(to->host), to->port, origin_.number,
                                         [this](auto answer) { Resolved(std::move(answer)); });
}

void RawTunnel::Identify(ByteSpan first) {
  const bool tls = BeginsTls(Text(first));
  io_.log.Write(EventKind::kConnectionIdentified, [&] {
    return ConnectionFields(origin_, {{"protocol", tls ? "tls" : "opaque"}});
  });
  if (!tls || !environment_.tls_destinations.Add(origin_.leads_to())) return;
  io_.log.Write(EventKind::kTunnelCarriesTls, [&] {
    return std::vector<LogField>{{"destination", origin_.leads_to()}};
  });
}

void RawTunnel::Resolved(absl::StatusOr<net::Resolver::Found> answer) {
  if (ended_) return;
  if (!answer.ok()) {
    End(TunnelFailure::kResolve);
    return;
  }
  std::vector<net::Address> addresses = std::move(answer->addresses);
  std::erase_if(addresses, [this](const net::Address& address) {
    return absl::c_any_of(environment_.own_addresses,
                          [&](const net::Address& own) { return address.Reaches(own); });
  });
  if (addresses.empty()) {
    End(TunnelFailure::kLoop);
    return;
  }
  relay_ =
      std::make_unique<net::Relay>(io_.loop, std::move(caller_), first_, std::move(addresses),
                                   /*hold=*/first_.empty(), static_cast<net::RelayHandler&>(*this));
  first_.clear();
}

void RawTunnel::OnTimer(Instant) {
  if (relay_ == nullptr) {
    End(TunnelFailure::kResolve);
  } else if (!relay_->connected()) {
    End(TunnelFailure::kConnect);
  } else {
    relay_->LookAgain();
  }
}

void RawTunnel::OnHeld(ByteSpan from_caller, ByteSpan from_dialled, bool ended) {
  const LateSniff::Heard heard = {
      .caller = Text(from_caller), .destination = Text(from_dialled), .ended = ended};
  switch (sniff_.Look(heard, io_.loop.now())) {
    case Late::kHold:
      // Before it is connected there is nobody to pass bytes on to, and the timer bounds that time.
      if (relay_->connected()) io_.wheel.Arm(*this, sniff_.due());
      return;
    case Late::kPassOn:
      Identify(from_caller);
      if (relay_->connected()) Timer::Unlink();
      relay_->PassOn();
      return;
    case Late::kHttp2:
      ended_ = true;
      Timer::Unlink();
      worker_.OnLateHttp2(*this, relay_->ReleaseCaller(), from_caller);
      return;
  }
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
