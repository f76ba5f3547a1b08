// SPDX-License-Identifier: Apache-2.0
// Settings that are legal but dangerous, and similar settings that are not dangerous.
#include "config/warnings.h"

#include <string>

#include "config/faults_of.h"
#include "config/temporary_folder.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// "905 routes[0].match.method" per warning; a failed test if the text has faults.
std::string Brief(const std::vector<Fault>& warnings) {
  std::string brief;
  for (const Fault& warning : warnings) {
    brief += brief.empty() ? "" : ", ";
    brief += std::to_string(static_cast<int>(warning.code)) + " " + warning.path;
  }
  return brief;
}
std::string WarningsOf(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return Brief(checked.warnings);
}
std::string PolicyWarnings(const std::string& fields) { return WarningsOf(PolicyText(fields)); }
std::string RetryWarnings(const std::string& fields) {
  return PolicyWarnings("retry: {" + fields + "}");
}

// A route of `method` to the built-in upstream, with a policy "x" of these fields.
std::string Routed(const std::string& method, const std::string& policy) {
  return WarningsOf("routes: [{match: {method: \"" + method +
                    "\"}, upstream: anywhere, policy: x}]\npolicies: [{name: x, " + policy +
                    "}]\n");
}

TEST(Warnings, ShowTheirPlaceAndCure) {
  const CheckedConfig checked =
      CheckConfig({{"f", PolicyText("retry: {budget: {ratio: 0.8}}")}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.warnings),
            "f:2:25: LV906 policies[0].retry.budget.ratio: warning: 0.8 adds more than half of the "
            "load to an upstream that is in trouble; 0.5 or less is advised, 0.1 is the default");
}

TEST(Warnings, AttemptsFitIntoTheTimeoutUpToItsEnd) {
  const std::string failures = "failures: [timeout], ";
  EXPECT_EQ(PolicyWarnings("timeout: 6s, retry: {" + failures + "attempt_timeout: 2s}"), "");
  EXPECT_EQ(PolicyWarnings("timeout: 5999ms, retry: {" + failures + "attempt_timeout: 2s}"),
            "901 policies[0].retry.attempt_timeout");
  EXPECT_EQ(PolicyWarnings("retry: {" + failures + "attempt_timeout: 2s}"), "");
}

TEST(Warnings, AWaitThatIsStatedEndsBeforeTheCall) {
  const std::string path = "919 policies[0].retry.budget.wait";
  EXPECT_EQ(PolicyWarnings("timeout: 5s, retry: {budget: {wait: 5s}}"), path);
  EXPECT_EQ(PolicyWarnings("timeout: 5s, retry: {budget: {wait: 4999ms}}"), "");
  EXPECT_EQ(PolicyWarnings("timeout: 5s, retry: {budget: {wait: none}}"), "");
  EXPECT_EQ(PolicyWarnings("retry: {budget: {wait: 1h}}"), "");
  EXPECT_EQ(PolicyWarnings("timeout: 1s"), "");
  EXPECT_EQ(PolicyWarnings("timeout: 5s, retry: {max_attempts: 1, budget: {wait: 6s}}"), "");
}

TEST(Warnings, ABurstBelowOneAllowsAQuietUpstreamNoRetry) {
  EXPECT_EQ(RetryWarnings("budget: {burst: {least: 0}}"),
            "920 policies[0].retry.budget.burst.least");
  EXPECT_EQ(RetryWarnings("budget: {burst: {least: 1}}"), "");
  EXPECT_EQ(RetryWarnings("max_attempts: 1, budget: {burst: {least: 0}}"), "");
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0, burst: {least: 0}}"), "");  // the floor alone rules
  const CheckedConfig checked =
      CheckConfig({{"f", PolicyText("retry: {budget: {burst: {least: 0.5}}}")}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.warnings),
            "f:2:33: LV920 policies[0].retry.budget.burst.least: warning: 0.5 is below one retry: "
            "if an upstream has fewer than 10 calls in 1s, no call is ever retried; say 1 or more, "
            "2 is the default");
}

