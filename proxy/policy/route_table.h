// SPDX-License-Identifier: Apache-2.0
// Finds the upstream and the policy of a call.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace levee {

// '*' matches any run of characters, also none; everything else itself. Linear in text x stars.
bool GlobMatch(std::string_view pattern, std::string_view text);

struct Route {
  std::string authority = "*";  // glob over the text that the call is routed by: HOST:PORT
  std::string method = "*";     // glob over the call's :path ("/pkg.Service/Method")
  int upstream = 0;             // index into the snapshot's upstreams
  int policy = 0;               // index into the snapshot's policies
};

// Routes in the order of the configuration; immutable, shared by threads.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {}

  // The first route that matches, nullptr if none does. Linear in the routes: callers keep the
  // result in a cache by (authority, path).
  const Route* Find(std::string_view authority, std::string_view path) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace levee
