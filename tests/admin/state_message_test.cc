// SPDX-License-Identifier: Apache-2.0
// The parts of the state, one by one.
#include "admin/state_message.h"

#include "admin/fake_sidecar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<admin::v1::Endpoint> Merged(const std::vector<EndpointView>& views) {
  std::vector<const EndpointView*> pointers;
  for (const EndpointView& view : views) pointers.push_back(&view);
  return EndpointMessages(pointers);
}

TEST(EndpointMessages, WorkersSeeTheSameEndpoint) {
  const auto endpoints = Merged({{.upstream = "cart",
                                  .address = "10.0.0.7:50051",
                                  .state = "failing",
                                  .active = 0,
                                  .failure = "connection refused"},
                                 {.upstream = "cart",
                                  .address = "10.0.0.7:50051",
                                  .state = "ready",
                                  .active = 2,
                                  .latency = absl::Milliseconds(4)},
                                 {.upstream = "cart",
                                  .address = "10.0.0.7:50051",
                                  .state = "ready",
                                  .active = 3,
                                  .latency = absl::Milliseconds(6)}});
  ASSERT_EQ(endpoints.size(), 1);
  EXPECT_EQ(endpoints[0].address(), "10.0.0.7:50051");
  EXPECT_EQ(endpoints[0].state(), "ready");
  EXPECT_EQ(endpoints[0].active(), 5);
  EXPECT_EQ(endpoints[0].latency_seconds(), 0.006);
  EXPECT_EQ(endpoints[0].failure(), "");
}

TEST(EndpointMessages, TheBestStateOfAllWorkersCounts) {
  const auto merged = [](const std::string& first, const std::string& second) {
    return Merged({{.upstream = "u", .address = "a", .state = first, .failure = first + "!"},
                   {.upstream = "u", .address = "a", .state = second, .failure = second + "!"}})[0];
  };
  const std::vector<std::string> best_first = {"ready", "connecting", "ejected", "failing", "idle"};
  for (size_t i = 0; i + 1 < best_first.size(); ++i) {
    EXPECT_EQ(merged(best_first[i], best_first[i + 1]).state(), best_first[i]);
    EXPECT_EQ(merged(best_first[i + 1], best_first[i]).state(), best_first[i]);
    EXPECT_EQ(merged(best_first[i + 1], best_first[i]).failure(), best_first[i] + "!");
  }
}

TEST(EndpointMessages, OtherAddressesAndAuthoritiesStayApart) {
  const auto endpoints = Merged({{.upstream = "u", .authority = "b", .address = "2"},
                                 {.upstream = "u", .authority = "a", .address = "1"},
                                 {.upstream = "u", .authority = "a", .address = "2"}});
  ASSERT_EQ(endpoints.size(), 3);
  EXPECT_EQ(endpoints[0].authority() + endpoints[0].address(), "b2");
  EXPECT_EQ(endpoints[1].authority() + endpoints[1].address(), "a1");
  EXPECT_EQ(endpoints[2].authority() + endpoints[2].address(), "a2");
}

TEST(EndpointCountsMessage, CountsEveryState) {
  std::vector<admin::v1::Endpoint> endpoints;
  const std::vector<std::string> states = {"ready", "connecting", "ejected", "failing", "idle"};
  for (size_t i = 0; i < states.size(); ++i) {
    for (size_t n = 0; n <= i; ++n) endpoints.emplace_back().set_state(states[i]);
  }
  const admin::v1::EndpointCounts counts = EndpointCountsMessage(endpoints);
  EXPECT_EQ(counts.ready(), 1);
  EXPECT_EQ(counts.connecting(), 2);
  EXPECT_EQ(counts.ejected(), 3);
  EXPECT_EQ(counts.failing(), 4);
  EXPECT_EQ(counts.idle(), 5);
}

TEST(AddEndpoints, IfTheyAreTooManyThoseThatAreNotReadyComeFirst) {
  std::vector<admin::v1::Endpoint> endpoints;
  for (const char* state : {"ready", "failing", "ready", "idle"}) {
    endpoints.emplace_back().set_state(state);
  }
  admin::v1::Upstream all;
  AddEndpoints(endpoints, 4, all);
  EXPECT_EQ(all.endpoints(0).state(), "ready");
  EXPECT_EQ(all.endpoints_size(), 4);
  EXPECT_EQ(all.endpoints_left_out(), 0);
  admin::v1::Upstream some;
  AddEndpoints(endpoints, 3, some);
  ASSERT_EQ(some.endpoints_size(), 3);
  EXPECT_EQ(some.endpoints(0).state(), "failing");
  EXPECT_EQ(some.endpoints(1).state(), "idle");
  EXPECT_EQ(some.endpoints(2).state(), "ready");
  EXPECT_EQ(some.endpoints_left_out(), 1);
}

