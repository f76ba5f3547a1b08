// SPDX-License-Identifier: Apache-2.0
// A gRPC port without gRPC, as the command would hand it in.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "net/address.h"
#include "sidecar/control_port.h"

namespace levee {

// Opens ports that listen nowhere, and keeps the book on them. Outlives the ports.
class FakeGrpc {
 public:
  OpenControlPort Opener() {
    return [this](const ListenAddress& address, SidecarView&,
                  StateKeeper&) -> absl::StatusOr<std::unique_ptr<ControlPort>> {
      if (on_open) on_open();
      if (fails) return absl::FailedPreconditionError("the gRPC port fails");
      ++opened;
      return std::make_unique<Port>(*this, address);
    };
  }

  std::atomic<bool> fails = false;
  std::atomic<int> opened = 0;   // since the start
  std::atomic<int> stopped = 0;  // likewise
  std::function<void()> on_open;

 private:
  class Port final : public ControlPort {
   public:
    Port(FakeGrpc& fake, const ListenAddress& address)
        : fake_(fake), address_(*net::Address::FromIp(address.host, address.port)) {}
    ~Port() override { Stop(); }
    const net::Address& address() const override { return address_; }
    void Stop() override {
      if (!std::exchange(stopped_, true)) ++fake_.stopped;
    }

   private:
    FakeGrpc& fake_;
    const net::Address address_;
    bool stopped_ = false;
  };
};

}  // namespace levee
