// SPDX-License-Identifier: Apache-2.0
#include "config/build_guard.h"

#include <string>

#include "config/checked.h"
#include "config/rate_limit_text.h"

namespace levee {
namespace {

namespace v1 = config::v1;

ConcurrencyPolicy::Streams BuildStreams(v1::Guard::Concurrency::Streams streams) {
  switch (streams) {
    case v1::Guard::Concurrency::STREAMS_COUNT:
      return ConcurrencyPolicy::Streams::kCount;
    case v1::Guard::Concurrency::STREAMS_FREE:
      return ConcurrencyPolicy::Streams::kFree;
    default:
      return ConcurrencyPolicy::Streams::kAuto;
  }
}

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
  concurrency.streams = BuildStreams(message.streams());
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

DedupePolicy BuildDedupe(const v1::Guard::Dedupe& message) {
  using Dedupe = v1::Guard::Dedupe;
  DedupePolicy dedupe;
  if (message.store() != kMemoryStore) dedupe.store = message.store();
  dedupe.header = message.header();
  dedupe.scope.clear();
  for (const std::string& part : message.scope()) {
    dedupe.scope.push_back(Checked(ParseRateLimitKey(part)));
  }
  dedupe.ttl = DurationOf(message.ttl());
  dedupe.claim = DurationOf(message.claim());
  dedupe.duplicate = message.duplicate() == Dedupe::DUPLICATE_REPLAY
                         ? DedupePolicy::Duplicate::kReplay
                         : DedupePolicy::Duplicate::kRefuse;
  dedupe.in_flight = message.in_flight() == Dedupe::IN_FLIGHT_WAIT
                         ? DedupePolicy::InFlight::kWait
                         : DedupePolicy::InFlight::kRefuse;
  dedupe.on_lost = message.on_lost() == Dedupe::LOST_REFUSE ? DedupePolicy::Lost::kRefuse
                                                            : DedupePolicy::Lost::kRun;
  dedupe.on_store_failure = message.on_store_failure() == Dedupe::FAILURE_REFUSE
                                ? DedupePolicy::StoreFailure::kRefuse
                                : DedupePolicy::StoreFailure::kRun;
  dedupe.max_response = Checked(ParseSize(message.max_response()));
  dedupe.max_bytes = Checked(ParseSize(message.max_bytes()));
  dedupe.required = message.required();
  return dedupe;
}

}  // namespace levee