TEST(Warnings, AttemptsOfARuleHaveToFitAsWell) {
  EXPECT_EQ(PolicyWarnings("timeout: 6s, retry: {failures: [timeout], attempt_timeout: 2s,\n"
                           "rules: [{codes: [8], max_attempts: 4}]}"),
            "901 policies[0].retry.attempt_timeout");
}

TEST(Warnings, AttemptTimeoutNeedsSomethingThatRetriesIt) {
  const std::string path = "902 policies[0].retry.attempt_timeout";
  EXPECT_EQ(RetryWarnings("attempt_timeout: 2s"), path);
  EXPECT_EQ(RetryWarnings("attempt_timeout: 2s, failures: [timeout]"), "");
  EXPECT_EQ(RetryWarnings("attempt_timeout: 2s, rules: [{failures: [timeout]}]"), "");
  EXPECT_EQ(RetryWarnings("attempt_timeout: 2s, max_attempts: 1"), "");
  const std::string retry = "retry: {attempt_timeout: 2s}, ";
  EXPECT_EQ(PolicyWarnings(retry + "idempotency: {mode: always}"), "");
  EXPECT_EQ(PolicyWarnings(retry + "idempotency: {key: {header: k}}"), "");
  EXPECT_EQ(PolicyWarnings(retry + "idempotency: {mode: never, key: {header: k}}"), path);
}

TEST(Warnings, ClientErrorsButTwoAreNotToBeRetried) {
  EXPECT_EQ(RetryWarnings("http: [408, 429, 5xx, 503, 3xx]"), "");
  EXPECT_EQ(RetryWarnings("http: [429, 404, 4xx]"),
            "903 policies[0].retry.http[1], 903 policies[0].retry.http[2]");
  EXPECT_EQ(RetryWarnings("rules: [{http: [409]}]"), "903 policies[0].retry.rules[0].http[0]");
}

TEST(Warnings, StatusesAboutTheRequestAreNotToBeRetried) {
  EXPECT_EQ(RetryWarnings("codes: [1, 2, 4, 8, 10, 13, 14, 15]"), "");
  EXPECT_EQ(RetryWarnings("codes: [3]"), "904 policies[0].retry.codes[0]");
  EXPECT_EQ(RetryWarnings("codes: [5, 6, 7, 9]"),
            "904 policies[0].retry.codes[0], 904 policies[0].retry.codes[1], "
            "904 policies[0].retry.codes[2], 904 policies[0].retry.codes[3]");
  EXPECT_EQ(RetryWarnings("rules: [{codes: [11, 12, 16]}]"),
            "904 policies[0].retry.rules[0].codes[0], 904 policies[0].retry.rules[0].codes[1], "
            "904 policies[0].retry.rules[0].codes[2]");
}

TEST(Warnings, MethodsThatActOnceAreKnownByTheirFirstWord) {
  const std::string warned = "905 routes[0].match.method";
  EXPECT_EQ(Routed("/shop.Payments/Charge", "timeout: 1s"), warned);
  EXPECT_EQ(Routed("/shop.Payments/ChargeCard", "timeout: 1s"), warned);
  EXPECT_EQ(Routed("/shop.Orders/Create*", "timeout: 1s"), warned);
  EXPECT_EQ(Routed("*/Send", "timeout: 1s"), warned);
  EXPECT_EQ(Routed("/shop.Payments/Pay2", "timeout: 1s"), warned);
  EXPECT_EQ(Routed("/shop.Payments/PaymentStatus", "timeout: 1s"), "");
  EXPECT_EQ(Routed("/shop.Payments/GetCharge", "timeout: 1s"), "");
  EXPECT_EQ(Routed("/shop.Payments/*", "timeout: 1s"), "");
  EXPECT_EQ(Routed("/Create.Payments/Get", "timeout: 1s"), "");
}

