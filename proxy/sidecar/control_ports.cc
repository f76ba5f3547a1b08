// SPDX-License-Identifier: Apache-2.0
#include "sidecar/control_ports.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "admin/admin_server.h"
#include "admin/metrics_server.h"

namespace levee {
namespace {

bool SameAddress(const std::optional<ListenAddress>& one,
                 const std::optional<ListenAddress>& other) {
  if (!one.has_value() || !other.has_value()) return one.has_value() == other.has_value();
  return one->host == other->host && one->port == other->port;
}

}  // namespace

ControlPorts::ControlPorts(SidecarView& view, StateKeeper& keeper, OpenControlPort open_grpc)
    : view_(view),
      keeper_(keeper),
      places_{Place{.name = "metrics",
                    .open =
                        [&view](const ListenAddress& address) {
                          return ToControlPort(MetricsServer::Start(
                              address, view.facts().metrics, [&view] { return view.Ready(); }));
                        }},
              Place{.name = "admin",
                    .open =
                        [&view, &keeper](const ListenAddress& address) {
                          return ToControlPort(AdminServer::Start(address, view, keeper));
                        }},
              Place{.name = "admin-grpc",
                    .open = [&view, &keeper,
                             open = std::move(open_grpc)](const ListenAddress& address) {
                      return open(address, view, keeper);
                    }}} {}

absl::Status ControlPorts::Prepare(const Snapshot& snapshot) {
  if (snapshot.admin.has_value() || snapshot.grpc_admin.has_value()) keeper_.Start();
  auto& [metrics, admin, grpc] = places_;
  absl::Status prepared = Prepare(metrics, snapshot.metrics);
  if (prepared.ok()) prepared = Prepare(admin, snapshot.admin);
  if (prepared.ok()) prepared = Prepare(grpc, snapshot.grpc_admin);
  return prepared;
}

absl::Status ControlPorts::Prepare(Place& place, const std::optional<ListenAddress>& wanted) {
  const bool lost = place.address.has_value() && place.port == nullptr;
  if (SameAddress(place.address, wanted) && !lost) return absl::OkStatus();
  place.moves = true;
  place.next_address = wanted;
  if (!wanted.has_value()) return absl::OkStatus();
  if (place.port != nullptr && place.port->address().port() == wanted->port) {
    place.made_room = true;
    place.port->Stop();
  }
  auto opened = place.open(*wanted);
  if (!opened.ok()) return opened.status();
  place.next = *std::move(opened);
  return absl::OkStatus();
}

std::vector<std::unique_ptr<ControlPort>> ControlPorts::Commit() {
  std::vector<std::unique_ptr<ControlPort>> gone;
  for (Place& place : places_) {
    place.made_room = false;
    if (!std::exchange(place.moves, false)) continue;
    place.address = std::exchange(place.next_address, std::nullopt);
    if (place.port != nullptr) gone.push_back(std::move(place.port));
    place.port = std::move(place.next);
  }
  RememberIfShown();
  return gone;
}

absl::Status ControlPorts::RollBack() {
  absl::Status restored;
  for (Place& place : places_) restored.Update(RollBack(place));
  RememberIfShown();
  return restored;
}

absl::Status ControlPorts::RollBack(Place& place) {
  place.moves = false;
  place.next_address.reset();
  place.next.reset();
  if (!std::exchange(place.made_room, false)) return absl::OkStatus();
  ListenAddress address = *place.address;
  // If the system chose the port number, the same number is used again.
  address.port = std::exchange(place.port, nullptr)->address().port();
  auto opened = place.open(address);
  if (!opened.ok()) return opened.status();
  place.port = *std::move(opened);
  return absl::OkStatus();
}

void ControlPorts::RememberIfShown() {
  const auto& [metrics, admin, grpc] = places_;
  const bool shown = admin.port != nullptr || grpc.port != nullptr;
  view_.facts().calls.SetEnabled(shown);
  if (!shown) keeper_.Stop();
}

void ControlPorts::Stop() {
  // A port that stops waits for its clients. So all ports stop at the same time, each in a thread.
  std::vector<std::thread> threads;
  for (Place& place : places_) {
    if (place.port == nullptr) continue;
    threads.emplace_back([port = place.port.get()] { port->Stop(); });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<net::Address> ControlPorts::Addresses() const {
  std::vector<net::Address> addresses;
  for (const Place& place : places_) {
    if (place.port != nullptr) addresses.push_back(place.port->address());
  }
  return addresses;
}

std::vector<std::string> ControlPorts::Lines() const {
  std::vector<std::string> lines;
  for (const Place& place : places_) {
    if (place.port == nullptr) continue;
    lines.push_back(absl::StrCat("listening ", place.name, " ", place.port->address().ToString()));
  }
  return lines;
}

}  // namespace levee
