// The ports on which a running sidecar is looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "admin/admin_server.h"
#include "admin/metrics_server.h"
#include "admin/sources.h"
#include "admin/state_keeper.h"
#include "config/snapshot.h"
#include "sidecar/control_port.h"

namespace levee {

// A value: a copy shares the servers, which stop with the last of their ports. One thread at a
// time.
class ControlPorts {
 public:
  // None are open. `open_grpc` opens the gRPC port.
  explicit ControlPorts(OpenControlPort open_grpc) : open_grpc_(std::move(open_grpc)) {}

  // The ports that `snapshot` has: those that are here at the same address, the others opened anew.
  // One that is to have another host but the same port stops, to make room. The error names the
  // field to change. `sources` and `keeper`, which looks from now on if the snapshot has an admin
  // port, outlive the ports.
  absl::StatusOr<ControlPorts> For(const Snapshot& snapshot, const AdminSources& sources,
                                   StateKeeper& keeper) const;

  // The ports that For has returned, or would have, are not to be: those that had to make room are
  // opened again. The ports of For are gone by then.
  absl::Status Restore(const AdminSources& sources, StateKeeper& keeper);

  // Closes all of them, the longest within about a second.
  void Stop();

  bool has_admin() const { return admin_.server != nullptr || grpc_.server != nullptr; }

  // "listening metrics 127.0.0.1:9461" and the like, in this order: metrics, admin, admin-grpc.
  std::vector<std::string> Lines() const;

 private:
  template <typename Server>
  struct Port {
    std::optional<ListenAddress> address;      // as configured
    std::shared_ptr<Server> server = nullptr;  // nullptr iff there is no address
    // Shared by the copies: it has made room for another server at its port.
    std::shared_ptr<bool> stopped = std::make_shared<bool>(false);
  };

  OpenControlPort open_grpc_;
  Port<MetricsServer> metrics_;
  Port<AdminServer> admin_;
  Port<ControlPort> grpc_;
};

}  // namespace levee
