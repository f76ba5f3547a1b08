// SPDX-License-Identifier: Apache-2.0
#include "lab/route_trace.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/fault.h"
#include "policy/route_table.h"

namespace levee {
namespace {

const char* Side(Direction direction) {
  return direction == Direction::kInbound ? "inbound" : "egress";
}

std::string NameOf(const Snapshot& snapshot, int listener) {
  return Quoted(snapshot.listeners[static_cast<size_t>(listener)].name);
}

std::string Serves(const Snapshot& snapshot, const Route& route) {
  std::vector<std::string> parts;
  if (route.listener.index != ListenerRef::kNone) {
    parts.push_back(absl::StrCat("listener ", NameOf(snapshot, route.listener.index)));
  }
  if (route.authority != "*") parts.push_back(absl::StrCat("authority ", Quoted(route.authority)));
  if (route.method != "*") parts.push_back(absl::StrCat("method ", Quoted(route.method)));
  if (route.peer != "*") parts.push_back(absl::StrCat("peer ", Quoted(route.peer)));
  return parts.empty() ? "every call" : absl::StrJoin(parts, ", ");
}

std::string Mismatch(const char* what, const std::string& pattern,
                     const std::optional<std::string>& fact) {
  if (!fact.has_value() || GlobMatch(pattern, *fact)) return "";
  return absl::StrCat("its ", what, " ", Quoted(pattern), " does not match ", Quoted(*fact));
}

std::string ListenerMismatch(const Snapshot& snapshot, const Route& route,
                             const ListenerRef& listener) {
  if (route.listener.index == listener.index) return "";
  if (route.listener.index != ListenerRef::kNone) {
    return absl::StrCat("it serves listener ", NameOf(snapshot, route.listener.index), ", not ",
                        NameOf(snapshot, listener.index));
  }
  if (route.listener.direction == listener.direction) return "";
  return absl::StrCat("it serves ", Side(route.listener.direction), " listeners, and ",
                      NameOf(snapshot, listener.index), " is ", Side(listener.direction));
}

// Returns why the route is not the call's; empty if it is.
std::string WhyNot(const Snapshot& snapshot, const Route& route, const RouteFacts& facts) {
  std::string why = ListenerMismatch(snapshot, route, facts.listener);
  if (why.empty()) why = Mismatch("authority", route.authority, facts.authority);
  if (why.empty()) why = Mismatch("method", route.method, facts.path);
  if (why.empty()) why = Mismatch("peer", route.peer, facts.peer);
  return why;
}

}  // namespace

std::vector<RouteStep> TraceRoutes(const Snapshot& snapshot, const RouteFacts& facts) {
  std::vector<RouteStep> steps;
  for (const Route& route : snapshot.routes.routes()) {
    const int index = static_cast<int>(steps.size());
    steps.push_back({index, Serves(snapshot, route), WhyNot(snapshot, route, facts)});
    if (steps.back().because.empty()) break;
  }
  return steps;
}

}  // namespace levee
