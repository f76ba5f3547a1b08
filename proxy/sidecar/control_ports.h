// SPDX-License-Identifier: Apache-2.0
// The control ports of a running sidecar: metrics, admin page and gRPC.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "settings/snapshot.h"
#include "sidecar/control_port.h"

namespace levee {

// Goes from one configuration to the next in two steps: Prepare does all that can fail, then either
// Commit or RollBack follows. While a port is open that shows recent calls and the state, calls are
// remembered and `keeper` reads the counters. Otherwise these cost nothing. One thread at a time.
class ControlPorts {
 public:
  // No port is open. `view` and `keeper` outlive the ports. `open_grpc` opens the gRPC port.
  ControlPorts(SidecarView& view, StateKeeper& keeper, OpenControlPort open_grpc);
  ~ControlPorts() { Stop(); }
  ControlPorts(const ControlPorts&) = delete;
  ControlPorts& operator=(const ControlPorts&) = delete;

  // Opens the ports of `snapshot` that are not open at the same address. A port that `snapshot`
  // does not have stays open for now. The exception is a port whose number a port of `snapshot` has
  // with another host: it stops, to make room. The error names the field to change.
  absl::Status Prepare(const Snapshot& snapshot);

  // Must follow a Prepare without error, whose ports are the ports from now on. Returns the ports
  // that were replaced or removed. Each closes when it is destroyed, within about a second.
  std::vector<std::unique_ptr<ControlPort>> Commit();

  // Undoes a Prepare, also one that failed; does nothing if there was none. Closes the ports that
  // were opened, and opens the ones again that had made room. The error says which port cannot be
  // opened again, because another process has it now; the next Prepare tries it again.
  absl::Status RollBack();

  // Closes all ports, within about a second. No function may be called afterwards.
  void Stop();

  // Returns a line for each open port, such as "listening metrics 127.0.0.1:9461", in this order:
  // metrics, admin, admin-grpc.
  std::vector<std::string> Lines() const;

  // Returns the addresses of the open ports.
  std::vector<net::Address> Addresses() const;

 private:
  using Open =
      std::function<absl::StatusOr<std::unique_ptr<ControlPort>>(const ListenAddress& address)>;

  struct Place {
    const char* name;
    Open open;
    std::optional<ListenAddress> address = std::nullopt;  // as configured
    // nullptr: there is no address, or the port has made room and could not be opened again.
    std::unique_ptr<ControlPort> port = nullptr;

    // These have a meaning between Prepare and the Commit or RollBack that follows.
    bool moves = false;  // `next_address` and `next` are to replace the two above
    bool made_room = false;
    std::optional<ListenAddress> next_address = std::nullopt;
    std::unique_ptr<ControlPort> next = nullptr;
  };

  static absl::Status Prepare(Place& place, const std::optional<ListenAddress>& wanted);
  static absl::Status RollBack(Place& place);
  void RememberIfShown();

  SidecarView& view_;
  StateKeeper& keeper_;
  std::array<Place, 3> places_;  // metrics, admin, gRPC
};

}  // namespace levee
