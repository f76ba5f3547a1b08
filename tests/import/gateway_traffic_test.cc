// SPDX-License-Identifier: Apache-2.0
// What becomes of Envoy Gateway's BackendTrafficPolicy.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string FromEnvoyGateway(const std::string& text) {
  return Checked(ImportGatewayApi({{"f", text}}));
}

// A route to cart, attached to the gateway `public`; its second rule has a name.
std::string RouteWithRules(const std::string& kind = "GRPCRoute", const std::string& first = "") {
  const std::string match =
      kind == "GRPCRoute" ? "{method: {service: a.A}}" : "{path: {value: /a.A}}";
  return absl::StrCat(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ", kind,
      "\nmetadata: {name: cart, namespace: shop}\nspec: {parentRefs: [{name: public}], hostnames: "
      "[cart.example], rules: [{backendRefs: [{name: cart, port: 80}]",
      first, "}, {name: special, matches: [", match,
      "], backendRefs: [{name: cart, port: 80}]}]}\n");
}

std::string TrafficFor(const std::string& target, const std::string& spec) {
  return absl::StrCat(
      "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n"
      "metadata: {name: b, namespace: shop}\nspec: {targetRefs: [{group: g, ",
      target, "}], ", spec, "}\n");
}
constexpr char kOfRoute[] = "kind: GRPCRoute, name: cart";

std::string CallOfGateway(const std::string& text, const std::string& method) {
  return CallIn(FromEnvoyGateway(text), "cart.example", method);
}

TEST(BackendTrafficPolicy, GivesAGrpcRouteItsRetries) {
  const std::string yaml = FromEnvoyGateway(
      RouteWithRules() +
      TrafficFor(
          kOfRoute,
          "retry: {numRetries: 5, perRetry: {timeout: 250ms, backOff: {baseInterval: 100ms, "
          "maxInterval: 10s}}, retryOn: {httpStatusCodes: [500], triggers: [connect-failure, "
          "retriable-status-codes]}}"));
  EXPECT_THAT(ValuesOf(yaml, "policies"),
              HasSubstr("  - name: cart\n"
                        "    retry:\n"
                        "      max_attempts: 6\n"
                        "      codes: []\n"
                        "      failures: [connect]\n"
                        "      http: [500]\n"
                        "      attempt_timeout: 250ms\n"
                        "      backoff: {initial: 100ms, multiplier: 2, max: 10s, jitter: full}\n"
                        "      commit: headers\n"));
}

TEST(BackendTrafficPolicy, HasEnvoyGatewaysDefaults) {
  const std::string yaml = FromEnvoyGateway(RouteWithRules() + TrafficFor(kOfRoute, "retry: {}"));
  EXPECT_THAT(
      ValuesOf(yaml, "policies"),
      HasSubstr("      max_attempts: 3\n"
                "      codes: [UNAVAILABLE, CANCELLED]\n"
                "      failures: [refused, connect]\n"
                "      http: [503]\n"
                "      backoff: {initial: 25ms, multiplier: 2, max: 250ms, jitter: full}\n"));
  EXPECT_EQ(
      CallOfGateway(RouteWithRules() + TrafficFor(kOfRoute, "retry: {numRetries: 0}"), "/b/Get"),
      "cart, 1 attempt");
}

TEST(BackendTrafficPolicy, OfARuleComesBeforeThatOfItsRouteAndThatBeforeOneOfTheGateway) {
  const std::string gateway = TrafficFor("kind: Gateway, name: public", "retry: {numRetries: 1}");
  const std::string route = TrafficFor(kOfRoute, "retry: {numRetries: 2}");
  const std::string rule =
      TrafficFor("kind: GRPCRoute, name: cart, sectionName: special", "retry: {numRetries: 3}");
  EXPECT_EQ(CallOfGateway(RouteWithRules() + gateway, "/b.B/Get"), "cart, 2 attempts");
  EXPECT_EQ(CallOfGateway(RouteWithRules() + gateway + route, "/b.B/Get"), "cart, 3 attempts");
  EXPECT_EQ(CallOfGateway(RouteWithRules() + gateway + route + rule, "/b.B/Get"),
            "cart, 3 attempts");
  EXPECT_EQ(CallOfGateway(RouteWithRules() + gateway + route + rule, "/a.A/Get"),
            "cart, 4 attempts");
}

TEST(BackendTrafficPolicy, NeverAddsAttemptsToARoutesOwn) {
  const std::string own = RouteWithRules("HTTPRoute", ", retry: {attempts: 1, codes: [503]}");
  EXPECT_EQ(CallOfGateway(own + TrafficFor("kind: HTTPRoute, name: cart", "retry: {numRetries: 4}"),
                          "/b.B/Get"),
            "cart, 2 attempts");
  EXPECT_EQ(CallOfGateway(own + TrafficFor("kind: HTTPRoute, name: cart", "retry: {numRetries: 0}"),
                          "/b.B/Get"),
            "cart, 1 attempt");
}

