// SPDX-License-Identifier: Apache-2.0
#include "config/build_guard.h"

#include <string>

#include "config/checked.h"

namespace levee {
namespace {

namespace v1 = config::v1;

ConcurrencyPolicy BuildConcurrency(const v1::Guard::Concurrency& message) {
  ConcurrencyPolicy concurrency;
  if (message.limit() == "none") {
    concurrency.kind = ConcurrencyPolicy::Kind::kNone;
  } else if (message.limit() == "adaptive") {
    concurrency.adaptive = {
        .initial = message.initial(), .min = message.min(), .max = message.max()};
  } else {
    concurrency.kind = ConcurrencyPolicy::Kind::kFixed;
    concurrency.fixed = Checked(ParseWhole(message.limit()));
  }
  concurrency.streams_free = message.streams() == v1::Guard::Concurrency::STREAMS_FREE;
  return concurrency;
}

}  // namespace

GuardPolicy BuildGuard(const v1::Guard& message) {
  GuardPolicy guard;
  guard.concurrency = BuildConcurrency(message.concurrency());
  const std::string& max = message.queue().max();
  guard.queue.max = max == "auto" ? QueuePolicy::kAuto : Checked(ParseWhole(max));
  guard.queue.target = DurationOf(message.queue().target());
  guard.queue.interval = DurationOf(message.queue().interval());
  guard.priority_header = message.priority().header();
  guard.default_priority = message.priority().default_();
  guard.scope.retries = message.scope().retries();
  guard.scope.min_calls = message.scope().min_calls();
  guard.load_report = message.load_report();
  guard.observe = message.mode() == v1::Guard::MODE_OBSERVE;
  return guard;
}

}  // namespace levee
