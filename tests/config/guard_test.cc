// SPDX-License-Identifier: Apache-2.0
// Inbound listeners, their routes, and guards: their fields, and what contradicts them.
#include "config/faults_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// A policy that no route uses, with these fields, which begin in line 2, column 1.
std::string UnusedPolicy(const std::string& fields) {
  return "policies: [{name: protect,\n" + fields + "}]\n";
}
std::string GuardFaults(const std::string& fields) { return FaultsOf(UnusedPolicy(fields)); }

CallPolicy PolicyWith(const std::string& fields) {
  return SnapshotOf(UnusedPolicy(fields))->policies.at(0);
}
GuardPolicy GuardOf(const std::string& fields) {
  return PolicyWith("guard: {" + fields + "}").guard.value_or(GuardPolicy{});
}

// An inbound listener and the application behind it; the routes begin in line 4, column 4.
std::string Inbound(const std::string& routes, const std::string& policies = "") {
  return "listeners: [{name: egress, address: \"127.0.0.1:1\"},\n"
         "  {name: ingress, address: \"0.0.0.0:2\", direction: inbound}]\n"
         "upstreams: [{name: app, endpoints: [\"127.0.0.1:3\"]}]\nroutes: [" +
         routes + "]\npolicies: [{name: default}, " + policies + "]\n";
}

std::string GuardWarnings(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return FormatFaults(checked.warnings);
}

constexpr const char* kProtect = "{name: protect, guard: {}}";
constexpr const char* kToProtect = "{match: {listener: ingress}, upstream: app, policy: protect}";

TEST(GuardConfig, DefaultsAreThoseOfTheContract) {
  EXPECT_EQ(GuardOf(""), GuardPolicy());
  EXPECT_EQ(GuardPolicy().concurrency.kind, ConcurrencyPolicy::Kind::kAdaptive);
  EXPECT_EQ(GuardPolicy().concurrency.adaptive, (AdaptiveLimitPolicy{20, 1, 1000}));
  EXPECT_EQ(GuardPolicy().queue,
            (QueuePolicy{QueuePolicy::kAuto, absl::Milliseconds(5), absl::Milliseconds(100)}));
  EXPECT_EQ(GuardPolicy().priority_header, "levee-priority");
  EXPECT_EQ(GuardPolicy().default_priority, 64);
  EXPECT_EQ(GuardPolicy().scope, (ScopePolicy{0.1, 20}));
  EXPECT_FALSE(PolicyOf("").guard.has_value());
  EXPECT_FALSE(PolicyOf("guard: none").guard.has_value());
}

TEST(GuardConfig, TakesItsFields) {
  const GuardPolicy guard = GuardOf(
      "concurrency: {initial: 5, min: 2, max: 50}, queue: {max: 7, target: 10ms, interval: 1s}, "
      "priority: {header: X-Priority, default: 100}, scope: {retries: 0.3, min_calls: 5}, "
      "load_report: true");
  EXPECT_TRUE(guard.load_report);
  using Streams = ConcurrencyPolicy::Streams;
  EXPECT_EQ(guard.concurrency.streams, Streams::kAuto);
  EXPECT_EQ(GuardOf("concurrency: {streams: free}").concurrency.streams, Streams::kFree);
  EXPECT_EQ(GuardOf("concurrency: {streams: count}").concurrency.streams, Streams::kCount);
  EXPECT_EQ(guard.concurrency.adaptive, (AdaptiveLimitPolicy{5, 2, 50}));
  EXPECT_EQ(guard.queue, (QueuePolicy{7, absl::Milliseconds(10), absl::Seconds(1)}));
  EXPECT_EQ(guard.priority_header, "x-priority");
  EXPECT_EQ(guard.default_priority, 100);
  EXPECT_EQ(guard.scope, (ScopePolicy{0.3, 5}));
}