TEST(BackendTrafficPolicy, BoundsTimeAndConnections) {
  const std::string yaml = FromEnvoyGateway(
      RouteWithRules() +
      TrafficFor(
          kOfRoute,
          "timeout: {tcp: {connectTimeout: 2s}, http: {requestTimeout: 3s, "
          "maxConnectionDuration: 10m, connectionIdleTimeout: 1m}}, healthCheck: {active: {}, "
          "passive: {consecutive5XxErrors: 9, baseEjectionTime: 10s, interval: 1s}}, "
          "circuitBreaker: {maxParallelRequests: 7}, loadBalancer: {type: Random}"));
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("    connect_timeout: 2s\n"
                        "    max_connection_age: 10m\n"
                        "    ejection: {failures: 9, success: 0, base: "
                        "10s}\n"));
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("    timeout: 3s\n"));
  for (const char* note : {"timeout.http: connectionIdleTimeout.", "healthCheck.active has no",
                           "healthCheck.passive: interval.", "maxParallelRequests",
                           "Not read in spec: loadBalancer."}) {
    EXPECT_THAT(CommentsOf(yaml), HasSubstr(note));
  }
}

TEST(BackendTrafficPolicy, LimitsTheRateOfAllClients) {
  const auto limits = [](const std::string& rules) {
    return FromEnvoyGateway(
        RouteWithRules() +
        TrafficFor(kOfRoute, "rateLimit: {type: Local, local: {rules: [" + rules + "]}}"));
  };
  EXPECT_THAT(ValuesOf(limits("{limit: {requests: 10, unit: Minute}}"), "policies"),
              HasSubstr("rate_limit: [{name: gateway-1, rate: 10/m, burst: 10}]\n"));
  for (const char* rule :
       {"{clientSelectors: [{headers: [{name: x}]}], limit: {requests: 10, unit: "
        "Second}}",
        "{limit: {requests: 10, unit: Month}}"}) {
    EXPECT_THAT(limits(rule), Not(HasSubstr("rate_limit: ["))) << rule;
    EXPECT_THAT(CommentsOf(limits(rule)), HasSubstr("is left out, since this has no equivalent: "));
  }
  EXPECT_THAT(FormatFaults(ImportGatewayApi({{"f", RouteWithRules() +
                                                       TrafficFor(kOfRoute,
                                                                  "rateLimit: {local: {rules: "
                                                                  "[{limit: {requests: 9999999999, "
                                                                  "unit: Second}}]}}")}})
                               .faults),
              HasSubstr("requests: must be given, above 0 and at most 1000000000"));
  EXPECT_THAT(CommentsOf(FromEnvoyGateway(
                  RouteWithRules() +
                  TrafficFor(kOfRoute, "rateLimit: {type: Global, global: {rules: []}}"))),
              HasSubstr("rateLimit.global is left out"));
}

TEST(BackendTrafficPolicy, ThatNoRouteHasIsAComment) {
  EXPECT_THAT(
      CommentsOf(FromEnvoyGateway(RouteWithRules() +
                                  TrafficFor("kind: HTTPRoute, name: other", "retry: {}"))),
      HasSubstr("Left out: BackendTrafficPolicy shop/b, line 6 for HTTPRoute \"other\", since "
                "no route here is attached to it."));
}

// kgateway's.
std::string KgatewayFor(const std::string& target, const std::string& spec) {
  return absl::StrCat(
      "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\n"
      "metadata: {name: t, namespace: shop}\nspec: {targetRefs: [{group: g, ",
      target, "}], ", spec, "}\n");
}

TEST(TrafficPolicy, GivesARuleItsRetries) {
  const std::string yaml = FromEnvoyGateway(
      RouteWithRules() +
      KgatewayFor(
          "kind: GRPCRoute, name: cart, sectionName: special",
          "retry: {attempts: 3, perTryTimeout: 5s, backoffBaseInterval: 1s, retryOn: [5xx, "
          "unavailable], statusCodes: [429]}, timeouts: {request: 20s, streamIdle: 5m}, "
          "rateLimit: {local: {tokenBucket: {maxTokens: 10, tokensPerFill: 5, fillInterval: "
          "1s}}}, rbac: {}"));
  EXPECT_EQ(CallIn(yaml, "cart.example", "/a.A/Get"), "cart, 4 attempts");
  EXPECT_EQ(CallIn(yaml, "cart.example", "/b.B/Get"), "cart, 1 attempt");
  EXPECT_THAT(ValuesOf(yaml, "policies"),
              HasSubstr("    timeout: 20s\n"
                        "    retry:\n"
                        "      max_attempts: 4\n"
                        "      codes: [UNAVAILABLE]\n"
                        "      failures: [refused, connect, reset, timeout]\n"
                        "      http: [5xx, 429]\n"
                        "      attempt_timeout: 5s\n"
                        "      backoff: {initial: 1s, multiplier: 2, max: 10s, jitter: full}\n"
                        "      commit: headers\n"
                        "    rate_limit: [{name: gateway, rate: 5/s, burst: 10}]\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Not read in spec.timeouts: streamIdle."));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Not read in spec: rbac."));
}

}  // namespace
}  // namespace levee
