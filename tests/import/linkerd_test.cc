// SPDX-License-Identifier: Apache-2.0
// What a policy of Levee makes of Linkerd's annotations and profiles.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string FromLinkerd(const std::string& text) { return Checked(ImportLinkerd({{"f", text}})); }
std::string FaultsOfLinkerd(const std::string& text) {
  return FormatFaults(ImportLinkerd({{"f", text}}).faults);
}

std::string KubernetesService(const std::string& annotations) {
  return absl::StrCat(
      "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop, "
      "annotations: {",
      annotations, "}}\nspec: {ports: [{port: 80}]}\n");
}
std::string LinkerdRoute(const std::string& kind, const std::string& annotations,
                         const std::string& fields = "") {
  return absl::StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: ", kind,
                      "\nmetadata: {name: r, namespace: shop, annotations: {", annotations,
                      "}}\nspec: {parentRefs: [{kind: Service, name: cart, port: 80}], rules: "
                      "[{backendRefs: [{name: cart, port: 80}]",
                      fields, "}]}\n");
}
std::string Profile(const std::string& spec) {
  return absl::StrCat(
      "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\n"
      "metadata: {name: cart.shop.svc.cluster.local, namespace: shop}\nspec: {",
      spec, "}\n");
}

std::string LinkerdPolicies(const std::string& text) {
  return WithoutRest(ValuesOf(FromLinkerd(text), "policies"));
}

// The attempts of a call to cart.shop:80, and its upstream.
std::string LinkerdCall(const std::string& text, const std::string& method) {
  return CallIn(FromLinkerd(text), "cart.shop:80", method);
}

TEST(Linkerd, AnnotationsOfAServiceHoldForItsPorts) {
  const std::string yaml = FromLinkerd(KubernetesService(
      "retry.linkerd.io/grpc: 'unavailable,internal', retry.linkerd.io/http: "
      "'gateway-error,429', retry.linkerd.io/limit: '2', retry.linkerd.io/timeout: 400ms, "
      "timeout.linkerd.io/request: 2s"));
  EXPECT_THAT(ValuesOf(yaml, "upstreams"), HasSubstr("endpoints: [\"dns:cart.shop:80\"]"));
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("{authority: \"cart.shop:80\"}\n    upstream: "
                                                  "cart\n    policy: cart\n"));
  EXPECT_EQ(WithoutRest(ValuesOf(yaml, "policies")),
            "  - name: cart\n"
            "    timeout: 2s\n"
            "    retry:\n"
            "      max_attempts: 3\n"
            "      codes: [UNAVAILABLE, INTERNAL]\n"
            "      failures: [timeout]\n"
            "      http: [502, 503, 504, 429]\n"
            "      attempt_timeout: 400ms\n"
            "      backoff: {initial: 25ms, multiplier: 2, max: 250ms, jitter: {add: 25ms}}\n");
}

TEST(Linkerd, WithoutALimitACallIsRetriedOnce) {
  EXPECT_THAT(LinkerdPolicies(KubernetesService("retry.linkerd.io/grpc: internal")),
              HasSubstr("max_attempts: 2\n"));
  EXPECT_EQ(
      LinkerdCall(KubernetesService("retry.linkerd.io/grpc: internal, retry.linkerd.io/limit: '0'"),
                  "/a.A/Get"),
      "cart, 1 attempt");
}

TEST(Linkerd, WithoutAnnotationsOfRetriesACallIsTriedOnce) {
  EXPECT_EQ(LinkerdCall(KubernetesService("timeout.linkerd.io/request: 2s"), "/a.A/Get"),
            "cart, 1 attempt");
  EXPECT_EQ(LinkerdCall(LinkerdRoute("HTTPRoute", ""), "/a.A/Get"), "cart, 1 attempt");
}

