// SPDX-License-Identifier: Apache-2.0
// A server on one of the control ports of a running sidecar.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "net/address.h"
#include "settings/snapshot.h"

namespace levee {

// A server that listens until it is stopped. The interface inverts a dependency: the gRPC port is a
// server of admin_grpc/, a layer above, so that this layer is free of the gRPC library. cli/ hands
// in the function that opens it.
class ControlPort {
 public:
  virtual ~ControlPort() = default;

  // The address on which it listens, with the port that the system chose if that was 0.
  virtual const net::Address& address() const = 0;

  // Stops listening and serving, within about a second. A second call does nothing. The destructor
  // does the same.
  virtual void Stop() = 0;
};

// Opens a port and serves on it. `view` and `keeper` must outlive the port; `keeper` has been
// started. The error says which address failed, why, and which field of the configuration to
// change.
using OpenControlPort = std::function<absl::StatusOr<std::unique_ptr<ControlPort>>(
    const ListenAddress& address, SidecarView& view, StateKeeper& keeper)>;

// Makes a port of the result of a server's Start.
template <typename Server>
absl::StatusOr<std::unique_ptr<ControlPort>> ToControlPort(
    absl::StatusOr<std::unique_ptr<Server>> started) {
  class Port final : public ControlPort {
   public:
    explicit Port(std::unique_ptr<Server> server) : server_(std::move(server)) {}
    const net::Address& address() const override { return server_->address(); }
    void Stop() override { server_->Stop(); }

   private:
    const std::unique_ptr<Server> server_;
  };
  if (!started.ok()) return started.status();
  return std::make_unique<Port>(*std::move(started));
}

}  // namespace levee
