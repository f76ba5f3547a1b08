// SPDX-License-Identifier: Apache-2.0
// The admin port: the page, the state and the configuration of a sidecar, and its drain.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "admin/http_message.h"
#include "admin/http_server.h"
#include "admin/sources.h"
#include "admin/state_keeper.h"
#include "net/address.h"
#include "settings/snapshot.h"

namespace levee {

// Answers, on threads of its own,
//   GET  / and the page's other files
//   GET  /config         the effective configuration: YAML, or JSON if ?format=json or Accept asks
//   GET  /api/v1/state   levee.admin.v1.State as JSON; ?since=N&upstream=NAME&details_of=NAME as
//                        GetStateRequest
//   POST /drain          begins the drain: 202, or 200 if it had begun before
// and HEAD wherever GET is answered. No other request changes anything.
//
// Whoever may connect may do all this, so the port belongs on a loopback address. Pages of other
// sites in a browser on this machine are kept out: a request whose Host is a name other than
// localhost is refused (DNS rebinding), and so is a drain that another origin asks for.
class AdminServer {
 public:
  // Binds and serves. `sources` and `keeper` must outlive the server. The error says which address
  // failed, why, and which field of the configuration to change.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const ListenAddress& address,
                                                            const AdminSources& sources,
                                                            StateKeeper& keeper);

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const { return server_->address(); }
  uint16_t port() const { return server_->port(); }

  // Stops as HttpServer::Stop does: within a second, and while a state is being made as long as
  // AdminSources::endpoints takes. A second call does nothing.
  void Stop() { server_->Stop(); }

 private:
  AdminServer(const AdminSources& sources, StateKeeper& keeper)
      : sources_(sources), keeper_(keeper) {}

  HttpResponse Answer(const HttpRequest& request) const;
  HttpResponse Config(const HttpRequest& request) const;
  HttpResponse State(const HttpRequest& request) const;
  HttpResponse Drain(const HttpRequest& request) const;

  const AdminSources& sources_;
  StateKeeper& keeper_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace levee
