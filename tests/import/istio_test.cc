// SPDX-License-Identifier: Apache-2.0
// What a policy of Levee makes of Istio's VirtualServices and DestinationRules.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string FromIstio(const std::string& text) { return Checked(ImportIstio({{"f", text}})); }
std::string FaultsOfIstio(const std::string& text) {
  return FormatFaults(ImportIstio({{"f", text}}).faults);
}

std::string VirtualService(const std::string& http) {
  return absl::StrCat(
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\n"
      "metadata: {name: v, namespace: shop}\nspec: {hosts: [cart], http: [",
      http, "]}\n");
}
std::string IstioRoute(const std::string& fields) {
  return VirtualService(
      absl::StrCat("{route: [{destination: {host: cart, port: {number: 80}}}], ", fields, "}"));
}
std::string DestinationRule(const std::string& policy) {
  return absl::StrCat(
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\n"
      "metadata: {name: d, namespace: shop}\nspec: {host: "
      "cart.shop.svc.cluster.local, trafficPolicy: {",
      policy, "}}\n");
}

std::string IstioRoutes(const std::string& text) { return ValuesOf(FromIstio(text), "routes"); }
std::string IstioPolicies(const std::string& text) { return ValuesOf(FromIstio(text), "policies"); }
std::string IstioUpstreams(const std::string& text) {
  return ValuesOf(FromIstio(text), "upstreams");
}

TEST(Istio, AttemptsAreRetries) {
  EXPECT_EQ(
      IstioPolicies(IstioRoute("timeout: 5s, retries: {attempts: 3, perTryTimeout: 1.5s, retryOn: "
                               "'unavailable,connect-failure,reset,503', backoff: 100ms, "
                               "retryIgnorePreviousHosts: true}")),
      "  - name: v\n"
      "    timeout: 5s\n"
      "    retry:\n"
      "      max_attempts: 4\n"
      "      codes: [UNAVAILABLE]\n"
      "      failures: [refused, connect, reset, timeout]\n"
      "      http: [503]\n"
      "      attempt_timeout: 1.5s\n"
      "      backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: full}\n"
      "      commit: headers\n");
  EXPECT_EQ(IstioPolicies(IstioRoute("retries: {attempts: 0}")),
            "  - name: v\n    retry:\n      max_attempts: 1\n");
}

TEST(Istio, ARouteThatSaysNothingOfRetriesHasIstiosDefault) {
  const std::string yaml = FromIstio(IstioRoute("timeout: 0s"));
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: v\n"
            "    retry:\n"
            "      max_attempts: 3\n"
            "      codes: [UNAVAILABLE, CANCELLED]\n"
            "      failures: [refused, connect]\n"
            "      http: [503]\n"
            "      backoff: {initial: 25ms, multiplier: 2, max: 250ms, jitter: full}\n"
            "      commit: headers\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Istio's default for a route without retries."));
}

TEST(Istio, HostsAreThoseOfTheirNamespace) {
  const std::string yaml = FromIstio(IstioRoute(""));
  for (const char* authority : {"cart.shop", "cart.shop.svc", "cart.shop.svc.cluster.local"}) {
    EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr(absl::StrCat("authority: ", authority, "}")));
    EXPECT_THAT(ValuesOf(yaml, "routes"),
                HasSubstr(absl::StrCat("authority: \"", authority, ":*\"}")));
  }
  EXPECT_THAT(ValuesOf(yaml, "upstreams"), HasSubstr("endpoints: [\"dns:cart.shop:80\"]"));
}

TEST(Istio, RoutesStandInTheirOrder) {
  const std::string routes = IstioRoutes(
      VirtualService("{match: [{uri: {prefix: /a.}}, {uri: {exact: /a.A/Get}, port: 80}], route: "
                     "[{destination: {host: cart}}]}, {route: [{destination: {host: cart}}]}"));
  const size_t prefix = routes.find("{authority: cart.shop, method: \"/a.*\"}");
  const size_t exact = routes.find("{authority: \"cart.shop:80\", method: \"/a.A/Get\"}");
  EXPECT_LT(prefix, exact);
  EXPECT_LT(exact, routes.find("{authority: cart.shop}"));
}