TEST(Warnings, MethodsThatActOnceAreSafeWhereTheyMayOrWillNotRunTwice) {
  const std::string method = "/shop.Payments/Charge";
  EXPECT_EQ(Routed(method, "idempotency: {mode: never}"), "");
  EXPECT_EQ(Routed(method, "idempotency: {mode: always}"), "");
  EXPECT_EQ(Routed(method, "idempotency: {key: {header: k}}"), "");
  EXPECT_EQ(Routed(method, "hedge: {delay: 1s}"), "");
  EXPECT_EQ(Routed(method, "retry: {max_attempts: 1}"), "");
  EXPECT_EQ(Routed(method, "retry: {mode: observe}"), "");
  EXPECT_EQ(Routed(method, "retry: {codes: []}"), "");
}

TEST(Warnings, MethodsThatActOnceAreRepeatedByAnyListOfWhatMayHaveRun) {
  const std::string warned = "905 routes[0].match.method";
  const std::string method = "/shop.Payments/Charge";
  EXPECT_EQ(Routed(method, "retry: {codes: [], http: [503]}"), warned);
  EXPECT_EQ(Routed(method, "retry: {codes: [], failures: [reset]}"), warned);
  EXPECT_EQ(Routed(method, "retry: {codes: [], failures: [timeout]}"), warned);
  EXPECT_EQ(Routed(method, "retry: {codes: [], rules: [{codes: [8]}]}"), warned);
  EXPECT_EQ(Routed(method, "retry: {codes: [], rules: [{failures: [connect]}]}"), "");
  EXPECT_EQ(Routed(method, "retry: {max_attempts: 1, rules: [{codes: [8], max_attempts: 2}]}"),
            warned);
}

// A descriptor set of shop.Payments: Get, and Charge as `charge` says.
std::string Payments(google::protobuf::MethodOptions::IdempotencyLevel charge) {
  google::protobuf::FileDescriptorSet set;
  auto& file = *set.add_file();
  file.set_package("shop");
  auto& service = *file.add_service();
  service.set_name("Payments");
  auto& get = *service.add_method();
  get.set_name("Get");
  get.mutable_options()->set_idempotency_level(google::protobuf::MethodOptions::NO_SIDE_EFFECTS);
  auto& method = *service.add_method();
  method.set_name("Charge");
  method.mutable_options()->set_idempotency_level(charge);
  return set.SerializeAsString();
}

TEST(Warnings, DescribedMethodsAreLookedAtBehindGlobs) {
  const TemporaryFolder folder;
  const std::string upstream =
      "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: " +
      folder.Write("unknown.pb", Payments(google::protobuf::MethodOptions::IDEMPOTENCY_UNKNOWN)) +
      "}]\n";
  EXPECT_EQ(WarningsOf(upstream + "routes: [{upstream: a}]\n"), "905 routes[0].policy");
  EXPECT_EQ(
      WarningsOf(upstream + "routes: [{match: {method: \"/shop.Payments/G*\"}, upstream: a}]"), "");
  // Another route takes that method before.
  EXPECT_EQ(
      WarningsOf(upstream + "routes: [{match: {method: \"/shop.Payments/Charge\"}, upstream: a, "
                            "policy: x}, {upstream: a}]\n"
                            "policies: [{name: x, idempotency: {mode: never}}]\n"),
      "");
}

TEST(Warnings, DescriptorsSayWhatMayRunTwice) {
  const TemporaryFolder folder;
  const std::string upstream =
      "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: " +
      folder.Write("known.pb", Payments(google::protobuf::MethodOptions::IDEMPOTENT)) + "}]\n";
  EXPECT_EQ(WarningsOf(upstream +
                       "routes: [{match: {method: \"/shop.Payments/Charge\"}, upstream: a}]\n" +
                       PolicyText("retry: {attempt_timeout: 1s}")),
            "");
}

TEST(Warnings, RatioUpToAHalfIsFine) {
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0.5}"), "");
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0.51}"), "906 policies[0].retry.budget.ratio");
  EXPECT_EQ(RetryWarnings("max_attempts: 1, budget: {ratio: 0.51}"), "");
  EXPECT_EQ(PolicyWarnings("hedge: {delay: 1s}, retry: {budget: {ratio: 0.51}}"),
            "906 policies[0].retry.budget.ratio");
}

