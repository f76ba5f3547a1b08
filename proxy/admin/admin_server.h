// SPDX-License-Identifier: Apache-2.0
// The admin port: the page, the state and the configuration of a sidecar, and its drain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "admin/http_message.h"
#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "levee/admin/v1/admin.pb.h"
#include "net/address.h"
#include "settings/snapshot.h"

namespace levee {

class HttpServer;

// The server tells of this. Each function may be called from any thread, until the server has
// stopped.
struct AdminContent {
  struct Config {
    std::string sha256;
    std::string yaml;  // with the hash in its first line
    std::string json;  // an object; empty: there is none
  };

  // NotFound, worded for people, if the request names an upstream that is not there.
  std::function<absl::StatusOr<admin::v1::State>(const admin::v1::GetStateRequest&)> state;
  std::function<Config()> config;
  std::function<bool(bool)> drain =
      nullptr;  // As SidecarView::StartDrain; nullptr: nothing can drain.
};

// Answers, on threads of its own,
//   GET  / and the page's other files
//   GET  /config         the effective configuration: YAML, or JSON if ?format=json or Accept asks
//   GET  /api/v1/state   levee.admin.v1.State as JSON; ?since=N&upstream=NAME&details_of=NAME as
//                        GetStateRequest
//   POST /drain          begins the drain: 202, or 200 if it had begun before. With
//                        ?until=signal it goes on until the process is told to stop
// and HEAD wherever GET is answered. No other request changes anything.
//
// Whoever may connect may do all this, so the port belongs on a loopback address. Pages of other
// sites in a browser on this machine are kept out: a request whose Host is a name other than
// localhost is refused (DNS rebinding), and so is a drain that another origin asks for.
class AdminServer {
 public:
  // Binds and serves. The error says which address failed, why, and which field of the
  // configuration to change.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const ListenAddress& address,
                                                            AdminContent content);

  // Serves a sidecar. `view` and `keeper` must outlive the server.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const ListenAddress& address,
                                                            SidecarView& view, StateKeeper& keeper);

  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const;
  uint16_t port() const;

  // Stops as HttpServer::Stop does: within a second, and while a state is being made as long as
  // SidecarView::Endpoints takes. A second call does nothing.
  void Stop();

 private:
  explicit AdminServer(AdminContent content);

  HttpResponse Answer(const HttpRequest& request) const;
  HttpResponse Config(const HttpRequest& request) const;
  HttpResponse State(const HttpRequest& request) const;
  HttpResponse Drain(const HttpRequest& request) const;

  const AdminContent content_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace levee
