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

#include "absl/time/time.h"
#include "base/enum_values.h"
#include "base/random.h"
#include "policy/header_match.h"
#include "wire/metadata.h"

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
enum class RouteField : uint8_t { kListener, kAuthority, kMethod, kPeer, kHeaders };

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
    case RouteField::kHeaders:
      return "headers";
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

// The headers of a call. As a RouteFact it has no default.
class RouteHeaders {
 public:
  // Refers to `head`.
  RouteHeaders(const Metadata& head) : head_(&head) {}  // NOLINT(google-explicit-constructor)

  // Nobody has said them, and every condition holds.
  RouteHeaders(std::nullopt_t) {}  // NOLINT(google-explicit-constructor)

  // nullptr: nobody has said them.
  const Metadata* head() const { return head_; }

 private:
  const Metadata* head_ = nullptr;
};

// The facts by which a route is found. A request that leaves one out does not compile. Refers to
// all of them.
struct RouteRequest {
  const ListenerRef& listener;
  RouteFact authority;  // the text that the call is routed by
  RouteFact path;
  RouteFact peer;  // the caller's name by its certificate; empty: none was demanded
  RouteHeaders headers;
};

// One of the upstreams among which a route divides its calls.
struct SplitPart {
  int upstream = 0;  // index into the snapshot's upstreams
  int weight = 0;    // its share of the calls is this part of the sum of all
};

struct Route {
  // Glob over the text that the call is routed by: HOST:PORT, in upper or lower case.
  std::string authority = "*";
  std::string method = "*";                  // glob over the call's :path ("/pkg.Service/Method")
  std::string peer = "*";                    // glob over the caller's name by its certificate
  std::vector<HeaderMatch> headers;          // all must hold; at most kMaxHeaderMatches
  bool deny = false;                         // the calls are refused; the fields below mean nothing
  int upstream = 0;                          // index into the snapshot's upstreams
  int policy = 0;                            // index into the snapshot's policies
  std::optional<int> shadow = std::nullopt;  // likewise: it decides beside `policy`
  absl::Duration timeout = absl::InfiniteDuration();  // as the policy's; the smaller one holds
  std::vector<SplitPart> split;  // in the place of `upstream`, which is the first of them then
  std::vector<std::string> split_key;  // the headers by whose values the part is drawn
  ListenerRef listener;                // the one that it serves; kNone: all of that direction

  // Returns the upstreams that its calls may go to.
  std::vector<int> Upstreams() const;

  // Returns the upstream of a call with that head. Without `split_key`, or without any of its
  // headers, `random` draws it; else calls with the same values have the same one, in every
  // sidecar with the same weights. It is not a route that denies.
  int UpstreamOf(const Metadata& head, Random& random) const;

  // Whether each call has to be looked at to know where it goes.
  bool DependsOnCalls() const { return !headers.empty() || !split.empty(); }

  // Whether a head meets all conditions on headers.
  bool TakesHeaders(const Metadata& head) const;

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

  // Whether there is a route that DependsOnCalls.
  bool looks_at_calls() const { return looks_at_calls_; }

  // Returns the numbers of the routes among which the headers of a call decide: of those that match
  // but for their headers, the ones up to the first without conditions on headers. Linear in the
  // routes. `request` has no headers.
  std::vector<int> Candidates(const RouteRequest& request) const;

  // Returns the number of the first route that has the same policy, shadow and timeout: what is
  // known of calls of the one to an upstream is known of calls of the other.
  int RulesOf(int route) const { return rules_[static_cast<size_t>(route)]; }

  // The first route that matches, nullptr if none does. Linear in the routes: callers keep the
  // result in a cache.
  const Route* Find(const RouteRequest& request) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  std::vector<int> rules_;  // by route
  bool tells_peers_apart_;
  bool looks_at_calls_;
};

}  // namespace levee