TEST(Istio, AMatchThatLeveeWouldTakeMoreWidelyIsLeftOut) {
  for (const char* http :
       {"{match: [{headers: {x: {exact: y}}}], route: [{destination: {host: cart}}]}",
        "{match: [{uri: {regex: /a.*}}], route: [{destination: {host: cart}}]}",
        "{match: [{sourceLabels: {app: a}}], route: [{destination: {host: cart}}]}",
        "{redirect: {uri: /b}}", "{rewrite: {uri: /b}, route: [{destination: {host: cart}}]}",
        "{route: [{destination: {host: other}}]}", "{route: []}",
        "{route: [{destination: {host: a, port: {number: 1}}, weight: 90}, {destination: {host: b, "
        "port: {number: 1}}, weight: 10}]}"}) {
    const std::string yaml = FromIstio(VirtualService(http));
    EXPECT_EQ(ValuesOf(yaml, "routes"), "  - upstream: anywhere\n    policy: default\n") << http;
    EXPECT_THAT(CommentsOf(yaml), HasSubstr("Left out, since this has no equivalent: ")) << http;
  }
}

TEST(Istio, SubsetsOfOneServiceAreTheService) {
  const std::string yaml = FromIstio(VirtualService(
      "{route: [{destination: {host: cart, subset: v1}, weight: 90}, {destination: {host: "
      "cart, subset: v2}, weight: 10}]}"));
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("upstream: cart\n    policy: v\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Subsets have no equivalent: \"v1\", \"v2\"."));
}

TEST(Istio, ARetryBudgetHoldsForTheService) {
  EXPECT_THAT(IstioPolicies(IstioRoute("") + "---\n" +
                            DestinationRule("retryBudget: {percent: 25.5, minRetryConcurrency: 5, "
                                            "budgetInterval: 20s}")),
              HasSubstr("budget: {ratio: 0.255, window: 20s, burst: {least: 5}}\n"));
  EXPECT_THAT(IstioPolicies(DestinationRule("retryBudget: {}")),
              HasSubstr("  - name: cart\n    retry:\n      budget: {ratio: 0.2, burst: {least: "
                        "3}}\n"));
}

TEST(Istio, TimesThatAPolicyCannotHaveAreNamed) {
  const std::string yaml =
      FromIstio(DestinationRule("retryBudget: {percent: 20, budgetInterval: 2h}, "
                                "outlierDetection: {baseEjectionTime: 3h}"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("budgetInterval is 2h; a window is 100ms to 1h long."));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("baseEjectionTime is 3h; an endpoint is ejected for"));
}

TEST(Istio, OutliersAreEjected) {
  EXPECT_THAT(IstioUpstreams(DestinationRule(
                  "outlierDetection: {consecutive5xxErrors: 7, baseEjectionTime: 10m, "
                  "interval: 5s, maxEjectionPercent: 100}")),
              HasSubstr("ejection: {failures: 7, success: 0, base: 10m, max: 10m}\n"));
  EXPECT_THAT(IstioUpstreams(DestinationRule("outlierDetection: {}")),
              HasSubstr("ejection: {failures: 5, success: 0, base: 30s}\n"));
  EXPECT_THAT(IstioUpstreams(DestinationRule("outlierDetection: {consecutive5xxErrors: 0}")),
              Not(HasSubstr("ejection")));
}