TEST(Linkerd, ACallThatNoRouteOfTheServiceTakesReachesNoService) {
  const std::string text =
      LinkerdRoute("GRPCRoute", "retry.linkerd.io/grpc: internal",
                   ", matches: [{method: {service: a.A}}]") +
      "---\n" + KubernetesService("retry.linkerd.io/grpc: internal, retry.linkerd.io/limit: '5'");
  EXPECT_EQ(LinkerdCall(text, "/a.A/Get"), "cart, 2 attempts");
  EXPECT_EQ(LinkerdCall(text, "/b.B/Get"), "nowhere, 1 attempt");
}

TEST(Linkerd, RangesOfStatusesAreNamedOneByOne) {
  EXPECT_THAT(LinkerdPolicies(KubernetesService("retry.linkerd.io/http: 500-502")),
              HasSubstr("http: [500, 501, 502]\n"));
  EXPECT_THAT(LinkerdPolicies(KubernetesService("retry.linkerd.io/http: '503,499-599'")),
              HasSubstr("http: [5xx, 499]\n"));
}

TEST(Linkerd, AnnotationsOfARouteComeBeforeThoseOfItsService) {
  const std::string service = KubernetesService(
      "retry.linkerd.io/grpc: internal, retry.linkerd.io/limit: '5', "
      "timeout.linkerd.io/request: 9s");
  EXPECT_THAT(LinkerdPolicies(LinkerdRoute("GRPCRoute",
                                           "retry.linkerd.io/grpc: cancelled, "
                                           "retry.linkerd.io/limit: '1'") +
                              "---\n" + service),
              HasSubstr("  - name: r\n    timeout: 9s\n    retry:\n      max_attempts: 2\n"
                        "      codes: [CANCELLED]\n"));
  EXPECT_THAT(LinkerdPolicies(service),
              HasSubstr("  - name: cart\n    timeout: 9s\n    retry:\n"
                        "      max_attempts: 6\n      codes: [INTERNAL]\n"));
}

TEST(Linkerd, TheTimeoutsOfARouteCountToo) {
  EXPECT_EQ(LinkerdPolicies(LinkerdRoute("HTTPRoute", "retry.linkerd.io/http: 5xx",
                                         ", timeouts: {request: 3s, backendRequest: 1s}")),
            "  - name: r\n"
            "    timeout: 3s\n"
            "    retry:\n"
            "      max_attempts: 2\n"
            "      codes: []\n"
            "      failures: []\n"
            "      http: [5xx]\n"
            "      attempt_timeout: 1s\n"
            "      backoff: {initial: 25ms, multiplier: 2, max: 250ms, jitter: {add: 25ms}}\n");
}

TEST(Linkerd, WhatHasNoEquivalentIsSaid) {
  const std::string comments = CommentsOf(
      FromLinkerd(KubernetesService("timeout.linkerd.io/response: 1s, timeout.linkerd.io/idle: 5s, "
                                    "config.linkerd.io/opaque-ports: '1'") +
                  "---\n{apiVersion: v1, kind: Service, metadata: {name: plain}}\n"
                  "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}}\n"));
  EXPECT_THAT(comments, HasSubstr("timeout.linkerd.io/response: 1s has no equivalent"));
  EXPECT_THAT(comments, HasSubstr("timeout.linkerd.io/idle: 5s has no equivalent"));
  EXPECT_THAT(comments, HasSubstr("Annotations not read: config.linkerd.io/opaque-ports."));
  EXPECT_THAT(comments, HasSubstr("Not read: Service default/plain, line 6, which has no "
                                  "annotations of Linkerd."));
  EXPECT_THAT(comments, HasSubstr("Not read: Pod default/p, line 8 (core)."));
}