TEST(Warnings, FloorIsComparedWithTheRatiosShareOfTheRateLimit) {
  const std::string floor = "retry: {budget: {ratio: 0.1, floor: {per_second: 10}}}, ";
  EXPECT_EQ(PolicyWarnings(floor + "rate_limit: [{name: a, rate: 100/s}]"), "");
  EXPECT_EQ(PolicyWarnings(floor + "rate_limit: [{name: a, rate: 99/s}]"),
            "907 policies[0].retry.budget.floor.per_second");
  EXPECT_EQ(PolicyWarnings(floor), "");  // no rate is stated
  // Each key has a rate of its own.
  EXPECT_EQ(PolicyWarnings(floor + "rate_limit: [{name: a, rate: 99/s, key: [method]}]"), "");
}

TEST(Warnings, FloorIsAWholeRetryOrNone) {
  EXPECT_EQ(RetryWarnings("budget: {window: 1s}"), "");
  EXPECT_EQ(RetryWarnings("budget: {window: 999ms}"), "908 policies[0].retry.budget.window");
  EXPECT_EQ(RetryWarnings("budget: {floor: {per_second: 0.09}}"),
            "908 policies[0].retry.budget.floor.per_second");
  EXPECT_EQ(RetryWarnings("budget: {floor: {per_second: 0}}"), "");
}

TEST(Warnings, BudgetAllowsSomething) {
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0}"), "");
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0, floor: {per_second: 0}}"),
            "909 policies[0].retry.budget.ratio");
  EXPECT_EQ(RetryWarnings("budget: {ratio: 0, floor: {per_second: 0.01}}"),
            "909 policies[0].retry.budget.ratio");
}

std::string TwoRoutes(const std::string& first, const std::string& second) {
  return WarningsOf("routes:\n  - {match: {" + first + "}, upstream: anywhere}\n  - {match: {" +
                    second + "}, upstream: anywhere}\n");
}

TEST(Warnings, RouteBehindAWiderOneNeverMatches) {
  const std::string warned = "910 routes[1]";
  EXPECT_EQ(TwoRoutes("", "method: \"/a/*\""), warned);
  EXPECT_EQ(TwoRoutes("method: \"/a/*\"", "method: \"/a/b*\""), warned);
  EXPECT_EQ(TwoRoutes("method: \"/a/*\"", "method: \"/a/*\""), warned);
  EXPECT_EQ(TwoRoutes("authority: \"*:1\"", "authority: \"a*b:1\", method: \"/a/b\""), warned);
  EXPECT_EQ(TwoRoutes("method: \"/a/b*\"", "method: \"/a/*\""), "");
  EXPECT_EQ(TwoRoutes("authority: \"a:1\"", "method: \"/a/*\""), "");
  EXPECT_EQ(TwoRoutes("method: \"/a/*c\"", "method: \"/a/*\""), "");
}

TEST(Warnings, UpstreamsAndPoliciesAreUsed) {
  const std::string upstreams =
      "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}, {name: b, endpoints: "
      "[\"10.0.0.1:1\"]}]\npolicies: [{name: x}, {name: y}]\n";
  EXPECT_EQ(WarningsOf(upstreams + "routes: [{upstream: a, policy: x}]\n"),
            "911 upstreams[1].name, 912 policies[1].name");
  EXPECT_EQ(WarningsOf(upstreams + "routes: [{match: {method: \"/a/*\"}, upstream: b, policy: x}, "
                                   "{upstream: a, policy: y}]\n"),
            "");
}

TEST(Warnings, PoliciesOfAFileNeedNoRouteBesideTo) {
  EXPECT_EQ(Brief(CheckConfig({{"f", "policies: [{name: x}]\n"}}, "cart:1").warnings), "");
}