TEST(Istio, TlsAndTheConnectTimeoutHoldForConnections) {
  const std::string yaml = FromIstio(DestinationRule(
      "tls: {mode: MUTUAL, sni: cart.example, subjectAltNames: [spiffe://shop/cart, "
      "a.example], caCertificates: /ca.pem, clientCertificate: /c.pem, privateKey: "
      "/k.pem}, connectionPool: {tcp: {connectTimeout: 300ms}}"));
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("    connect_timeout: 300ms\n    tls: {ca: system, server_name: "
                        "cart.example, subject_alt_names: [\"uri:spiffe://shop/cart\", "
                        "\"dns:a.example\"]}\n"));
  for (const char* note :
       {"caCertificates \"/ca.pem\"", "clientCertificate \"/c.pem\"", "privateKey \"/k.pem\""}) {
    EXPECT_THAT(CommentsOf(yaml), HasSubstr(note));
  }
  EXPECT_THAT(IstioUpstreams(DestinationRule("tls: {mode: ISTIO_MUTUAL}")), Not(HasSubstr("tls")));
}

TEST(Istio, WhatHasNoEquivalentIsSaid) {
  const std::string comments = CommentsOf(FromIstio(
      IstioRoute("fault: {}, mirror: {host: m}, retries: {retryOn: 'envoy-ratelimited', "
                 "retryRemoteLocalities: true}") +
      "---\n" +
      DestinationRule(
          "connectionPool: {http: {maxRetries: 3, http2MaxRequests: 10}}, loadBalancer: {}") +
      "---\n{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: g}}\n"));
  for (const char* note :
       {"Not read in spec.http[0]: fault, mirror.", "\"envoy-ratelimited\" has no equivalent.",
        "retryRemoteLocalities has no equivalent", "connectionPool.http.maxRetries: 3 has no",
        "connectionPool.http has no equivalent for http2MaxRequests.",
        "Not read in spec.trafficPolicy: loadBalancer.",
        "Not read: Gateway default/g, line 11 (networking.istio.io)."}) {
    EXPECT_THAT(comments, HasSubstr(note));
  }
}

TEST(Istio, WrongValuesAreFaultsWithTheirPlace) {
  EXPECT_EQ(FaultsOfIstio(IstioRoute("timeout: soon")),
            "f:4:98: spec.http[0].timeout: \"soon\" is no duration; they have a unit, as in 2.5s "
            "or 1m30s");
  for (const std::string& text :
       {IstioRoute("retries: {attempts: -1}"), IstioRoute("retries: {backoff: 0s}"),
        IstioRoute("retries: 3"), IstioRoute("match: [{port: 99999}]"),
        VirtualService("{route: [{weight: 1}]}"),
        VirtualService("{route: [{destination: {host: 'a b'}}]}"),
        DestinationRule("retryBudget: {percent: 101}"), DestinationRule("tls: {mode: MAYBE}"),
        DestinationRule("tls: {mode: SIMPLE, sni: 'a b'}"),
        DestinationRule("outlierDetection: {consecutive5xxErrors: -1}"),
        DestinationRule("connectionPool: {tcp: {connectTimeout: 0s}}")}) {
    EXPECT_THAT(FaultsOfIstio(text), HasSubstr("f:4:")) << text;
  }
}

TEST(Istio, HostsOfEveryFormMakeAPolicy) {
  for (const char* host : {"'*'", "'*.example.com'", "api.example.com", "10.0.0.7", "cart",
                           "cart.shop.svc.cluster.local", "'*.local'"}) {
    FromIstio(
        absl::StrCat("apiVersion: networking.istio.io/v1\nkind: VirtualService\n"
                     "metadata: {name: v}\nspec: {hosts: [",
                     host,
                     "], http: [{route: [{destination: {host: a.example, port: {number: "
                     "80}}}]}]}\n---\n"
                     "apiVersion: networking.istio.io/v1\nkind: DestinationRule\n"
                     "metadata: {name: d}\nspec: {host: ",
                     host, ", trafficPolicy: {retryBudget: {}}}\n"));
  }
}

}  // namespace
}  // namespace levee