TEST(Linkerd, AProfilesRoutesStandInTheirOrder) {
  const std::string yaml = FromLinkerd(
      Profile("routes: [{name: slow, condition: {method: POST, pathRegex: '/shop\\.Cart/.*'}, "
              "timeout: 300ms}, {name: get, condition: {pathRegex: /shop\\.Cart/Get}, "
              "isRetryable: true}], retryBudget: {retryRatio: 0.3, minRetriesPerSecond: 4, ttl: "
              "20s}"));
  const std::string routes = ValuesOf(yaml, "routes");
  EXPECT_LT(routes.find("{authority: cart.shop, method: \"/shop.Cart/*\"}"),
            routes.find("{authority: cart.shop, method: \"/shop.Cart/Get\"}"));
  EXPECT_LT(routes.find("{authority: cart.shop, method: \"/shop.Cart/Get\"}"),
            routes.find("{authority: cart.shop}"));
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: cart\n"
            "    timeout: 300ms\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "  - name: cart-2\n"
            "    retry:\n"
            "      codes: [UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, DATA_LOSS]\n"
            "      http: [5xx]\n"
            "      budget: {ratio: 0.3, window: 20s, floor: {per_second: 4}}\n"
            "  - name: no-retries\n"
            "    retry:\n"
            "      max_attempts: 1\n");
}

TEST(Linkerd, AProfileWithoutBudgetHasLinkerds) {
  EXPECT_THAT(
      LinkerdPolicies(Profile("routes: [{condition: {pathRegex: /a.*}, isRetryable: true}]")),
      HasSubstr("budget: {ratio: 0.2, window: 10s, floor: {per_second: 10}}"));
}

TEST(Linkerd, ARegularExpressionThatNamesMethodsIsTheirRoutes) {
  for (const char* regex : {"/a\\.A/(Get|Put)", "/a\\.A/[^/]+", "/a.A/Get", "/a\\.A/G.*"}) {
    const std::string text = Profile(
        absl::StrCat("routes: [{condition: {pathRegex: '", regex, "'}, isRetryable: true}]"));
    EXPECT_EQ(LinkerdCall(text, "/a.A/Get"), "cart, 3 attempts") << regex;
    EXPECT_EQ(LinkerdCall(text, "/b.A/Get"), "cart, 1 attempt") << regex;
  }
}

TEST(Linkerd, ARouteThatCannotBeToldFromOthersTriesItsCallsOnce) {
  const std::string text =
      Profile("routes: [{condition: {pathRegex: '/a\\.A/[G-P]et'}, isRetryable: true}]");
  EXPECT_EQ(LinkerdCall(text, "/a.A/Get"), "cart, 1 attempt");
  EXPECT_EQ(ImportLinkerd({{"f", text}}).routes.Format(),
            "routes: 1 exact, 0 narrowed, 1 guarded, 0 refused");
}