TEST(Warnings, AdminStaysOnLoopback) {
  EXPECT_EQ(WarningsOf("admin: {address: \"127.0.0.2:1\", grpc_address: \"[::1]:1\"}\n"), "");
  EXPECT_EQ(WarningsOf("admin: {address: \"localhost:1\", grpc_address: none}\n"), "");
  EXPECT_EQ(WarningsOf("admin: {address: \"0.0.0.0:1\", grpc_address: \"[::]:2\"}\n"),
            "913 admin.address, 913 admin.grpc_address");
  EXPECT_EQ(WarningsOf("metrics: {address: \"0.0.0.0:9461\"}\n"), "");
}

TEST(Warnings, ListenersThatSendAnywhereStayOnLoopback) {
  const std::string open = "listeners: [{name: a, address: \"0.0.0.0:1\"";
  const std::string fixed = "upstreams: [{name: anywhere, endpoints: [\"10.0.0.1:1\"]}]\n";
  EXPECT_EQ(WarningsOf(open + "}]\n"), "914 listeners[0].address");
  EXPECT_EQ(WarningsOf(open + ", capture: [h2c]}]\n"), "914 listeners[0].address");
  EXPECT_EQ(WarningsOf(open + "}]\n" + fixed), "914 listeners[0].address");
  EXPECT_EQ(WarningsOf(open + ", capture: [h2c]}]\n" + fixed), "");
  EXPECT_EQ(WarningsOf("listeners: [{name: a, address: \"unix:/run/a\"}]\n"), "");
}

TEST(Warnings, RetriesOfANamedServiceHaveMoreThanTheOneAddressThatWasDialled) {
  const auto with = [](const std::string& match, const std::string& policy) {
    return WarningsOf(
        "listeners: [{name: a, address: \"127.0.0.1:1\", capture: [original_dst]}]\n"
        "upstreams: [{name: o, endpoints: [\"original:\"]}, {name: d, endpoints: "
        "[\"dns:b.test:1\"]}]\n"
        "routes: [{match: {" +
        match + "}, upstream: o, policy: x}, {upstream: d, policy: x}]\npolicies: [{name: x, " +
        policy + "}]\n");
  };
  const std::string warned = "931 routes[0].upstream";
  EXPECT_EQ(with("authority: \"a:*\"", "retry: {max_attempts: 2}"), warned);
  EXPECT_EQ(with("method: \"/a/*\"", "retry: {max_attempts: 2}"), warned);
  EXPECT_EQ(with("authority: \"a:*\"", "hedge: {delay: 1s}"), warned);
  EXPECT_EQ(with("authority: \"a:*\"", "retry: {max_attempts: 1}"), "");
  EXPECT_EQ(with("authority: \"a:*\"", "retry: {mode: observe}"), "");
  // Whoever takes all calls cannot name their pods. No call is left for the second route.
  EXPECT_EQ(with("authority: \"*\"", "retry: {max_attempts: 2}"), "910 routes[1]");
}

TEST(Warnings, KeepaliveIsWhatServersAllow) {
  const auto with = [](const std::string& interval) {
    return WarningsOf(
        "upstreams: [{name: anywhere, endpoints: [\"authority:\"], keepalive: "
        "{interval: " +
        interval + "}}]\n");
  };
  EXPECT_EQ(with("5m"), "");
  EXPECT_EQ(with("none"), "");
  EXPECT_EQ(with("299s"), "915 upstreams[0].keepalive.interval");
}

TEST(Warnings, MarkOfLeveeIsHonored) {
  EXPECT_EQ(WarningsOf("overload: {honor: [levee]}\n"), "");
  EXPECT_EQ(WarningsOf("overload: {honor: []}\n"), "916 overload.honor");
  EXPECT_EQ(WarningsOf("overload: {honor: [pushback, envoy]}\n"), "916 overload.honor");
}

