#include "sidecar/control_ports.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

bool SameAddress(const std::optional<ListenAddress>& one,
                 const std::optional<ListenAddress>& other) {
  if (!one.has_value() || !other.has_value()) return one.has_value() == other.has_value();
  return one->host == other->host && one->port == other->port;
}

// How the server of each port is started.
struct Starter {
  auto operator()(const ListenAddress& address, const MetricsServer*) const {
    return MetricsServer::Start(address, sources.metrics, sources.ready);
  }
  auto operator()(const ListenAddress& address, const AdminServer*) const {
    return AdminServer::Start(address, sources, keeper);
  }
  auto operator()(const ListenAddress& address, const ControlPort*) const {
    return open_grpc(address, sources, keeper);
  }

  const AdminSources& sources;
  StateKeeper& keeper;
  const OpenControlPort& open_grpc;
};

// Opens `port` at `address`, unless it is there already. Where only the host is another, the server
// before is in the way: it stops.
template <typename Port>
absl::Status Move(Port& port, const std::optional<ListenAddress>& address, const Starter& start) {
  if (SameAddress(port.address, address)) return absl::OkStatus();
  const Port before = std::exchange(port, Port{.address = address});
  if (!address.has_value()) return absl::OkStatus();
  if (before.server != nullptr && before.server->address().port() == address->port) {
    *before.stopped = true;
    before.server->Stop();
  }
  auto server = start(*address, before.server.get());
  if (!server.ok()) return server.status();
  port.server = *std::move(server);
  return absl::OkStatus();
}

template <typename Port>
absl::Status StartAgain(Port& port, const Starter& start) {
  if (!*port.stopped) return absl::OkStatus();
  ListenAddress address = *port.address;
  address.port = port.server->address().port();
  auto server = start(address, port.server.get());
  if (!server.ok()) return server.status();
  port = Port{.address = port.address, .server = *std::move(server)};
  return absl::OkStatus();
}

template <typename Server>
void AddLine(std::vector<std::string>& lines, const char* name, const Server& server) {
  if (server == nullptr) return;
  lines.push_back(absl::StrCat("listening ", name, " ", server->address().ToString()));
}

}  // namespace

absl::StatusOr<ControlPorts> ControlPorts::For(const Snapshot& snapshot,
                                               const AdminSources& sources,
                                               StateKeeper& keeper) const {
  ControlPorts ports = *this;
  const Starter start{sources, keeper, open_grpc_};
  if (snapshot.admin.has_value() || snapshot.grpc_admin.has_value()) keeper.Start();
  absl::Status moved = Move(ports.metrics_, snapshot.metrics, start);
  if (moved.ok()) moved = Move(ports.admin_, snapshot.admin, start);
  if (moved.ok()) moved = Move(ports.grpc_, snapshot.grpc_admin, start);
  if (!moved.ok()) return moved;
  return ports;
}

absl::Status ControlPorts::Restore(const AdminSources& sources, StateKeeper& keeper) {
  const Starter start{sources, keeper, open_grpc_};
  absl::Status status = StartAgain(metrics_, start);
  status.Update(StartAgain(admin_, start));
  status.Update(StartAgain(grpc_, start));
  return status;
}

void ControlPorts::Stop() {
  // Each waits for its clients, so they do it at the same time.
  std::vector<std::thread> threads;
  const auto stop = [&threads](const auto& port) {
    if (port.server != nullptr) threads.emplace_back([&port] { port.server->Stop(); });
  };
  stop(metrics_);
  stop(admin_);
  stop(grpc_);
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::string> ControlPorts::Lines() const {
  std::vector<std::string> lines;
  AddLine(lines, "metrics", metrics_.server);
  AddLine(lines, "admin", admin_.server);
  AddLine(lines, "admin-grpc", grpc_.server);
  return lines;
}

}  // namespace levee
