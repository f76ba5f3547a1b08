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
            "  - name: no-retries\n    retry:\n      max_attempts: 1\n");
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

// The attempts of a call to cart.shop:80, and its upstream.
std::string CallOf(const std::string& http, const std::string& method) {
  return CallIn(FromIstio(VirtualService(http)), "cart.shop:80", method);
}

TEST(Istio, ARouteForSomeOfTheCallsThatItNamesTriesThemOnce) {
  for (const char* match : {"withoutHeaders: {x: {exact: y}}", "sourceLabels: {app: a}",
                            "uri: {regex: '/[a-c]/.*'}", "method: {regex: 'P.*'}"}) {
    const std::string http =
        absl::StrCat("{match: [{", match, "}], route: [{destination: {host: cart}}]}");
    EXPECT_EQ(CallOf(http, "/a.A/Get"), "cart, 1 attempt") << match;
    EXPECT_EQ(ImportIstio({{"f", VirtualService(http)}}).routes.Format(),
              "routes: 0 exact, 0 narrowed, 1 guarded, 0 refused")
        << match;
  }
}

TEST(Istio, ARouteThatIsRewrittenTriesItsCallsOnce) {
  EXPECT_EQ(CallOf("{match: [{uri: {prefix: /a.A/}}], rewrite: {uri: /b.B/}, route: [{destination: "
                   "{host: cart}}], retries: {attempts: 5}}",
                   "/a.A/Get"),
            "cart, 1 attempt");
}