TEST(Warnings, NothingIsListedThatNeverIsRetried) {
  const std::string never = ", idempotency: {mode: never}";
  EXPECT_EQ(PolicyWarnings("retry: {max_attempts: 3}" + never), "");
  EXPECT_EQ(PolicyWarnings("retry: {codes: [], failures: [refused, connect]}" + never), "");
  EXPECT_EQ(PolicyWarnings("retry: {codes: [14], http: [503], failures: [connect, reset]}" + never),
            "917 policies[0].retry.codes, 917 policies[0].retry.http, "
            "917 policies[0].retry.failures[1]");
  EXPECT_EQ(PolicyWarnings("retry: {rules: [{codes: [14]}]}" + never),
            "917 policies[0].retry.rules[0].codes");
}

TEST(Warnings, ADefaultThatIsSpelledOutGivesWayToFewDescriptorsWithoutAWord) {
  const Room room{.descriptors = 1000};
  const auto warnings = [&room](const char* connections) {
    return Brief(CheckConfig({{"f", absl::StrCat("limits: {connections: ", connections, "}\n")}},
                             std::nullopt, FaultList(), room)
                     .warnings);
  };
  EXPECT_EQ(warnings("20000"), "");
  EXPECT_EQ(warnings("10000"), "923 limits.connections");
}

TEST(Warnings, StandBesideFaults) {
  const CheckedConfig checked =
      CheckConfig({{"f", PolicyText("retry: {budget: {ratio: 0.8}}") +
                             "drain: {timeout: 5}\n"
                             "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}]\n"}},
                  std::nullopt);
  EXPECT_EQ(checked.snapshot, nullptr);
  EXPECT_EQ(checked.faults.size(), 2u) << FormatFaults(checked.faults);
  // As long as routes are wrong, it is not known which upstreams are unused.
  EXPECT_EQ(Brief(checked.warnings), "906 policies[0].retry.budget.ratio");
}

// A policy with these fields, and warnings of every other kind: a method that may run twice, a
// route that is never reached, an upstream and a policy without use.
std::string WarningsBeside(const std::string& fault) {
  const CheckedConfig checked =
      CheckConfig({{"f",
                    "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}, {name: b, endpoints: "
                    "[\"10.0.0.1:2\"]}]\n"
                    "routes: [{match: {method: /s/Charge}, upstream: a, policy: x}, {upstream: a}, "
                    "{match: {method: /s/*}, upstream: a}]\n"
                    "policies: [{name: x, retry: {budget: {ratio: 0.8}, attempt_timeout: 1s, "
                    "codes: [3]}, " +
                        fault + "}, {name: y}]\n"}},
                  std::nullopt);
  EXPECT_EQ(checked.faults.size(), 1u) << FormatFaults(checked.faults);
  return Brief(checked.warnings);
}

TEST(Warnings, AreAllThereBesideAFaultOfAPolicy) {
  const std::string all =
      "911 upstreams[1].name, 905 routes[0].match.method, 910 routes[2], "
      "906 policies[0].retry.budget.ratio, 902 policies[0].retry.attempt_timeout, "
      "904 policies[0].retry.codes[0], 912 policies[1].name";
  EXPECT_EQ(WarningsBeside("mode: enforce"), all);                        // LV105
  EXPECT_EQ(WarningsBeside("timeout: [1s]"), all);                        // LV109
  EXPECT_EQ(WarningsBeside("timeout: 0s"), all);                          // LV201
  EXPECT_EQ(WarningsBeside("throttle: {mode: of}"), all);                 // LV202
  EXPECT_EQ(WarningsBeside("timeout: 5"), all);                           // LV204
  EXPECT_EQ(WarningsBeside("rate_limit: [{name: r, rate: fast}]"), all);  // LV208
}

TEST(Warnings, ThatDependOnAFaultyValueAreLeftOut) {
  const std::string rest =
      "911 upstreams[1].name, 910 routes[2], 906 policies[0].retry.budget.ratio, "
      "904 policies[0].retry.codes[0], 912 policies[1].name";
  // It is not known whether the calls may run twice.
  EXPECT_EQ(WarningsBeside("idempotency: {mode: sometimes}"), rest);
}

