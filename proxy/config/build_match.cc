// SPDX-License-Identifier: Apache-2.0
#include "config/build_match.h"

#include <string>

#include "base/check.h"

namespace levee {
namespace {

namespace v1 = config::v1;

ListenerRef ListenerOf(const v1::Config& config, const v1::Route::Match& match) {
  if (!match.has_listener()) return {};
  int index = 0;
  while (config.listeners(index).name() != match.listener()) ++index;
  return {.index = index, .direction = DirectionOf(config.listeners(index))};
}

// `message` has a test without a fault.
HeaderMatch BuildHeader(const v1::HeaderMatch& message) {
  HeaderMatch match;
  match.name = message.name();
  switch (message.test_case()) {
    case v1::HeaderMatch::kExact:
      match.test = HeaderTest::kExact;
      match.text = message.exact();
      break;
    case v1::HeaderMatch::kPrefix:
      match.test = HeaderTest::kPrefix;
      match.text = message.prefix();
      break;
    case v1::HeaderMatch::kSuffix:
      match.test = HeaderTest::kSuffix;
      match.text = message.suffix();
      break;
    case v1::HeaderMatch::kRegex: {
      std::string error;
      match.test = HeaderTest::kRegex;
      match.text = message.regex();
      match.regex = CompileHeaderRegex(match.text, error);
      LEVEE_CHECK(match.regex != nullptr);
      break;
    }
    case v1::HeaderMatch::kPresent:
      match.test = message.present() ? HeaderTest::kPresent : HeaderTest::kAbsent;
      break;
    case v1::HeaderMatch::TEST_NOT_SET:
      LEVEE_CHECK(false);
  }
  return match;
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
  for (const v1::HeaderMatch& header : match.headers()) {
    route.headers.push_back(BuildHeader(header));
  }
  route.listener = ListenerOf(config, match);
  return route;
}

}  // namespace levee