TEST(Istio, ARouteThatOnlyGoesElsewhereIsNoReasonToLoseItsRetries) {
  const std::string same =
      "{match: [{sourceLabels: {x: y}}], route: [{destination: {host: cart, subset: v2}}]}, "
      "{route: [{destination: {host: cart, subset: v1}}]}";
  EXPECT_EQ(CallOf(same, "/a.A/Get"), "cart, 3 attempts");
  EXPECT_EQ(ImportIstio({{"f", VirtualService(same)}}).routes.Format(),
            "routes: 2 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(Istio, HeadersAreThoseOfTheRoute) {
  const std::string http =
      "{match: [{headers: {x: {exact: y}}}], route: [{destination: {host: gold, port: {number: "
      "80}}}], retries: "
      "{attempts: 0}}, {match: [{headers: {x: {}, z: {regex: 'a|b'}}}], route: [{destination: "
      "{host: silver, port: {number: 80}}}]}, {route: [{destination: {host: cart}}]}";
  const std::string yaml = FromIstio(VirtualService(http));
  const auto call = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    return CallIn(yaml, "cart.shop:80", "/a.A/Get", headers);
  };
  EXPECT_EQ(call({{"x", "y"}}), "gold, 1 attempt");
  EXPECT_EQ(call({{"x", "w"}, {"z", "b"}}), "silver, 3 attempts");
  EXPECT_EQ(call({{"x", "w"}}), "cart, 3 attempts");
  EXPECT_EQ(ImportIstio({{"f", VirtualService(http)}}).routes.Format(),
            "routes: 3 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(Istio, ARouteWithoutRetriesNeverLosesItsCallsToOneWithRetries) {
  EXPECT_EQ(CallOf("{match: [{sourceLabels: {x: y}, uri: {prefix: /a.A/}}], route: "
                   "[{destination: {host: cart}}], retries: {attempts: 0}}, {route: [{destination: "
                   "{host: cart}}], retries: {attempts: 3}}",
                   "/a.A/Get"),
            "cart, 1 attempt");
}

TEST(Istio, CallsThatCannotBeToldFromThoseOfAnotherServiceAreAFault) {
  EXPECT_EQ(FaultsOfIstio(VirtualService(
                "{match: [{sourceLabels: {x: y}}], route: [{destination: {host: canary, port: "
                "{number: 80}}}]},\n {route: [{destination: {host: cart, port: {number: 80}}}]}")),
            "f:4:30: spec.http[0]: the calls of this route cannot be told from others: "
            "sourceLabels has no equivalent, and the route in line 5 leads some of them elsewhere");
  EXPECT_THAT(FaultsOfIstio(VirtualService("{delegate: {name: d}}")),
              HasSubstr("where its calls go is not known: delegate has no equivalent"));
}

TEST(Istio, AnswersOfIstioItselfReachNoService) {
  for (const char* answer : {"redirect: {uri: /b}", "directResponse: {status: 403}", "route: []"}) {
    EXPECT_EQ(
        CallOf(absl::StrCat("{", answer, "}, {route: [{destination: {host: cart}}]}"), "/a.A/Get"),
        "nowhere, 1 attempt")
        << answer;
  }
}

TEST(Istio, ACallThatNoRouteOfItsHostTakesReachesNoService) {
  const std::string http =
      "{match: [{uri: {prefix: /a.A/}}], route: [{destination: {host: cart}}]}";
  EXPECT_EQ(CallOf(http, "/a.A/Get"), "cart, 3 attempts");
  EXPECT_EQ(CallOf(http, "/b.B/Get"), "nowhere, 1 attempt");
}

TEST(Istio, OfSeveralServicesTheOneWithTheMostCallsGetsAll) {
  const std::string http =
      "{route: [{destination: {host: a, port: {number: 1}}, weight: 10}, {destination: {host: b, "
      "port: {number: 1}}, weight: 90}], retries: {attempts: 1, retryOn: unavailable}}";
  EXPECT_EQ(CallOf(http, "/a.A/Get"), "b, 2 attempts");
  EXPECT_EQ(ImportIstio({{"f", VirtualService(http)}}).routes.Format(),
            "routes: 0 exact, 1 narrowed, 0 guarded, 0 refused");
}

TEST(Istio, WhatNoGrpcCallHasMatchesNone) {
  for (const char* match :
       {"method: {exact: GET}", "queryParams: {a: {exact: b}}",
        "headers: {content-type: {exact: application/json}}", "uri: {prefix: x}"}) {
    const std::string http = absl::StrCat(
        "{match: [{", match,
        "}], route: [{destination: {host: web}}]}, {route: [{destination: {host: cart}}]}");
    EXPECT_EQ(CallOf(http, "/a.A/Get"), "cart, 3 attempts") << match;
  }
  EXPECT_EQ(CallOf("{match: [{headers: {content-type: {prefix: application/grpc}}, method: {exact: "
                   "POST}}], route: [{destination: {host: cart}}]}",
                   "/a.A/Get"),
            "cart, 3 attempts");
}

TEST(Istio, AMatchForGatewaysTakesNoCallsOfASidecar) {
  const std::string hosts = "hosts: [cart], gateways: [mesh, public], http: [";
  std::string text = VirtualService(
      "{match: [{gateways: [public]}], route: [{destination: {host: web}}]}, {match: [{gateways: "
      "[mesh]}], route: [{destination: {host: cart}}]}");
  text.replace(text.find("hosts: [cart], http: ["), 22, hosts);
  EXPECT_EQ(CallIn(FromIstio(text), "cart.shop:80", "/a.A/Get"), "cart, 3 attempts");
}

TEST(Istio, AVirtualServiceWithoutHttpRoutesTriesItsCallsOnce) {
  std::string text = VirtualService("");
  text.replace(text.find("http: []"), 8, "tls: [{match: [{sniHosts: [cart]}]}]");
  EXPECT_EQ(CallIn(FromIstio(text), "cart.shop:80", "/a.A/Get"), "anywhere, 1 attempt");
  EXPECT_THAT(CommentsOf(FromIstio(text)), HasSubstr("Not read in spec: tls."));
}

// Hosts of which one is public and one in the cluster; the destination has no port.
TEST(Istio, TwoHostsKeepTheirRetries) {
  const std::string text =
      "apiVersion: networking.istio.io/v1\n"
      "kind: VirtualService\n"
      "metadata: {name: cart, namespace: shop}\n"
      "spec:\n"
      "  hosts: [cart.shop.svc.cluster.local, cart.example.com]\n"
      "  http:\n"
      "  - match: [{uri: {prefix: /shop.Cart/Pay}}]\n"
      "    route: [{destination: {host: cart.shop.svc.cluster.local}}]\n"
      "    retries: {attempts: 0}\n"
      "  - route: [{destination: {host: cart.shop.svc.cluster.local}}]\n"
      "    retries: {attempts: 3, retryOn: unavailable}\n";
  const std::string yaml = FromIstio(text);
  for (const char* authority :
       {"cart.shop:50051", "cart.shop.svc.cluster.local:50051", "cart.example.com:443"}) {
    EXPECT_EQ(CallIn(yaml, authority, "/shop.Cart/Pay"), "cart, 1 attempt") << authority;
    EXPECT_EQ(CallIn(yaml, authority, "/shop.Cart/Get"), "cart, 4 attempts") << authority;
  }
  EXPECT_EQ(ImportIstio({{"f", text}}).routes.Format(),
            "routes: 2 exact, 2 narrowed, 0 guarded, 0 refused");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("The destination \"cart.shop\" has no port"));
}

TEST(Istio, AServiceWithOnePortIsADestinationWithIt) {
  const std::string text = VirtualService("{route: [{destination: {host: other}}]}") +
                           "---\n{apiVersion: v1, kind: Service, metadata: {name: other, "
                           "namespace: shop}, spec: {ports: "
                           "[{port: 50051}]}}\n";
  EXPECT_THAT(IstioUpstreams(text), HasSubstr("endpoints: [\"dns:other.shop:50051\"]"));
  EXPECT_EQ(ImportIstio({{"f", text}}).routes.Format(),
            "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
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
  EXPECT_EQ(
      FaultsOfIstio(IstioRoute("timeout: soon")),
      "f:4:98: spec.http[0].timeout: \"soon\" is not a duration; they have a unit, as in 2.5s "
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
