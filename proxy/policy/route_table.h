// SPDX-License-Identifier: Apache-2.0
// Finds the upstream and the policy of a call.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_values.h"

namespace levee {

// '*' matches any run of characters, also none; everything else itself. Linear in text x stars.
bool GlobMatch(std::string_view pattern, std::string_view text);

// On which side of the local application a listener stands.
enum class Direction : uint8_t {
  kEgress,   // it takes the application's own calls
  kInbound,  // it takes calls to the application
};

// A listener, as routes and plans know it.
struct ListenerRef {
  static constexpr int kNone = -1;

  int index = kNone;  // into the snapshot's listeners; kNone: the snapshot has it no more
  Direction direction = Direction::kEgress;

  bool operator==(const ListenerRef&) const = default;
};

// The conditions of a route, in the order in which they are looked at.
enum class RouteField : uint8_t { kListener, kAuthority, kMethod, kPeer };

// Returns its name in `match`.
constexpr std::string_view RouteFieldName(RouteField field) {
  switch (field) {
    case RouteField::kListener:
      return "listener";
    case RouteField::kAuthority:
      return "authority";
    case RouteField::kMethod:
      return "method";
    case RouteField::kPeer:
      return "peer";
  }
  return "";
}

inline constexpr int kRouteFields = CountValues(RouteFieldName);

// A text of a call that a pattern is held against. It has no default, so that nobody can forget to
// say it.
class RouteFact {
 public:
  // Refers to `text`.
  template <std::convertible_to<std::string_view> Text>
  RouteFact(const Text& text) : text_(text) {}  // NOLINT(google-explicit-constructor)

  // nullopt: nobody has said it, and every pattern matches. Refers to `text`.
  RouteFact(const std::optional<std::string>& text)  // NOLINT(google-explicit-constructor)
      : text_(text) {}

  const std::optional<std::string_view>& text() const { return text_; }

 private:
  std::optional<std::string_view> text_;
};

// The facts by which a route is found. A request that leaves one out does not compile. Refers to all of them.
struct RouteRequest {
  const ListenerRef& listener;
  RouteFact authority;  // the text that the call is routed by
  RouteFact path;
  RouteFact peer;  // the caller's name by its certificate; empty: none was demanded
};

struct Route {
  // Glob over the text that the call is routed by: HOST:PORT, in upper or lower case.
  std::string authority = "*";
  std::string method = "*";                  // glob over the call's :path ("/pkg.Service/Method")
  std::string peer = "*";                    // glob over the caller's name by its certificate
  int upstream = 0;                          // index into the snapshot's upstreams
  int policy = 0;                            // index into the snapshot's policies
  std::optional<int> shadow = std::nullopt;  // likewise: it decides beside `policy`
  ListenerRef listener;                      // the one that it serves; kNone: all of that direction

  // Returns the first condition that the call does not meet; nullopt: the route matches.
  std::optional<RouteField> Mismatch(const RouteRequest& request) const;
};

// Whether `wide` matches every call that `narrow` matches. A star of `narrow` is taken as a
// character that only a star of `wide` can match.
bool Covers(const Route& wide, const Route& narrow);

// Routes in the order of the configuration; immutable, shared by threads.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);

  // Whether calls of different callers may take different routes.
  bool tells_peers_apart() const { return tells_peers_apart_; }

  // The first route that matches, nullptr if none does. Linear in the routes: callers keep the
  // result in a cache.
  const Route* Find(const RouteRequest& request) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  bool tells_peers_apart_;
};

}  // namespace levee
