// SPDX-License-Identifier: Apache-2.0
// The admin gRPC port: health, reflection, channelz and levee.admin.v1.Admin.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "net/address.h"
#include "settings/snapshot.h"

namespace levee {

// Serves
//   grpc.health.v1.Health     "": serving while ready; each upstream by its name, see
//                             UpstreamHealth; looked at once a second
//   levee.admin.v1.Admin
//   grpc.channelz.v1.Channelz and server reflection
//
// It holds few connections and calls: others make room for new ones, see Gate.
//
// Nothing of gRPC runs before the first server starts. The functions below belong to the thread
// that started the server.
class GrpcAdminServer {
 public:
  // Binds and serves. `view` and `keeper` must outlive the server; `keeper` must have been
  // started, as its seconds drive the health and WatchState. The error says which address failed,
  // why, and which field of the configuration to change.
  static absl::StatusOr<std::unique_ptr<GrpcAdminServer>> Start(const ListenAddress& address,
                                                                SidecarView& view,
                                                                StateKeeper& keeper);
  ~GrpcAdminServer();
  GrpcAdminServer(const GrpcAdminServer&) = delete;
  GrpcAdminServer& operator=(const GrpcAdminServer&) = delete;

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const;
  uint16_t port() const { return address().port(); }

  // Stops listening and ends every call with UNAVAILABLE, within about a second. A second call does
  // nothing.
  void Stop();

 private:
  class Serving;

  explicit GrpcAdminServer(std::unique_ptr<Serving> serving);
  std::unique_ptr<Serving> serving_;
};

}  // namespace levee