TEST(ShownText, IsWellFormedWhateverCameFromOutside) {
  EXPECT_EQ(ShownText("größer"), "größer");
  EXPECT_EQ(ShownText("a\xff\xc3z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(ShownText(""), "");
}

TEST(ShownText, EndsBeforeACharacterThatDoesNotFit) {
  EXPECT_EQ(ShownText(std::string(2000, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(ShownText(std::string(1023, 'x') + "ß"), std::string(1023, 'x'));
}

TEST(SampleMessage, NamesOnlyTheReasonsThatOccurred) {
  HistorySample sample{.second = 7};
  EXPECT_THAT(SampleMessage(sample).refused(), IsEmpty());
  sample.added.refused[static_cast<size_t>(RefusalReason::kBudget)] = 3;
  sample.added.rate_limited = 4;
  sample.added.app_retries_admitted = 1;
  sample.added.app_retries_refused = 5;
  const admin::v1::Sample message = SampleMessage(sample);
  EXPECT_EQ(message.number(), 7);
  EXPECT_THAT(message.refused(),
              UnorderedElementsAre(Pair("budget", 3), Pair("rate_limit", 4), Pair("app_retry", 5)));
  EXPECT_EQ(message.app_retries(), 6);
}

TEST(SampleMessage, HoldsWhatTheSecondAdded) {
  HistorySample sample{
      .budget = {.available = 2, .at_once = 3, .limit = 9, .ratio = 0.1, .waiting = 3},
      .throttle_probability = 0.25};
  sample.added.calls = 10;
  sample.added.calls_ok = 9;
  sample.added.attempts = 12;
  sample.added.attempts_ok = 8;
  sample.added.retries = 2;
  sample.added.marks_received = 5;
  sample.added.marks_sent = 6;
  sample.added.attempted = 8;
  sample.added.waits_released = 11;
  sample.added.waits_expired = 12;
  sample.added.waits_cancelled = 13;
  sample.added.throttle_rejected = 14;
  sample.added.throttle_observed = 15;
  const admin::v1::Sample message = SampleMessage(sample);
  EXPECT_EQ(message.calls(), 10);
  EXPECT_EQ(message.calls_ok(), 9);
  EXPECT_EQ(message.attempts(), 12);
  EXPECT_EQ(message.attempts_ok(), 8);
  EXPECT_EQ(message.retries(), 2);
  EXPECT_EQ(message.marks_received(), 5);
  EXPECT_EQ(message.marks_sent(), 6);
  EXPECT_EQ(message.budget_available(), 2);
  EXPECT_EQ(message.budget_limit(), 9);
  EXPECT_EQ(message.budget_at_once(), 3);
  EXPECT_EQ(message.budget_ratio(), 0.1);
  EXPECT_EQ(message.amplification(), 1.5);
  EXPECT_EQ(message.retries_waiting(), 3);
  EXPECT_EQ(message.waits_released(), 11);
  EXPECT_EQ(message.waits_expired(), 12);
  EXPECT_EQ(message.waits_cancelled(), 13);
  EXPECT_EQ(message.throttle_rejected(), 14);
  EXPECT_EQ(message.throttle_observed(), 15);
  EXPECT_EQ(message.throttle_probability(), 0.25);
}

TEST(SampleMessage, ASecondWithoutCallsHasNoAmplification) {
  EXPECT_EQ(SampleMessage(HistorySample()).amplification(), 0);
}

constexpr GuardState kFullGuard = {.limit = 8,
                                   .least = 1,
                                   .in_flight = 7,
                                   .waiting = 12,
                                   .stands = true,
                                   .scope = OverloadScope::kService,
                                   .arrived_retry_share = 0.25,
                                   .reported_retry_share = 0.5};

UpstreamTotals GuardedTotals() {
  UpstreamTotals added;
  added.guard_admitted = 40;
  added.guard_queued = 20;
  added.guard_refused[static_cast<size_t>(GuardReason::kQueue)] = 30;
  added.guard_arrivals = {60, 20, 0, 10};
  return added;
}

TEST(SampleMessage, HoldsWhatTheGuardDidInTheSecond) {
  HistorySample sample{.added = GuardedTotals()};
  EXPECT_FALSE(SampleMessage(sample).has_guard());
  sample.guard = kFullGuard;
  const admin::v1::Sample message = SampleMessage(sample);
  EXPECT_THAT(message.refused(), UnorderedElementsAre(Pair("guard_queue", 30)));
  const admin::v1::GuardSample& guard = message.guard();
  EXPECT_EQ(guard.limit(), 8);
  EXPECT_EQ(guard.in_flight(), 7);
  EXPECT_EQ(guard.queue_length(), 12);
  EXPECT_FALSE(guard.observing());
  EXPECT_EQ(guard.scope(), "service");
  EXPECT_EQ(guard.arrived_retry_share(), 0.25);
  EXPECT_EQ(guard.reported_retry_share(), 0.5);
  EXPECT_EQ(guard.admitted(), 40);
  EXPECT_EQ(guard.queued(), 20);
  EXPECT_THAT(guard.refused(), UnorderedElementsAre(Pair("queue", 30)));
  EXPECT_THAT(guard.arrivals(), UnorderedElementsAre(Pair("0", 60), Pair("1", 20), Pair("3+", 10)));
}

TEST(SampleMessage, AGuardThatObservesRefusesNoCall) {
  HistorySample sample{.added = GuardedTotals(), .guard = GuardState{.observes = true}};
  const admin::v1::Sample message = SampleMessage(sample);
  EXPECT_THAT(message.refused(), IsEmpty());
  EXPECT_TRUE(message.guard().observing());
  EXPECT_THAT(message.guard().refused(), UnorderedElementsAre(Pair("queue", 30)));
}

TEST(GuardMessage, HoldsTheStateAndTheRatesOfTheSeconds) {
  const admin::v1::Guard guard = GuardMessage(GuardedTotals(), kFullGuard, 10);
  EXPECT_EQ(guard.limit(), 8);
  EXPECT_EQ(guard.limit_min(), 1);
  EXPECT_EQ(guard.in_flight(), 7);
  EXPECT_EQ(guard.queue_length(), 12);
  EXPECT_TRUE(guard.queue_stands());
  EXPECT_FALSE(guard.observing());
  EXPECT_EQ(guard.scope(), "service");
  EXPECT_EQ(guard.arrived_retry_share(), 0.25);
  EXPECT_EQ(guard.reported_retry_share(), 0.5);
  EXPECT_EQ(guard.admitted_per_second(), 4);
  EXPECT_EQ(guard.queued_per_second(), 2);
  EXPECT_THAT(guard.refused_per_second(), UnorderedElementsAre(Pair("queue", 3)));
}

TEST(RatesMessage, ASecondCounterThatIsAheadIsNoShareAboveOne) {
  HistorySample sum;
  sum.added.calls = 10;
  sum.added.calls_ok = 11;
  EXPECT_EQ(RatesMessage(sum, 1).callers_ok(), 1);
}

TEST(RatesMessage, ExplainThemselvesByCallsThatHadAnAttempt) {
  HistorySample sum;
  sum.added.calls = 100;
  sum.added.attempted = 20;
  sum.added.attempts = 15;
  sum.added.rate_limited = 80;
  sum.added.app_retries_admitted = 10;
  sum.added.app_retries_refused = 30;
  const admin::v1::Rates rates = RatesMessage(sum, 10);
  EXPECT_EQ(rates.amplification(), 1.5);
  EXPECT_EQ(rates.app_retries_per_second(), 4);
}

TEST(CallMessage, TextsFromOutsideAreBounded) {
  RememberedCall call;
  call.endpoints = {std::string(5000, 'x')};
  call.record.attempts.emplace_back();
  call.listener = call.upstream = call.authority = call.method = call.message = call.trace_id =
      std::string(5000, '\xff');
  EXPECT_LT(CallMessage(call, 1).ByteSizeLong(), 8 * 1024);
}

TEST(CallMessage, TellsItsAttemptsAndWhy) {
  FakeSidecar sidecar;
  sidecar.Remember(4, 4.5);
  const auto calls = sidecar.calls.Read(0);
  ASSERT_EQ(calls.size(), 1);
  const admin::v1::Call call = CallMessage(calls[0], 5);
  EXPECT_EQ(call.number(), 5);
  EXPECT_EQ(call.start(), 1767225604);
  EXPECT_EQ(call.duration_seconds(), 0.5);
  EXPECT_EQ(call.listener(), "egress");
  EXPECT_EQ(call.upstream(), "cart");
  EXPECT_EQ(call.authority(), "cart.shop:50051");
  EXPECT_EQ(call.method(), "shop.Cart/Add");
  EXPECT_EQ(call.code(), "OK");
  EXPECT_EQ(call.refused(), "");
  EXPECT_NE(call.why(), "");
  ASSERT_EQ(call.attempts_size(), 2);
  EXPECT_EQ(call.attempts(0).endpoint(), "10.0.0.0");
  EXPECT_EQ(call.attempts(0).code(), "UNAVAILABLE");
  EXPECT_EQ(call.attempts(0).trigger(), "");
  EXPECT_EQ(call.attempts(1).endpoint(), "10.0.0.1");
  EXPECT_EQ(call.attempts(1).start_seconds(), 0.25);
  EXPECT_EQ(call.attempts(1).duration_seconds(), 0.25);
  EXPECT_EQ(call.attempts(1).trigger(), "status");
  EXPECT_EQ(call.attempts(1).delay_seconds(), 0.025);
}

}  // namespace
}  // namespace levee