TEST(GuardConfig, DedupeHasTheDefaultsOfItsPlainValuesAndTakesItsFields) {
  EXPECT_EQ(PolicyWith("guard: {dedupe: {}}").dedupe, DedupePolicy());
  EXPECT_FALSE(PolicyWith("guard: {}").dedupe.has_value());
  DedupePolicy changed;
  changed.header = "x-key";
  changed.scope = {RateLimitKey::Header("x-tenant")};
  changed.ttl = absl::Hours(1);
  changed.claim = absl::Seconds(5);
  changed.duplicate = DedupePolicy::Duplicate::kRefuse;
  changed.in_flight = DedupePolicy::InFlight::kRefuse;
  changed.on_lost = DedupePolicy::Lost::kRun;
  changed.on_store_failure = DedupePolicy::StoreFailure::kRun;
  changed.max_response = 2048;
  changed.max_bytes = 1 << 20;
  changed.required = true;
  EXPECT_EQ(PolicyWith("guard: {dedupe: {header: X-Key, scope: [\"header:x-tenant\"], ttl: 1h, "
                       "claim: 5s, duplicate: refuse, in_flight: refuse, on_lost: run, "
                       "on_store_failure: run, max_response: 2KiB, max_bytes: 1MiB, "
                       "required: true, store: memory}}")
                .dedupe,
            changed);
}

TEST(GuardConfig, DedupeThatContradictsItselfIsAFault) {
  EXPECT_EQ(GuardFaults("guard: {dedupe: {max_response: 1MiB, max_bytes: 64KiB}}"),
            "f:2:32: LV201 policies[0].guard.dedupe.max_response: max_response, 1MiB, is more than "
            "max_bytes, 64KiB, so that such an answer is never kept");
  EXPECT_EQ(GuardFaults("guard: {dedupe: {scope: [method, method]}}"),
            "f:2:34: LV312 policies[0].guard.dedupe.scope[1]: \"method\" is given twice; first at "
            "f:2:26");
  EXPECT_EQ(FaultsOf(Inbound("{match: {listener: ingress}, upstream: app, policy: p}",
                             "{name: p, guard: {dedupe: {scope: [peer]}}}")),
            "f:5:64: LV321 policies[1].guard.dedupe.scope[0]: is the same for all calls of a route "
            "that has this policy: callers show a certificate only to a listener whose tls has "
            "client_ca or spiffe");
}

TEST(GuardConfig, ALimitIsAdaptiveOrANumberOrNone) {
  const ConcurrencyPolicy fixed = GuardOf("concurrency: {limit: 12}").concurrency;
  EXPECT_EQ(fixed.kind, ConcurrencyPolicy::Kind::kFixed);
  EXPECT_EQ(fixed.fixed, 12);
  EXPECT_EQ(GuardOf("concurrency: {limit: none}").concurrency.kind, ConcurrencyPolicy::Kind::kNone);
  EXPECT_EQ(GuardFaults("guard: {concurrency: {limit: 0}}"),
            "f:2:30: LV201 policies[0].guard.concurrency.limit: 0 is too small; it must be at "
            "least 1");
  EXPECT_EQ(
      GuardFaults("guard: {concurrency: {limit: auto}}"),
      "f:2:30: LV219 policies[0].guard.concurrency.limit: \"auto\" is not a whole number; say "
      "20, adaptive or none");
  EXPECT_EQ(GuardFaults("guard: {queue: {max: none}}"),
            "f:2:22: LV219 policies[0].guard.queue.max: \"none\" is not a whole number; say 20 or "
            "auto");
}

TEST(GuardConfig, BoundsMeanNothingToAFixedLimit) {
  EXPECT_EQ(GuardFaults("guard: {concurrency: {limit: 12, min: 3}}"),
            "f:2:39: LV305 policies[0].guard.concurrency.min: has no effect beside limit: 12, "
            "which is not adaptive; leave it out");
  const auto snapshot = SnapshotOf(UnusedPolicy("guard: {concurrency: {limit: 12}}"));
  EXPECT_EQ(snapshot->effective.yaml.find("initial: 20"), std::string::npos);
}

