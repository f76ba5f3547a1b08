// SPDX-License-Identifier: Apache-2.0
#include "config/build_match.h"

namespace levee {
namespace {

namespace v1 = config::v1;

ListenerRef ListenerOf(const v1::Config& config, const v1::Route::Match& match) {
  if (!match.has_listener()) return {};
  int index = 0;
  while (config.listeners(index).name() != match.listener()) ++index;
  return {.index = index, .direction = DirectionOf(config.listeners(index))};
}

}  // namespace

Direction DirectionOf(const v1::Listener& listener) {
  return listener.direction() == v1::Listener::DIRECTION_INBOUND ? Direction::kInbound
                                                                 : Direction::kEgress;
}

Route BuildMatch(const v1::Config& config, const v1::Route::Match& match) {
  Route route;
  route.authority = match.authority();
  route.method = match.method();
  route.peer = match.peer();
  route.listener = ListenerOf(config, match);
  return route;
}

}  // namespace levee