// The warnings of routes, which are a YAML list, beside upstreams a and b and policies x and
// default.
std::string RouteWarnings(const std::string& routes) {
  const CheckedConfig checked =
      CheckConfig({{"f",
                    "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}, {name: b, endpoints: "
                    "[\"10.0.0.1:2\"]}]\npolicies: [{name: x}, {name: default}]\nroutes: " +
                        routes + "\n"}},
                  std::nullopt);
  EXPECT_EQ(checked.faults.size(), 1u) << FormatFaults(checked.faults);
  return Brief(checked.warnings);
}

TEST(Warnings, AnUnknownTargetMayBeTheOneThatSeemsUnused) {
  EXPECT_EQ(RouteWarnings("[{upstream: a}, {match: {method: /s/*}, upstream: bb, policy: x}]"),
            "910 routes[1]");
  EXPECT_EQ(RouteWarnings("[{match: {method: /s/*}, upstream: b, policy: xx}, {upstream: a}]"), "");
  EXPECT_EQ(RouteWarnings("[{match: {method: /s/*}, upstrem: b, upstream: a}, {upstream: a}]"), "");
  EXPECT_EQ(RouteWarnings("x"), "");
}

TEST(Warnings, ARouteWhoseMatchIsUnknownTakesNoCallsOfOthers) {
  EXPECT_EQ(RouteWarnings("[{match: {methd: /s/*}, upstream: b, policy: x}, {upstream: a}]"), "");
  EXPECT_EQ(RouteWarnings("[{match: {method: [x]}, upstream: b, policy: x}, {upstream: a}]"), "");
}

TEST(Warnings, ThatDependOnWhatCouldNotBeReadAreLeftOut) {
  const CheckedConfig checked = CheckConfig(
      {{"f", PolicyText("retry: {budget: {ratio: x, floor: {per_second: 0}}, attempt_timeout: 1s, "
                        "failures: [timeot]}")}},
      std::nullopt);
  EXPECT_EQ(Brief(checked.warnings), "");
}

TEST(Warnings, TellOfAnEndpointThatIsTheListenerOfTheSameApplication) {
  const auto warnings_of = [](const std::string& listener, const std::string& endpoint) {
    return WarningsOf("listeners: [{name: a, address: \"" + listener +
                      "\"}]\nupstreams: [{name: cart, endpoints: [\"" + endpoint +
                      "\"]}]\nroutes: [{upstream: cart}]\n");
  };
  const std::string exposed = "914 listeners[0].address";
  const std::string told = "942 upstreams[0].endpoints[0]";
  EXPECT_EQ(warnings_of("127.0.0.1:9470", "127.0.0.1:9470"), told);
  EXPECT_EQ(warnings_of("localhost:9470", "localhost:9470"), told);
  EXPECT_EQ(warnings_of("127.0.0.1:9470", "dns:localhost:9470"), told);
  EXPECT_EQ(warnings_of("[::]:9470", "127.0.0.1:9470"), exposed + ", " + told);
  EXPECT_EQ(warnings_of("unix:/run/a.sock", "unix:/run/a.sock"), told);
  EXPECT_EQ(warnings_of("[::]:9470", "10.0.0.7:9470"), exposed);
  EXPECT_EQ(warnings_of("127.0.0.1:9470", "127.0.0.1:9471"), "");
  EXPECT_EQ(warnings_of("unix:/run/a.sock", "unix:/run/b.sock"), "");
}

TEST(Warnings, BeyondTheLimitAreCounted) {
  std::string codes = "3";
  for (int i = 0; i < 209; ++i) codes += ", 3";
  const CheckedConfig checked =
      CheckConfig({{"f", PolicyText("retry: {codes: [" + codes + "]}")}}, std::nullopt);
  ASSERT_EQ(checked.warnings.size(), 201u);
  EXPECT_EQ(FormatFault(checked.warnings[200]), "LV002 warning: and 10 more");
}

}  // namespace
}  // namespace levee
