// SPDX-License-Identifier: Apache-2.0
#include "lab/route_trace.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "config/fault.h"

namespace levee {
namespace {

const char* Side(Direction direction) {
  return direction == Direction::kInbound ? "inbound" : "egress";
}

std::string NameOf(const Snapshot& snapshot, int listener) {
  return Quoted(snapshot.listeners[static_cast<size_t>(listener)].name);
}

std::string HeaderWords(const HeaderMatch& match) {
  const std::string text = match.text.empty() ? "" : " " + Quoted(match.text);
  return absl::StrCat(match.name, " ", Abseil(HeaderTestName(match.test)), text);
}

// `head` does not meet all conditions of the route.
std::string HeaderMismatch(const Route& route, const Metadata& head) {
  for (const HeaderMatch& match : route.headers) {
    if (match.Holds(head)) continue;
    const std::string_view value = head.Get(match.name);
    return absl::StrCat("it asks for header ", HeaderWords(match), ", and the call has ",
                        value.data() == nullptr ? "none" : Quoted(std::string(value)));
  }
  return "";
}

// Returns what the route asks for in that field, as text; empty: nothing.
std::string PatternOf(const Snapshot& snapshot, const Route& route, RouteField field) {
  const auto unless_all = [](const std::string& glob) {
    return glob == "*" ? std::string() : Quoted(glob);
  };
  switch (field) {
    case RouteField::kListener:
      return route.listener.index == ListenerRef::kNone ? ""
                                                        : NameOf(snapshot, route.listener.index);
    case RouteField::kAuthority:
      return unless_all(route.authority);
    case RouteField::kMethod:
      return unless_all(route.method);
    case RouteField::kPeer:
      return unless_all(route.peer);
    case RouteField::kHeaders:
      return absl::StrJoin(route.headers, ", ", [](std::string* out, const HeaderMatch& match) {
        absl::StrAppend(out, HeaderWords(match));
      });
  }
  return "";
}

std::string Serves(const Snapshot& snapshot, const Route& route) {
  std::vector<std::string> parts;
  for (int i = 0; i < kRouteFields; ++i) {
    const auto field = static_cast<RouteField>(i);
    const std::string pattern = PatternOf(snapshot, route, field);
    if (pattern.empty()) continue;
    parts.push_back(absl::StrCat(Abseil(RouteFieldName(field)), " ", pattern));
  }
  return parts.empty() ? "every call" : absl::StrJoin(parts, ", ");
}

std::string ListenerMismatch(const Snapshot& snapshot, const ListenerRef& of_route,
                             const ListenerRef& listener) {
  if (of_route.index != ListenerRef::kNone) {
    return absl::StrCat("it serves listener ", NameOf(snapshot, of_route.index), ", not ",
                        NameOf(snapshot, listener.index));
  }
  return absl::StrCat("it serves ", Side(of_route.direction), " listeners, and ",
                      NameOf(snapshot, listener.index), " is ", Side(listener.direction));
}

// Returns why the route is not the call's; empty if it is.
std::string WhyNot(const Snapshot& snapshot, const Route& route, const RouteRequest& call) {
  const std::optional<RouteField> field = route.Mismatch(call);
  if (!field.has_value()) return "";
  const auto differs = [&](const RouteFact& fact) {
    return absl::StrCat("its ", Abseil(RouteFieldName(*field)), " ",
                        PatternOf(snapshot, route, *field), " does not match ",
                        Quoted(std::string(fact.text().value_or(""))));
  };
  switch (*field) {
    case RouteField::kListener:
      return ListenerMismatch(snapshot, route.listener, call.listener);
    case RouteField::kAuthority:
      return differs(call.authority);
    case RouteField::kMethod:
      return differs(call.path);
    case RouteField::kPeer:
      return differs(call.peer);
    case RouteField::kHeaders:
      return HeaderMismatch(route, *call.headers.head());
  }
  return "";
}

}  // namespace

std::vector<RouteStep> TraceRoutes(const Snapshot& snapshot, const RouteRequest& call) {
  std::vector<RouteStep> steps;
  for (const Route& route : snapshot.routes.routes()) {
    const int index = static_cast<int>(steps.size());
    steps.push_back({index, Serves(snapshot, route), WhyNot(snapshot, route, call)});
    if (steps.back().because.empty()) break;
  }
  return steps;
}

}  // namespace levee