TEST(Linkerd, AlternativesOfAConditionAreRoutes) {
  const std::string text =
      "apiVersion: linkerd.io/v1alpha2\n"
      "kind: ServiceProfile\n"
      "metadata: {name: cart.shop.svc.cluster.local, namespace: shop}\n"
      "spec:\n"
      "  routes:\n"
      "  - name: reads\n"
      "    condition: {any: [{pathRegex: '/shop\\.Cart/Get'}, {all: [{method: POST}, {pathRegex: "
      "'/shop\\.Cart/List'}]}]}\n"
      "    isRetryable: true\n"
      "    timeout: 300ms\n";
  EXPECT_EQ(LinkerdCall(text, "/shop.Cart/Get"), "cart, 3 attempts");
  EXPECT_EQ(LinkerdCall(text, "/shop.Cart/List"), "cart, 3 attempts");
  EXPECT_EQ(LinkerdCall(text, "/shop.Cart/Pay"), "cart, 1 attempt");
  EXPECT_EQ(ImportLinkerd({{"f", text}}).routes.Format(),
            "routes: 3 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(Linkerd, ConditionsTogetherTakeTheCallsOfAll) {
  const auto call = [](const std::string& condition, const std::string& method) {
    return LinkerdCall(
        Profile(absl::StrCat("routes: [{condition: ", condition, ", isRetryable: true}]")), method);
  };
  const char* both = "{all: [{pathRegex: '/a\\.A/.*'}, {pathRegex: '/a\\.A/(Get|Put)'}]}";
  EXPECT_EQ(call(both, "/a.A/Put"), "cart, 3 attempts");
  EXPECT_EQ(call(both, "/a.A/Set"), "cart, 1 attempt");
  EXPECT_EQ(call("{all: [{pathRegex: /a/Get}, {pathRegex: /b/Get}]}", "/a/Get"), "cart, 1 attempt");
  EXPECT_EQ(call("{all: [{not: {method: GET}}, {pathRegex: /a/Get}]}", "/a/Get"),
            "cart, 3 attempts");
  EXPECT_EQ(call("{any: [{method: GET}, {pathRegex: /a/Get}]}", "/a/Get"), "cart, 3 attempts");
  EXPECT_EQ(call("{pathRegex: /a/Get, not: {pathRegex: /b/Get}}", "/a/Get"), "cart, 1 attempt");
}

TEST(Linkerd, ConditionsThatGrowWithoutBoundAreAFault) {
  std::string any, deep = "{method: POST}";
  for (int i = 0; i < 9; ++i) absl::StrAppend(&any, "{pathRegex: /a/G", i, "},");
  for (int i = 0; i < 20; ++i) deep = "{all: [" + deep + "]}";
  const std::string nine = "{any: [" + any + "]}";
  const std::string routes = "routes: [{condition: ";
  EXPECT_THAT(FaultsOfLinkerd(Profile(routes + "{all: [" + nine + "," + nine + "]}}]")),
              HasSubstr("has more than 64 alternatives"));
  EXPECT_THAT(FaultsOfLinkerd(Profile(routes + deep + "}]")), HasSubstr("is nested too deeply"));
}

TEST(Linkerd, FailureAccrualEjectsEndpoints) {
  const std::string yaml = FromLinkerd(
      KubernetesService("balancer.linkerd.io/failure-accrual: consecutive, "
                        "balancer.linkerd.io/failure-accrual-consecutive-max-failures: '4', "
                        "balancer.linkerd.io/failure-accrual-consecutive-min-penalty: 2s, "
                        "balancer.linkerd.io/failure-accrual-consecutive-jitter-ratio: '0.5'"));
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("ejection: {failures: 4, success: 0, base: 2s, max: 1m}\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("jitter-ratio: 0.5 has no equivalent."));
  EXPECT_EQ(CallIn(yaml, "cart.shop:80", "/a.A/Get"), "cart, 1 attempt");
  EXPECT_THAT(
      ValuesOf(FromLinkerd(KubernetesService("balancer.linkerd.io/failure-accrual: consecutive")),
               "upstreams"),
      HasSubstr("ejection: {failures: 7, success: 0, base: 1s, max: 1m}\n"));
  EXPECT_THAT(
      CommentsOf(FromLinkerd(KubernetesService("balancer.linkerd.io/failure-accrual: rate"))),
      HasSubstr("failure-accrual: \"rate\" has no equivalent."));
}

TEST(Linkerd, WrongValuesAreFaultsWithTheirPlace) {
  EXPECT_EQ(FaultsOfLinkerd(KubernetesService("retry.linkerd.io/grpc: unavailable+")),
            "f:3:78: metadata.annotations.\"retry.linkerd.io/grpc\": \"unavailable+\" is none of "
            "cancelled, deadline-exceeded, internal, resource-exhausted and unavailable");
  for (const std::string& text :
       {KubernetesService("retry.linkerd.io/limit: many"),
        KubernetesService("retry.linkerd.io/http: 6xx"),
        KubernetesService("retry.linkerd.io/http: 504-500"),
        KubernetesService("timeout.linkerd.io/request: '5'"), Profile("routes: [{name: a}]"),
        Profile("routes: [{condition: {}, timeout: -1s}]"),
        Profile("retryBudget: {retryRatio: -1}"),
        Profile("routes: [{condition: {}, isRetryable: true, responseClasses: [{isFailure: true, "
                "condition: {status: {min: 600}}}]}]")}) {
    EXPECT_THAT(FaultsOfLinkerd(text), HasSubstr("f:")) << text;
  }
}

}  // namespace
}  // namespace levee