TEST(GuardConfig, InitialIsWithinTheBounds) {
  EXPECT_EQ(GuardFaults("guard: {concurrency: {max: 10}}"),
            "f:2:28: LV317 policies[0].guard.concurrency.max: initial, 20, is not from min, 1, to "
            "max, 10");
  EXPECT_EQ(GuardFaults("guard: {concurrency: {initial: 2000}}"),
            "f:2:32: LV317 policies[0].guard.concurrency.initial: initial, 2000, is not from min, "
            "1, to max, 1000");
}

TEST(GuardConfig, ARouteServesTheListenerThatItNamesAndElseAllOfTheApplicationsOwnCalls) {
  const auto snapshot =
      SnapshotOf(Inbound(std::string(kToProtect) + ", {upstream: app}", kProtect));
  const auto policy_of = [&](int listener) {
    const ListenerSpec& spec = snapshot->listeners[static_cast<size_t>(listener)];
    const Route* const route = snapshot->routes.Find({.listener = snapshot->ListenerRefOf(spec),
                                                      .authority = "a:1",
                                                      .path = "/s/M",
                                                      .peer = "",
                                                      .headers = std::nullopt});
    return route == nullptr ? -1 : route->policy;
  };
  EXPECT_EQ(snapshot->listeners[1].direction, Direction::kInbound);
  EXPECT_EQ(policy_of(0), 0);
  EXPECT_EQ(policy_of(1), 1);
}

TEST(GuardConfig, AnInboundListenerTakesNoTunnelsUnlessAsked) {
  const auto snapshot =
      SnapshotOf(Inbound(std::string(kToProtect) + ", {upstream: app}", kProtect));
  EXPECT_TRUE(snapshot->listeners[0].capture.connect);
  EXPECT_FALSE(snapshot->listeners[1].capture.connect);
  EXPECT_TRUE(snapshot->listeners[1].capture.h2c);
}

TEST(GuardConfig, APolicyWithAGuardHasNoRetriesUnlessItAsks) {
  EXPECT_EQ(PolicyWith("guard: {}").retry.max_attempts, 1);
  EXPECT_EQ(PolicyOf("").retry.max_attempts, 3);
}

TEST(GuardConfig, RetriesOfCallsToTheApplicationAreRefused) {
  EXPECT_EQ(
      FaultsOf(Inbound("{match: {listener: ingress}, upstream: app}, {upstream: app}")),
      "f:4:10: LV315 routes[0].policy: policy default makes up to 3 attempts, but calls of "
      "this route are retried by their callers, not by Levee; set its retry.max_attempts to 1");
  EXPECT_EQ(FaultsOf(Inbound(std::string(kToProtect) + ", {upstream: app}",
                             "{name: protect, hedge: {delay: 1s}}")),
            "f:4:62: LV315 routes[0].policy: policy protect hedges, but calls of this route are "
            "retried by their callers, not by Levee; leave hedge out");
}

TEST(GuardConfig, AGuardOfTheApplicationsOwnCallsIsRefused) {
  EXPECT_EQ(FaultsOf("upstreams: [{name: app, endpoints: [\"127.0.0.1:3\"]}]\n"
                     "routes: [{upstream: app, policy: protect}]\n"
                     "policies: [{name: protect, guard: {}}]\n"),
            "f:2:34: LV316 routes[0].policy: policy protect has a guard, and this route takes the "
            "application's own calls; name an inbound listener in match.listener, or leave guard "
            "out");
}

TEST(GuardConfig, ARouteOfAnUnknownListenerIsRefused) {
  EXPECT_EQ(
      FaultsOf(Inbound("{match: {listener: ingres}, upstream: app}")),
      "f:4:29: LV301 routes[0].match.listener: there is no listener named \"ingres\"; did you "
      "mean ingress?");
}

