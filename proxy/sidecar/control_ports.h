// SPDX-License-Identifier: Apache-2.0
// The ports on which a running sidecar is looked at.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/sources.h"
#include "admin/state_keeper.h"
#include "settings/snapshot.h"
#include "sidecar/control_port.h"

namespace levee {

// Goes from one configuration to the next in two steps: Prepare does all that can fail, then either
// Commit or RollBack follows. While a port is open that shows them, the calls of late are
// remembered and `keeper` looks; they cost nothing otherwise. One thread at a time.
class ControlPorts {
 public:
  // No port is open. `sources` and `keeper` outlive the ports. `open_grpc` opens the gRPC port.
  ControlPorts(const AdminSources& sources, StateKeeper& keeper, OpenControlPort open_grpc);
  ~ControlPorts() { Stop(); }
  ControlPorts(const ControlPorts&) = delete;
  ControlPorts& operator=(const ControlPorts&) = delete;

  // Opens the ports of `snapshot` that are not open at the same address. The ports that `snapshot`
  // has not go on for now, but one: it stops if a port of `snapshot` has its number and another
  // host, to make room. The error names the field to change.
  absl::Status Prepare(const Snapshot& snapshot);

  // After a Prepare without error: its ports are the ports from now on. Returns those that are not
  // any more. They close when they are destroyed, each within about a second.
  std::vector<std::unique_ptr<ControlPort>> Commit();

  // Undoes a Prepare, also one that failed; does nothing if there was none. Closes what was opened,
  // and opens again what has made room. The error says which port cannot be opened again because
  // somebody else has it now; the next Prepare tries it again.
  absl::Status RollBack();

  // Closes all ports, the longest within about a second. The last call.
  void Stop();

  // "listening metrics 127.0.0.1:9461" and the like, in this order: metrics, admin, admin-grpc.
  std::vector<std::string> Lines() const;

 private:
  using Open =
      std::function<absl::StatusOr<std::unique_ptr<ControlPort>>(const ListenAddress& address)>;

  struct Place {
    const char* name;
    Open open;
    std::optional<ListenAddress> address = std::nullopt;  // as configured
    // nullptr: there is no address, or the port has made room and could not be opened again.
    std::unique_ptr<ControlPort> port = nullptr;

    // Between Prepare and what follows it.
    bool moves = false;  // `next_address` and `next` are to replace the two above
    bool made_room = false;
    std::optional<ListenAddress> next_address = std::nullopt;
    std::unique_ptr<ControlPort> next = nullptr;
  };

  static absl::Status Prepare(Place& place, const std::optional<ListenAddress>& wanted);
  static absl::Status RollBack(Place& place);
  void RememberIfShown();

  const AdminSources& sources_;
  StateKeeper& keeper_;
  std::array<Place, 3> places_;  // metrics, admin, gRPC
};

}  // namespace levee