TEST(GuardConfig, ARouteThatLeadsBackToItsInboundListenerIsRefused) {
  const auto faults = [](const std::string& listener, const std::string& endpoint) {
    return FaultsOf("listeners: [{name: in, direction: inbound, address: \"" + listener + "\"}]\n" +
                    "upstreams: [{name: app, endpoints:\n[\"" + endpoint + "\"]}]\n" +
                    "routes: [{match: {listener: in}, upstream: app, policy: protect}]\n" +
                    "policies: [{name: protect, guard: {}}]\n");
  };
  EXPECT_EQ(faults("0.0.0.0:2", "127.0.0.1:2"),
            "f:3:2: LV318 upstreams[0].endpoints[0]: \"127.0.0.1:2\" is where listener in listens, "
            "so its calls would come back; name the application's port");
  EXPECT_NE(faults("127.0.0.1:2", "localhost:2"), "");
  EXPECT_NE(faults("[::]:2", "[::1]:2"), "");
  EXPECT_NE(faults("[::1]:2", "[0:0::0001]:2"), "");
  EXPECT_NE(faults("127.0.0.1:2", "[::ffff:127.0.0.1]:2"), "");
  EXPECT_NE(faults("[::ffff:0.0.0.0]:2", "127.1.2.3:2"), "");
  EXPECT_NE(faults("127.0.0.1:2", "0.0.0.0:2"), "");
  EXPECT_NE(faults("unix:/run/a", "unix:/run/a"), "");
  EXPECT_EQ(faults("[::1]:2", "[::2]:2"), "");
  EXPECT_EQ(faults("127.0.0.1:2", "127.0.0.1:3"), "");
  EXPECT_EQ(faults("127.0.0.1:2", "10.0.0.7:2"), "");
}

TEST(TieConfig, IsOnWhereThereIsAnInboundListener) {
  EXPECT_EQ(SnapshotOf("")->tie, std::nullopt);
  const std::string inbound = Inbound(kToProtect, kProtect);
  EXPECT_EQ(SnapshotOf(inbound)->tie, TiePolicy());
  EXPECT_EQ(SnapshotOf(inbound + "tie: {by: none}\n")->tie, std::nullopt);
}

TEST(TieConfig, TakesItsFields) {
  const std::string inbound = Inbound(kToProtect, kProtect);
  const auto snapshot = SnapshotOf(inbound + "tie: {carry: [deadline, cancel], max_traces: 5}\n");
  EXPECT_EQ(
      snapshot->tie,
      (TiePolicy{
          .mark = false, .priority = false, .deadline = true, .cancel = true, .max_traces = 5}));
  EXPECT_THAT(FaultsOf("tie:\n  max_traces: 0\n"), testing::HasSubstr("f:2:15: LV201"));
  EXPECT_THAT(FaultsOf("tie: {carry: [trailers]}\n"), testing::HasSubstr("mark, priority"));
}

TEST(GuardConfig, AListenerWithoutARouteIsWarnedOf) {
  EXPECT_EQ(GuardWarnings(Inbound("{upstream: app}")),
            "f:2:10: LV924 listeners[1].name: warning: no route takes the calls of ingress, so "
            "each fails; "
            "add one with match: {listener: ingress}");
  const std::string without_own = GuardWarnings(Inbound(kToProtect, kProtect));
  EXPECT_THAT(without_own, testing::HasSubstr("no route takes the calls of egress"));
  EXPECT_EQ(GuardWarnings(Inbound(std::string(kToProtect) + ", {upstream: app}", kProtect)), "");
}

TEST(GuardConfig, ARouteIsNotHiddenByOneOfAnotherListener) {
  EXPECT_EQ(GuardWarnings(Inbound("{upstream: app}, " + std::string(kToProtect), kProtect)), "");
  EXPECT_EQ(
      GuardWarnings(Inbound(
          "{upstream: app}, {match: {listener: egress}, upstream: app}, " + std::string(kToProtect),
          kProtect)),
      "f:4:27: LV910 routes[1]: warning: no call reaches it: f:4:10: routes[0] takes all of its "
      "calls; move it up, or remove it");
}

}  // namespace
}  // namespace levee
